//! Data filters: the residual queries of a rule as a condition on the rows of tables.
//!
//! [`Filter::of`] translates residual queries to one [`Condition`] over columns
//! (`input.table.column`) and constants, or returns errors: unsupported parts are never omitted.
//! [`Filter::check`] reports what a [`Target`] does not support, and [`Filter::to_ucast`] and
//! [`Filter::to_sql`] write the condition, so that a row is selected exactly if the rule is true
//! for it. A column without a value is Rego's null; a row has every column.

mod annotations;
mod column_types;
mod condition;
mod mappings;
mod sql;
mod target;
mod translate;
mod ucast;
mod unsupported;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use annotations::{FilterAnnotations, query, rule_path};
pub use column_types::{ColumnType, ColumnTypes};
pub use condition::{Column, Comparison, Condition, MatchPosition, Predicate, Test};
pub use mappings::Mappings;
pub use target::{Dialect, Target, Variant};
pub use unsupported::Unsupported;

use crate::Value;
use crate::syntax::{Body, Module};

/// Condition on rows that is equivalent to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter(Condition);

impl Filter {
    /// Translates residual queries, together with the support modules that they refer to.
    /// References to columns are `input.table.column`, or `input.name` for the short names (see
    /// [`Mappings::short_names`]).
    ///
    /// # Errors
    /// Every part of the queries that is not a condition on columns.
    pub fn of(
        queries: &[Body],
        support: &[Module],
        short_names: &BTreeSet<Arc<str>>,
    ) -> Result<Self, Vec<Unsupported>> {
        translate::queries(queries, support, short_names).map(Self)
    }

    /// Returns the condition.
    pub fn condition(&self) -> &Condition {
        &self.0
    }

    /// Whether no row can be selected.
    pub fn is_never(&self) -> bool {
        self.0 == Condition::Constant(false)
    }

    /// Checks that every target supports the condition.
    ///
    /// # Errors
    /// The parts of the condition that some target does not support.
    pub fn check(&self, targets: &[Target]) -> Result<(), Vec<Unsupported>> {
        let found = target::check(&self.0, targets);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Returns the condition as UCAST: an empty object if every row is selected, absent if none is.
    pub fn to_ucast(&self, mappings: &Mappings) -> Option<Value> {
        ucast::write(&self.simple(), mappings)
    }

    /// Returns the condition as a WHERE clause, with that keyword: empty if every row is selected,
    /// absent if none is.
    ///
    /// # Errors
    /// A part of the condition that the database cannot express exactly, such as too long a number.
    pub fn to_sql(
        &self,
        dialect: Dialect,
        mappings: &Mappings,
        types: &ColumnTypes,
    ) -> Result<Option<String>, Unsupported> {
        sql::write(&self.simple(), dialect, mappings, types)
    }

    /// Returns the condition without tests that are true for every row.
    fn simple(&self) -> Condition {
        self.0.map(&|test| match &test.predicate {
            Predicate::Exists => Condition::Constant(true),
            _ => Condition::Test(test.clone()),
        })
    }
}
