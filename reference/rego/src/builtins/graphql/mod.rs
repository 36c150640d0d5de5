//! `graphql.*`: parses and validates GraphQL queries and schemas.
//!
//! A document may be [`MAX_LENGTH`] bytes long and its parts nested 128 levels deep.
//!
//! Parser and validation are written for this crate, because values and messages of OPA are part of
//! its API: `apollo-compiler`, which is the closest library, accepts `{a(b)}`, keeps neither comments
//! nor the kinds of strings in its tree, words every message in its own way, and needs about 1 GB for
//! 1 MB of opening braces.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::operand::{answer, any, mistyped, text};
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;
use crate::value::{Object, from_json};

mod ast;
mod definitions;
mod error;
mod lexer;
mod load;
mod overlap;
mod parser;
mod query;
mod schema;
mod suggest;
mod types;
mod validate;
mod values;
mod walk;

use types::Types;

pub(super) const BUILTINS: Group = &[
    ("graphql.is_valid", Cost::Library, is_valid),
    ("graphql.parse", Cost::Library, parse),
    ("graphql.parse_and_verify", Cost::Library, parse_and_verify),
    ("graphql.parse_query", Cost::Library, parse_query),
    ("graphql.parse_schema", Cost::Library, parse_schema),
    ("graphql.schema_is_valid", Cost::Library, schema_is_valid),
];

pub(super) const LIMITS: &[BuiltinLimit] = &[
    BuiltinLimit {
        functions: &["graphql."],
        subject: "length of a document",
        most: Maximum::Bytes(MAX_LENGTH),
    },
    BuiltinLimit {
        functions: &["graphql."],
        subject: "nesting of selections, values and types",
        most: Maximum::Levels(parser::MAX_DEPTH),
    },
    BuiltinLimit {
        functions: &["graphql."],
        subject: "fields of a query that are compared with each other",
        most: Maximum::Count(overlap::MAX_STEPS),
    },
];

/// Maximum length of a document in bytes.
const MAX_LENGTH: usize = 4 << 20;

fn check_length(text: &str) -> Result<(), Failure> {
    if text.len() <= MAX_LENGTH {
        return Ok(());
    }
    let message = format!("GraphQL documents may be at most {MAX_LENGTH} bytes long");
    Err(Failure::Value(message))
}

fn read_query(text: &str) -> Result<ast::Query, Failure> {
    check_length(text)?;
    query::parse(text).map_err(|error| Failure::Value(error::parse_message(&error)))
}

fn read_schema(text: &str) -> Result<ast::Schema, Failure> {
    check_length(text)?;
    schema::parse(text).map_err(|error| Failure::Value(error::parse_message(&error)))
}

/// Returns a document parsed from a string or converted from a tree.
fn document<T: DeserializeOwned>(
    operands: &[Value],
    position: usize,
    read: fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match any(operands, position) {
        Value::String(text) => read(text),
        tree @ Value::Object(_) => {
            let text = without_nulls(tree).to_string();
            check_length(&text)?;
            serde_json::from_str(&text).map_err(|error| Failure::Value(error.to_string()))
        }
        // Messages number these operands from zero.
        other => Err(mistyped(position - 1, "one of {string, object}", other)),
    }
}

/// Removes null members from a tree, which are equivalent to absent ones.
fn without_nulls(tree: &Value) -> Value {
    match tree {
        Value::Array(items) => Value::from(items.iter().map(without_nulls).collect::<Vec<_>>()),
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| **member != Value::Null);
            Value::object(members.map(|(name, member)| (name.clone(), without_nulls(member))))
        }
        other => other.clone(),
    }
}

/// Converts a document to its object form.
fn tree(document: &impl Serialize) -> Result<Value, Failure> {
    let text = serde_json::to_vec(document).map_err(|error| Failure::Value(error.to_string()))?;
    from_json(&text).map_err(|error| Failure::Value(error.to_string()))
}

/// Returns the types of a schema, cached because many queries are validated against it.
fn types(call: &mut Call<'_>, operands: &[Value], position: usize) -> Result<Arc<Types>, Failure> {
    let make = |_: &Call<'_>| {
        let types = Types::of(document(operands, position, read_schema)?);
        types.map_err(|error| Failure::Value(error::schema_message(&error)))
    };
    match any(operands, position) {
        Value::String(text) => call.prepared(crate::builtins::caches::GRAPHQL, text, make),
        _ => {
            call.begin()?;
            make(call).map(Arc::new)
        }
    }
}

fn parse_query(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    answer(tree(&read_query(text(operands, 1)?)?)?)
}

fn parse_schema(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    answer(tree(&read_schema(text(operands, 1)?)?)?)
}

/// Returns the trees of the query and the schema, if the query is valid.
fn verified(call: &mut Call<'_>, operands: &[Value]) -> Result<[Value; 2], Failure> {
    let query = document(operands, 1, read_query)?;
    let schema: ast::Schema = document(operands, 2, read_schema)?;
    let types = types(call, operands, 2)?;
    let errors = validate::check(&types, &query, call.meter).map_err(Failure::Aborted)?;
    if !errors.is_empty() {
        return Err(Failure::Value(error::query_message(&errors)));
    }
    Ok([tree(&query)?, tree(&schema)?])
}

fn parse(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    answer(verified(call, operands)?.to_vec())
}

fn parse_and_verify(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let (is_valid, [query, schema]) = match verified(call, operands) {
        Ok(trees) => (true, trees),
        Err(ended @ Failure::Aborted(_)) => return Err(ended),
        Err(_) => (false, [Object::new(), Object::new()].map(Value::from)),
    };
    answer(vec![Value::from(is_valid), query, schema])
}

fn is_valid(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let query = document(operands, 1, read_query);
    let types = types(call, operands, 2);
    answer(match (query, types) {
        (Ok(query), Ok(types)) => validate::check(&types, &query, call.meter)
            .map_err(Failure::Aborted)?
            .is_empty(),
        _ => false,
    })
}

fn schema_is_valid(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    answer(types(call, operands, 1).is_ok())
}
