//! "Did you mean" suggestions.

/// Maximum length of names that are compared.
const MAX_LENGTH: usize = 64;

/// Formats a question that suggests similar names, the most similar first.
pub(super) fn suggestion<'n>(
    input: &str,
    names: impl IntoIterator<Item = &'n str>,
    prefix: &str,
) -> String {
    let threshold = (input.len() * 2 / 5 + 1).max(1);
    let mut similar: Vec<(usize, &str)> = names
        .into_iter()
        .filter(|name| name.len() <= MAX_LENGTH && input.len() <= MAX_LENGTH)
        .map(|name| (distance(input, name), name))
        .filter(|(distance, _)| *distance <= threshold)
        .collect();
    similar.sort_by_key(|(distance, _)| *distance);
    let similar: Vec<&str> = similar.into_iter().map(|(_, name)| name).collect();
    match similar.is_empty() {
        true => String::new(),
        false => format!(" {prefix} {}?", list(&similar)),
    }
}

/// Formats quoted names, at most five.
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .take(5)
        .map(|name| format!("\"{name}\""))
        .collect();
    match quoted.as_slice() {
        [first, second] => format!("{first} or {second}"),
        [start @ .., last] if !start.is_empty() => format!("{}, or {last}", start.join(", ")),
        _ => quoted.join(""),
    }
}

/// Edit distance of two names.
fn distance(one: &str, other: &str) -> usize {
    if one == other {
        return 0;
    }
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    if one == other {
        return 1;
    }
    let other: Vec<char> = other.chars().collect();
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.chars().enumerate() {
        let mut next = vec![row + 1];
        for (costs, target) in costs.windows(2).zip(&other) {
            let (diagonal, above) = match costs {
                [diagonal, above] => (*diagonal, *above),
                _ => (0, 0),
            };
            let left = next.last().copied().unwrap_or_default();
            let change = diagonal + usize::from(letter != *target);
            next.push(change.min(above + 1).min(left + 1));
        }
        costs = next;
    }
    costs.last().copied().unwrap_or_default()
}
