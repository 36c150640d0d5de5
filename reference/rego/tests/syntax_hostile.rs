//! Hostile sources for the parser: none of them may take long or overflow the stack.

use rego::syntax::{Version, format::Conjunction, parse_module, parse_module_as, parse_query};
use rstest::rstest;

use crate::support::{ending, processor_time};

const TOO_DEEP: &str = "max parsing recursion depth exceeded";

/// Maximum cost ratio for a source ten times as long. Repeated parsing would cost a hundred times
/// as much.
const MAX_RATIO: u32 = 30;

/// Parses a source as a query. Also parses it in modules of both versions.
fn answers(text: &str) -> Result<String, String> {
    let answer = match parse_query(text) {
        Ok(body) => Ok(Conjunction(&body).to_string()),
        Err(errors) => Err(errors.to_string()),
    };
    let module = format!("package a\np := x if {{\n{text}\n}}");
    let _ = parse_module("m", &module).map(|module| module.to_json());
    let old = format!("package a\np = x {{\n{text}\n}}");
    let _ = parse_module_as("m", &old, Version::V0).map(|module| module.to_json());
    answer
}

#[test]
fn nesting_has_a_limit() {
    for (open, close) in [
        ("[", "]"),
        ("{", "}"),
        ("(", ")"),
        ("{\"a\": ", "}"),
        ("f(", ")"),
        ("a[", "]"),
        ("[x | ", "]"),
        ("{x | ", "}"),
        ("{x: y | ", "}"),
        ("[x | y, ", "]"),
        ("{x: y | z, ", "}"),
        ("{x: {", "}}"),
        ("every x in y { ", " }"),
        ("some x in [y | ", "]"),
        ("not f(", ")"),
        // Constructs that v0 parses only to find a keyword hint.
        ("some x\nin[{y | ", "}]"),
        ("every\nx = [y | ", "]"),
        ("z = [y | every x in [1] { ", " }]"),
        ("x, [y | ", "] in z"),
        ("$\"{", "}\""),
        ("-x[", "]"),
        ("x, ", ""),
        ("x in ", ""),
        ("x + ", ""),
        ("[x | x, [", "]]"),
    ] {
        // On a thread with the default stack size.
        ending::ending(open, move || are_refused(open, close));
    }
}

/// Asserts that deep nesting is refused at a cost that is not quadratic in the depth, and that
/// parsing terminates for less nesting.
fn are_refused(open: &str, close: &str) {
    let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let unclosed = |depth: usize| open.repeat(depth);
    // Unclosed sources are less deep, as they are parsed in more than one way.
    let kinds: [(&dyn Fn(usize) -> String, usize); 2] = [(&nested, 200), (&unclosed, 120)];
    for (text, some) in kinds {
        let (few, many) = (text(1_000), text(10_000));
        assert!(answers(&many).is_err(), "{open}");
        let costs =
            processor_time::compare(MAX_RATIO, || drop(answers(&few)), || drop(answers(&many)));
        assert_eq!(costs, Ok(()), "{open}");
        // Deep enough for any policy.
        let _ = answers(&text(some));
    }
}

#[rstest]
#[case::lists("[".repeat(1000))]
#[case::sums(format!("x = 1{}", " + 1".repeat(1000)))]
#[case::calls_of_calls(format!("f(x){}", ".a(x)".repeat(1000)))]
#[case::brackets(format!("({}1{}", "(".repeat(1000), ")".repeat(1000)))]
fn deep_terms_say_that_they_are(#[case] text: String) {
    let answer = answers(&text);
    assert!(answer.is_err_and(|error| error.contains(TOO_DEEP)));
}

#[test]
fn long_lists_are_not_deep() {
    let flat = format!("x = [1{}]", ", 1".repeat(100_000));
    assert!(answers(&flat).is_ok());
}

#[test]
fn many_branches_are_deep() {
    let branches = format!("package a\np if x{}", " else := 1 if y".repeat(1000));
    let answer = parse_module("m", &branches).map(|_| ());
    assert!(answer.is_err_and(|errors| errors.to_string().contains(TOO_DEEP)));
}

#[test]
fn odd_texts_have_answers() {
    for text in [
        "",
        " ",
        "\n",
        "\u{feff}",
        "\0",
        "\u{feff}\u{feff}",
        "#",
        "# METADATA",
        "\"",
        "`",
        "$",
        "$\"",
        "$`{",
        "\\",
        "\"\\u\"",
        "\"\\ud800\"",
        "é",
        "x\u{a0}y",
        "1e",
        "1e999999999999",
        "0.",
        ".1",
        "-",
        "package",
        "import",
        "default",
        "else",
        "package a.b[",
        "\r\n\r",
        "{|",
        "[,",
        "{,",
        "{:",
    ] {
        let _ = answers(text);
        let _ = parse_module("m", text);
        let _ = parse_module("m", &format!("package a\n{text}"));
        let _ = parse_module_as("m", &format!("package a\n{text}"), Version::V0);
    }
}

#[test]
fn any_piece_of_a_module_has_an_answer() {
    let text = "# METADATA\n# title: x\npackage a\nimport data.b as c\ndefault p(_) := {\"a\": [1, -2.5e3]}\n\
        p(x) := $\"{x}é{1}\" if { some k, v in x; not k == v with input.y as [z | z := x[_]] } else := 2\n\
        q contains x if every y in {1 | 2} { y | {x: 3 | x} }\n";
    for start in text.char_indices().map(|(at, _)| at) {
        for piece in [&text[start..], &text[..start]] {
            let _ = parse_module("m", piece).map(|module| module.to_json());
            let _ = parse_module_as("m", piece, Version::V0).map(|module| module.to_json());
            let _ = parse_query(piece);
        }
    }
}
