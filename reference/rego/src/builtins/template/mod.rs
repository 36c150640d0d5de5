//! `strings.render_template`: Go templates.

mod command;
mod compare;
mod document;
mod error;
mod escape;
mod evaluate;
mod functions;
mod item;
mod node;
mod number;
mod parse;
mod parts;
mod render;
mod token;
mod unquote;

use super::expected::CallResult;
use super::operand::{answer, any, object, refuse, text};
use super::{BuiltinLimit, Call, Cost, Group, Maximum};
use crate::Value;

pub(super) const BUILTINS: Group = &[("strings.render_template", Cost::Stepping, render)];

pub(super) const LIMITS: &[BuiltinLimit] = &[
    BuiltinLimit {
        functions: &["strings.render_template"],
        subject: "nesting of actions and parentheses",
        most: Maximum::Levels(parse::MAX_DEPTH),
    },
    BuiltinLimit {
        functions: &["strings.render_template"],
        subject: "nesting of invoked templates",
        most: Maximum::Levels(render::MAX_DEPTH),
    },
];

/// Name of the root template.
const NAME: &str = "template";

/// Syntax error of a template with its line.
#[derive(Debug)]
struct TemplateError {
    line: usize,
    message: String,
}

fn render(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let template = text(operands, 1)?;
    object(operands, 2)?;
    let data = any(operands, 2);
    document::check(call, data)?;
    match parse::parsed(call, NAME, template) {
        Ok(templates) => {
            let rendered = render::rendered(call, template, &templates, data)?;
            answer(Value::string(&rendered))
        }
        Err(parse::AbortReason::Failure(failure)) => Err(failure),
        Err(parse::AbortReason::Mistake(TemplateError { line, message })) => {
            refuse(format!("template: {NAME}:{line}: {message}"))
        }
    }
}
