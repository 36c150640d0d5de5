//! Indents JSON text without parsing its values.

/// Indents compact JSON by two spaces, as serde_json does. Numbers and strings stay unchanged.
pub(super) fn indented(compact: &str) -> String {
    let mut text = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut opened = false;
    for character in compact.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            text.push(character);
            continue;
        }
        let closes = matches!(character, '}' | ']');
        if closes {
            depth = depth.saturating_sub(1);
        }
        if opened != closes {
            new_line(&mut text, depth);
        }
        opened = matches!(character, '{' | '[');
        depth += usize::from(opened);
        in_string = character == '"';
        text.push(character);
        match character {
            ',' => new_line(&mut text, depth),
            ':' => text.push(' '),
            _ => {}
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    #[rstest]
    #[case::objects(r#"{"a":[1,2,{"b":[],"c":{}}],"d":"x"}"#)]
    #[case::lists_and_marks(r#"[[[]],{"a":{"b":null}},"a,b:{}[]\"\\"]"#)]
    #[case::text(r#""text""#)]
    #[case::empty_object("{}")]
    #[case::empty_list("[]")]
    #[case::number("0")]
    #[case::empty_member(r#"{"result":[],"next_cursor":null}"#)]
    fn indents_as_serde_json_does(#[case] compact: &str) -> Result<(), serde_json::Error> {
        let value: Value = serde_json::from_str(compact)?;
        let text = indented(&value.to_string());
        assert_eq!(text, serde_json::to_string_pretty(&value)?);
        Ok(())
    }

    #[test]
    fn the_text_of_numbers_stays() {
        assert_eq!(indented("[1e2,1.0]"), "[\n  1e2,\n  1.0\n]");
    }
}
