//! GraphQL errors.

use super::ast::Position;

/// One mistake, and where.
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

    /// The mistake as it stands in a list of several.
    fn listed(&self) -> String {
        let Position { line, column } = self.position;
        match line {
            0 => format!("input: {}", self.message),
            _ => format!("input:{line}:{column}: {}", self.message),
        }
    }
}

/// The message of one mistake in a text.
pub(super) fn parse_message(mistake: &GraphqlError) -> String {
    let Position { line, column } = mistake.position;
    let message = &mistake.message;
    format!("{message} in GraphQL string at location {line}:{column}")
}

/// The message of a schema that does not hold.
pub(super) fn schema_message(mistake: &GraphqlError) -> String {
    let listed = mistake.listed();
    format!("Error in gqlparser SchemaDocument to Schema conversion: {listed}")
}

/// The message of a query with these mistakes. It tells the place of the first one.
pub(super) fn query_message(mistakes: &[GraphqlError]) -> String {
    let Some((first, others)) = mistakes.split_first() else {
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
