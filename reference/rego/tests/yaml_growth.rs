//! Parsing YAML takes time proportional to its length, whatever its content.

use rego::value::from_yaml;

use crate::support::processor_time;

/// Maximum time ratio for a source ten times as long, which takes about ten times as long.
/// Quadratic growth would take a hundred times as long.
const MAX_RATIO: u32 = 30;

#[test]
fn time_grows_with_the_length() {
    let opened = |n: usize| format!("input: {}", "[".repeat(n));
    let objects = |n: usize| format!("input: {}", "{a: ".repeat(n));
    let hidden = |n: usize| format!("input: {}", "[ \"]\", ".repeat(n));
    let commented = |n: usize| format!("input: {}", "[ #]\n ".repeat(n));
    let long = |n: usize| format!("input: {}{}", "[".repeat(200), "1,".repeat(n));
    let pairs = |n: usize| format!("[{}a: b]", "a: b, ".repeat(n));
    let rows = |n: usize| "- {a: [1, 'x'], b: \"y\"}\n".repeat(n);
    let blocks = |n: usize| "- ".repeat(n);
    let texts: [(&str, &dyn Fn(usize) -> String); 8] = [
        ("opened", &opened),
        ("objects", &objects),
        ("hidden", &hidden),
        ("commented", &commented),
        ("long", &long),
        ("pairs", &pairs),
        ("rows", &rows),
        ("blocks", &blocks),
    ];
    for (name, text) in texts {
        let (few, many) = (text(2_000), text(20_000));
        let read = |text: &str| drop(from_yaml(text.as_bytes()));
        let costs = processor_time::compare(MAX_RATIO, || read(&few), || read(&many));
        assert_eq!(costs, Ok(()), "{name}");
    }
}

/// Sources with many brackets that are not nested are parsed like those with few.
#[test]
fn many_brackets_may_follow_each_other() {
    let rows = "- {a: [1, 'x'], b: \"y\"}\n".repeat(20_000);
    assert!(from_yaml(rows.as_bytes()).is_ok());
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(from_yaml(nested(100).as_bytes()).is_ok());
    for text in [
        "[ \"]\", ".repeat(1000),
        "[".repeat(1000),
        "{a: ".repeat(1000),
    ] {
        assert!(from_yaml(text.as_bytes()).is_err());
    }
}
