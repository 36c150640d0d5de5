//! Declarations of built-in functions: operands, results, operators and traits.

use std::sync::LazyLock;

use super::parse::parse;
use super::{Function, Type};
use crate::hash::HashMap;

/// Table of functions, one per line: `name (operands) -> result # traits`.
const TABLE: &str = include_str!("signatures.txt");

/// Declaration of a built-in function.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Dotted name.
    pub(crate) name: &'static str,
    /// Infix operator that is equivalent to the function, if there is one.
    pub(crate) infix: Option<&'static str>,
    /// Whether modules may no longer call it.
    pub(crate) deprecated: bool,
    /// Whether equal operands can have different results.
    pub(crate) nondeterministic: bool,
    /// Whether the function is a relation, with any number of results.
    pub(crate) relation: bool,
    /// Type of the function.
    pub(crate) of: Type,
    /// Number of operands, not counting variadic ones.
    pub(crate) arity: usize,
    /// Whether the function has no result and is called for its effect.
    pub(crate) void: bool,
}

static SIGNATURES: LazyLock<HashMap<&'static str, Signature>> = LazyLock::new(|| {
    let signatures = TABLE.lines().filter_map(read);
    signatures
        .map(|signature| (signature.name, signature))
        .collect()
});

/// Returns the names of all functions and their declarations in the notation of the table.
pub(crate) fn declarations() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.lines().filter_map(|line| {
        let (declared, _) = line.split_once(" # ").unwrap_or((line, ""));
        declared.split_once(' ')
    })
}

/// Returns the declaration of the function of this name.
pub(crate) fn signature(name: &str) -> Option<&'static Signature> {
    SIGNATURES.get(name)
}

fn read(line: &'static str) -> Option<Signature> {
    let (declared, traits) = line.split_once(" # ").unwrap_or((line, ""));
    let (name, of) = declared.split_once(' ')?;
    let function: Function = parse(of)?;
    let has = |name| traits.split(", ").any(|trait_| trait_ == name);
    Some(Signature {
        name,
        infix: traits
            .split(", ")
            .find_map(|text| text.strip_prefix("infix ")),
        deprecated: has("deprecated"),
        nondeterministic: has("nondeterministic"),
        relation: has("relation"),
        arity: function.args.len(),
        void: function.result.is_none(),
        of: Type::Function(function.into()),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_line_declares_a_function() {
        assert_eq!(SIGNATURES.len(), TABLE.lines().count());
    }

    #[rstest]
    #[case::infix("plus", "(number, number) => number")]
    #[case::any_number_of_arguments("print", "(any...) => ???")]
    #[case::relation("walk", "(any) => array<array[any], any>")]
    #[case::choice("concat", "(string, any<array[string], set[string]>) => string")]
    fn declarations_are_read(#[case] name: &str, #[case] expected: &str) {
        let of = signature(name).map(|signature| signature.of.to_string());
        assert_eq!(of.as_deref(), Some(expected));
    }
}
