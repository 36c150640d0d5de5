//! Tests of expressions and their matches.

use super::parse;

fn error_message(expression: &str) -> String {
    match parse(expression) {
        Ok(parsed) => format!("none: {}", parsed.meaning),
        Err(error) => error.to_string(),
    }
}

/// Compares the messages with those of OPA 1.22.0.
#[test]
fn mistakes_are_named() {
    for (expression, expected) in [
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a*?+", "invalid nested repetition operator: `*?+`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("(?i)*", "missing argument to repetition operator: `*`"),
        ("(?", "invalid or unsupported Perl syntax: `(?`"),
        ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
        ("(?x)a", "invalid or unsupported Perl syntax: `(?x`"),
        ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
        ("(?<é>a)", "invalid named capture: `(?<é>`"),
        ("\\pX", "invalid character class range: `\\pX`"),
        ("\\p{Grek}", "invalid character class range: `\\p{Grek}`"),
        ("\\p{L", "invalid character class range: `\\p{L`"),
        (
            "\\p{Alphabetic}",
            "invalid character class range: `\\p{Alphabetic}`",
        ),
        ("\\1", "invalid escape sequence: `\\1`"),
        ("\\x4", "invalid escape sequence: `\\x4`"),
        ("\\x{110000}", "invalid escape sequence: `\\x{110000`"),
        ("\\u0061", "invalid escape sequence: `\\u`"),
        ("[a-\\d]", "invalid escape sequence: `\\d`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[a--]", "invalid character class range: `a--`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        ("[]", "missing closing ]: `[]`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("((a{100}){10}){2}", "invalid repeat count: `{2}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{5,2}", "invalid repeat count: `{5,2}`"),
        ("a{2}{3,1}?", "invalid repeat count: `{3,1}`"),
        ("(a{2}){501}?b", "invalid repeat count: `{501}?`"),
        ("((a{501}|b){2}", "invalid repeat count: `{2}`"),
        (
            "(a{1000}){0}{2}",
            "invalid nested repetition operator: `{0}{2}`",
        ),
        ("((a{1000}){0}){2})", "unexpected ): `((a{1000}){0}){2})`"),
    ] {
        let expected = format!("error parsing regexp: {expected}");
        assert_eq!(error_message(expression), expected, "{expression}");
    }
    let deep = "(".repeat(1001) + &")".repeat(1001);
    assert!(error_message(&deep).contains("nests too deeply"));
}

#[test]
fn several_groups_may_have_the_same_name() {
    let names = parse("(?P<n>a)(b)(?<n>c)(?:d)").map(|parsed| parsed.names);
    let expected = [None, Some("n"), None, Some("n")];
    assert_eq!(
        names,
        Ok(expected.map(|name| name.map(str::to_owned)).into())
    );
}
