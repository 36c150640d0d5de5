//! Operands for functions that parse a small language: sentences of its grammar, most of them
//! valid.

mod addresses;
mod networks;
mod patterns;
mod pointers;
mod quantities;
mod queries;
mod texts;
mod times;
mod tokens;
mod versions;
mod yaml;

use rego_generate::Choices;
use serde_json::Value;

/// Generates the operands of a call, in Rego syntax. Returns `None` for functions without a small
/// language, and for some calls of the others.
pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let grammars = [
        addresses::operands,
        networks::operands,
        patterns::operands,
        pointers::operands,
        quantities::operands,
        queries::operands,
        texts::operands,
        times::operands,
        tokens::operands,
        versions::operands,
        yaml::operands,
    ];
    if choices.rarely(5) {
        return None;
    }
    grammars.iter().find_map(|grammar| grammar(name, choices))
}

/// Returns a string literal in Rego syntax.
fn literal(text: impl Into<String>) -> String {
    Value::from(text.into()).to_string()
}

/// Concatenates at most `most` randomly chosen parts.
fn joined(parts: &[&str], most: usize, choices: &mut Choices<'_>) -> String {
    let count = choices.below(most + 1);
    (0..count).map(|_| choices.of(parts)).collect()
}

/// Generates a comma-separated list of at most `most` items.
fn list(
    most: usize,
    choices: &mut Choices<'_>,
    item: &dyn Fn(&mut Choices<'_>) -> String,
) -> String {
    let items: Vec<String> = (0..choices.below(most + 1))
        .map(|_| item(choices))
        .collect();
    items.join(", ")
}

/// Returns a set with comma-separated items, in Rego syntax.
fn set(items: &str) -> String {
    match items {
        "" => "set()".to_owned(),
        some => format!("{{{some}}}"),
    }
}

/// Generates at most `most` digits, possibly with leading zeros.
fn digits(most: usize, choices: &mut Choices<'_>) -> String {
    let count = 1 + choices.below(most);
    let digit = |choices: &mut Choices<'_>| choices.of(&["1", "0", "2", "9", "3", "5", "4", "7"]);
    (0..count).map(|_| digit(choices)).collect()
}

/// Returns the string; in rare cases with one character removed, doubled or replaced.
fn nearly(text: String, choices: &mut Choices<'_>) -> String {
    if !choices.rarely(6) || text.is_empty() {
        return text;
    }
    let characters: Vec<char> = text.chars().collect();
    let at = choices.below(characters.len().min(250));
    let (before, rest) = characters.split_at(at);
    let (here, rest) = rest.split_at(1);
    let strange = [
        "",
        " ",
        "0",
        "-",
        ".",
        "\u{e9}",
        "\u{0}",
        "\n",
        ":",
        "z",
        "+",
        "\u{1F600}",
    ];
    let instead = match choices.below(3) {
        0 => String::new(),
        1 => here.iter().chain(here).collect(),
        _ => choices.of(&strange).to_owned(),
    };
    let before: String = before.iter().collect();
    let rest: String = rest.iter().collect();
    format!("{before}{instead}{rest}")
}
