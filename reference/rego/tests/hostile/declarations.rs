//! Names of functions and the types of their operands, as they are declared.

/// The declarations, a line each.
const SIGNATURES: &str = include_str!("../../src/types/signatures.txt");

/// Every function with the types of its operands.
pub(crate) fn declarations() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    SIGNATURES.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" (")?;
        let (operands, _) = rest.split_once(')')?;
        Some((name, split(operands).map(type_of).collect()))
    })
}

/// The parts of a list between the commas that are in no brackets.
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

/// The type of an operand, which may stand behind its name.
fn type_of(operand: &'static str) -> &'static str {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match operand.split_once(": ") {
        Some((name, of)) if is_name(name) => of,
        _ => operand,
    }
}
