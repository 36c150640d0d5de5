//! `strings.render_template`: text with actions, as in Go, without named templates.

mod functions;
mod parse;
mod render;

use super::expected::CallResult;
use super::operand::{answer, any, object, refuse, text};
use super::{BuiltinLimit, Call, Cost, Group, Most};
use crate::Value;

pub(super) const BUILTINS: Group = &[("strings.render_template", Cost::Stepping, render)];

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["strings.render_template"],
    subject: "nesting of actions and parentheses",
    most: Most::Levels(parse::MAX_DEPTH),
}];

fn render(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let template = text(operands, 1)?;
    object(operands, 2)?;
    match parse::parsed(template) {
        Ok(nodes) => answer(render::rendered(call, &nodes, any(operands, 2))?),
        Err((line, message)) => refuse(format!("template: template:{line}: {message}")),
    }
}
