//! GraphQL errors.

use super::ast::Position;

/// An error and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphqlError {
    position: Position,
    message: String,
}

pub(super) type Result<T> = std::result::Result<T, GraphqlError>;

impl GraphqlError {
    pub(super) fn at(position: Position, message: impl Into<String>) -> Self {
        Self {
            position,
            message: message.into(),
        }
    }

    /// Formats the error as an entry of a list.
    fn listed(&self) -> String {
        let Position { line, column } = self.position;
        match line {
            0 => format!("input: {}", self.message),
            _ => format!("input:{line}:{column}: {}", self.message),
        }
    }
}

/// Formats a syntax error.
pub(super) fn parse_message(error: &GraphqlError) -> String {
    let Position { line, column } = error.position;
    let message = &error.message;
    format!("{message} in GraphQL string at location {line}:{column}")
}

/// Formats the error of an invalid schema.
pub(super) fn schema_message(error: &GraphqlError) -> String {
    let listed = error.listed();
    format!("Error in gqlparser SchemaDocument to Schema conversion: {listed}")
}

/// Formats the errors of a query, with the position of the first one.
pub(super) fn query_message(errors: &[GraphqlError]) -> String {
    let Some((first, others)) = errors.split_first() else {
        return String::new();
    };
    let mut text = first.message.clone();
    for other in others {
        text.push('\n');
        text.push_str(&other.listed());
    }
    let Position { line, column } = first.position;
    if line == 0 {
        return format!("GraphQL parse error: input: {text}\n");
    }
    let text = text
        .strip_suffix('.')
        .map_or_else(|| format!("{text}\n"), str::to_owned);
    format!("{text} in GraphQL string at location {line}:{column}")
}
