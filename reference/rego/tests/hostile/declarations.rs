//! Declared names and operand types of functions.

/// Declarations, one per line.
const SIGNATURES: &str = include_str!("../../src/types/signatures.txt");

/// Returns every function with the types of its operands.
pub(crate) fn declarations() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    SIGNATURES.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" (")?;
        let (operands, _) = rest.split_once(')')?;
        Some((name, split(operands).map(type_of).collect()))
    })
}

/// Splits a list at the commas that are not in brackets.
fn split(list: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    let parts = list.split(move |character| {
        match character {
            '<' | '[' => depth += 1,
            '>' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// Returns the type of an operand, which may follow its name.
fn type_of(operand: &'static str) -> &'static str {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match operand.split_once(": ") {
        Some((name, of)) if is_name(name) => of,
        _ => operand,
    }
}
