//! Tests of the translation of residual queries to filters.

#![expect(clippy::unwrap_used, reason = "a failing test panics")]

mod mappings;
mod refusals;
mod sql;
mod support;
mod typed;
mod ucast;

use std::collections::BTreeSet;

use super::{ColumnTypes, Dialect, Filter, Mappings, Target, Unsupported, Variant};
use crate::syntax::{Module, parse_module, parse_query};

/// Returns the filter for queries, one on each line, and a support module.
fn filter_with(queries: &str, support: &str) -> Result<Filter, Vec<Unsupported>> {
    let queries: Vec<_> = queries
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| match line.trim() {
            "always" => crate::syntax::Body::new(),
            query => parse_query(query).unwrap(),
        })
        .collect();
    let support: Vec<Module> = match support {
        "" => Vec::new(),
        text => vec![parse_module("support.rego", text).unwrap()],
    };
    Filter::of(&queries, &support, &BTreeSet::from(["short".into()]))
}

fn filter(queries: &str) -> Result<Filter, Vec<Unsupported>> {
    filter_with(queries, "")
}

fn written(filter: &Filter, target: Target, mappings: &Mappings) -> String {
    written_with(filter, target, mappings, &ColumnTypes::default())
}

fn written_with(
    filter: &Filter,
    target: Target,
    mappings: &Mappings,
    types: &ColumnTypes,
) -> String {
    if let Err(refused) = filter.check(&[target]) {
        return refusal_messages(&refused);
    }
    match target {
        Target::Ucast(_) => match filter.to_ucast(mappings) {
            Some(query) => query.to_string(),
            None => "never".to_owned(),
        },
        Target::Sql(dialect) => match filter.to_sql(dialect, mappings, types) {
            Ok(Some(text)) => text,
            Ok(None) => "never".to_owned(),
            Err(refusal) => refusal.message,
        },
    }
}

fn refusal_messages(refused: &[Unsupported]) -> String {
    let messages = refused.iter().map(|refusal| refusal.message.as_str());
    messages.collect::<Vec<_>>().join("\n")
}
