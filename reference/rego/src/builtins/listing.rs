//! The built-in functions, their costs and their limits, for documentation.

use super::{
    BuiltinLimit, Cost, bits, function, glob_intersection, globs, graphs, net, numbers, re2,
    regexes, schema, strings, template, yaml,
};
use crate::types::declarations;

/// A built-in function.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Dotted name.
    pub name: &'static str,
    /// Types of the operands and the result, as in OPA's documentation.
    pub declaration: &'static str,
    /// Cost of a call.
    pub cost: &'static str,
}

/// The limits of each group of functions.
const LIMITS: &[&[BuiltinLimit]] = &[
    bits::LIMITS,
    #[cfg(feature = "crypto")]
    super::crypto::LIMITS,
    glob_intersection::LIMITS,
    globs::LIMITS,
    #[cfg(feature = "graphql")]
    super::graphql::LIMITS,
    graphs::LIMITS,
    #[cfg(feature = "http")]
    super::http::LIMITS,
    #[cfg(feature = "crypto")]
    super::keys::LIMITS,
    net::LIMITS,
    numbers::LIMITS,
    re2::LIMITS,
    regexes::LIMITS,
    schema::LIMITS,
    strings::LIMITS,
    template::LIMITS,
    yaml::LIMITS,
];

/// Returns every built-in function that is evaluated by a call, sorted by name.
pub fn builtins() -> Vec<Builtin> {
    let listed = |(name, declaration)| {
        let (cost, _) = function(name)?;
        Some(Builtin {
            name,
            declaration,
            cost: cost.words(),
        })
    };
    let mut all: Vec<Builtin> = declarations().filter_map(listed).collect();
    all.sort_by_key(|builtin| builtin.name);
    all
}

impl Cost {
    /// Describes the cost class in words.
    fn words(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::LinearBut(_) => "linear, but for collections that are only looked up in",
            Self::Product => "product of the sizes",
            Self::Match => "match",
            Self::Stepping => "stepping",
            Self::Library => "bounded before the call",
            Self::BuiltinContext => "bounded before the call, outside",
        }
    }
}

/// Returns every limit beyond which a call fails, regardless of the limits of the evaluation.
pub fn builtin_limits() -> Vec<BuiltinLimit> {
    LIMITS.iter().copied().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_that_of_functions() {
        let all = builtins();
        for limit in builtin_limits() {
            for name in limit.functions {
                let is_named = |builtin: &Builtin| match name.ends_with('.') {
                    true => builtin.name.starts_with(name),
                    false => builtin.name == *name,
                };
                assert!(all.iter().any(is_named), "{name}");
            }
        }
    }
}
