//! `rego.parse_module`

use super::expected::CallResult;
use super::operand::{answer, refuse, text};
use super::{Call, Cost, Group};
use crate::Value;
use crate::error::{Errors, LanguageError};
use crate::syntax::parse_module;

pub(super) const BUILTINS: Group = &[("rego.parse_module", Cost::Library, parse)];

fn parse(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let file = text(operands, 1)?;
    // Messages about the second operand name operand 1, too.
    let module = text(operands.get(1..).unwrap_or_default(), 1)?;
    match parse_module(file, module) {
        Ok(mut module) => {
            // Of the metadata, only the comments are output.
            module.annotations.clear();
            for rule in &mut module.rules {
                rule.annotations.clear();
            }
            answer(module.to_json())
        }
        Err(errors) => refuse(format_errors(&errors)),
    }
}

/// Formats the errors with their source lines.
fn format_errors(errors: &Errors) -> String {
    match errors.0.as_slice() {
        [only] if only.message == "empty module" => only.to_string(),
        [only] => format!("1 error occurred: {}", with_line(only)),
        all => {
            let all = all.iter().map(|error| format!("\n{}", with_line(error)));
            format!(
                "{} errors occurred:{}",
                errors.0.len(),
                all.collect::<String>()
            )
        }
    }
}

/// Formats an error with its source line and a marker below the position.
fn with_line(error: &LanguageError) -> String {
    let detail = |name| error.details.as_ref().and_then(|details| details.get(name));
    let Some(line) = detail("line").and_then(Value::as_str) else {
        return error.to_string();
    };
    let place = match detail("idx") {
        Some(Value::Number(place)) => place.as_i64().unwrap_or_default(),
        _ => 0,
    };
    let trimmed = line.trim_start_matches('\t');
    let place = usize::try_from(place).unwrap_or_default();
    let blanks = " ".repeat(place.saturating_sub(line.len() - trimmed.len()));
    format!("{error}\n\t{trimmed}\n\t{blanks}^")
}
