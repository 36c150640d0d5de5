//! METADATA blocks: YAML in comments, for the package or rule below them.

mod attach;
mod members;
mod yaml;

use super::parser::line_of;
use super::{Annotations, Comment, Location};
use crate::error::{Code, LanguageError};

pub(super) use attach::attach;

/// Error in a block; without a location, the error is at the start of the block.
struct Refusal {
    message: String,
    location: Option<Location>,
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(message: T) -> Self {
        Self {
            message: message.into(),
            location: None,
        }
    }
}

/// Parses the blocks among the comments of a source.
pub(super) fn read(
    comments: &[Comment],
    errors: &mut Vec<LanguageError>,
    text: &str,
) -> Vec<Annotations> {
    let mut blocks = Vec::new();
    for (position, first) in comments.iter().enumerate() {
        if !begins(first) {
            continue;
        }
        let rest = comments.get(position + 1..).unwrap_or_default();
        let lines = rest.iter().zip(first.location.row + 1..);
        let length = lines
            .take_while(|(line, row)| {
                line.location.col == 1 && line.location.row == *row && !begins(line)
            })
            .count();
        let lines = rest.get(..length).unwrap_or_default();
        match block(first, lines) {
            Ok(block) => blocks.push(block),
            Err(Refusal { message, location }) => {
                let location = location.unwrap_or_else(|| first.location.clone());
                errors.push(LanguageError {
                    details: Some(line_of(text, location.offset as usize)),
                    ..LanguageError::at(Code::Parse, &location, message)
                });
            }
        }
    }
    blocks
}

fn begins(comment: &Comment) -> bool {
    comment.location.col == 1 && comment.text.trim().starts_with("METADATA")
}

/// Parses one block: `first` is its first comment, `lines` are the following comments.
fn block(first: &Comment, lines: &[Comment]) -> Result<Annotations, Refusal> {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.text.strip_prefix(' ').unwrap_or(&line.text));
        text.push('\n');
    }
    if text.trim().is_empty() {
        return Err("expected METADATA block, found whitespace".into());
    }
    let document = yaml::read(&text, lines)?;
    let members = members::read(&document)?;
    let last = lines.last().unwrap_or(first);
    let end = last.location.offset + last.location.length;
    Ok(Annotations {
        scope: members.scope.into(),
        value: members.value.into(),
        compile: members.compile,
        location: Location {
            length: end.saturating_sub(first.location.offset),
            ..first.location.clone()
        },
        end_row: last.location.row,
    })
}
