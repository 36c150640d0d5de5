//! SQL string literals.

/// Quotes a string, with the quotes inside doubled.
pub(super) fn doubled(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Quotes a string in which a backslash begins an escape. Quotes are doubled. If there is an
/// escape, the whole literal is ASCII: a byte that is read as the first half of a character would
/// make the backslash its second.
pub(super) fn escaped(text: &str, escapes: &[(char, &str)]) -> String {
    let escape = |c: char| escapes.iter().find(|(escaped, _)| *escaped == c);
    let has_escape = text.contains(|c: char| c == '\\' || escape(c).is_some());
    let mut written = String::from("'");
    for c in text.chars() {
        match (c, escape(c)) {
            ('\'', _) => written.push_str("''"),
            ('\\', _) => written.push_str("\\\\"),
            (_, Some((_, escape))) => written.push_str(escape),
            (c, _) if has_escape && !c.is_ascii() => {
                written.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            (c, _) => written.push(c),
        }
    }
    written.push('\'');
    written
}

/// Quotes a string, with NULs as expressions, for databases that do not allow them between quotes.
pub(super) fn concatenated(text: &str, nul: &str, join: &str, part: fn(&str) -> String) -> String {
    if !text.contains('\0') {
        return part(text);
    }
    let parts: Vec<String> = text.split('\0').map(part).collect();
    format!("({})", parts.join(&format!(" {join} {nul} {join} ")))
}

/// Whether a string could be a number or boolean, so that a database might confuse the two.
pub(super) fn is_ambiguous(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    let words = ["true", "false", "yes", "no", "on", "off"];
    let is_word = !lower.is_empty() && words.iter().any(|word| word.starts_with(&*lower));
    let unsigned = lower.trim_start_matches(['+', '-']);
    let radix = ["0x", "0o", "0b"];
    is_word
        || radix.iter().any(|prefix| unsigned.starts_with(prefix))
        || lower.replace('_', "").parse::<f64>().is_ok()
}
