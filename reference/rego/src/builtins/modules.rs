//! `rego.parse_module`

use super::expected::CallResult;
use super::operand::{answer, refuse, text};
use super::{Call, Cost, Group};
use crate::Value;
use crate::syntax::parse_module;

pub(super) const BUILTINS: Group = &[("rego.parse_module", Cost::Library, parse)];

fn parse(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let file = text(operands, 1)?;
    // Clients see the first operand named for the second, too.
    let module = text(operands.get(1..).unwrap_or_default(), 1)?;
    match parse_module(file, module) {
        Ok(mut module) => {
            // Of METADATA only the comments are shown.
            module.annotations.clear();
            for rule in &mut module.rules {
                rule.annotations.clear();
            }
            answer(module.to_json())
        }
        Err(errors) => refuse(errors.to_string()),
    }
}
