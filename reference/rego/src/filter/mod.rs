//! Data filters: the residual of a rule as a condition on the rows of tables.
//!
//! [`Filter::of`] makes residual queries one [`Condition`] over columns (`input.table.column`) and
//! constants, or refuses them: what is not understood is never left out. [`Filter::check`] says
//! what a [`Target`] does not understand, and [`Filter::to_ucast`] and [`Filter::to_sql`] write
//! the condition, so that a row is selected exactly if the rule is true for it. A column without
//! a value is Rego's null; a row has every column.

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

/// The condition on rows that a query comes down to.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter(Condition);

impl Filter {
    /// The condition that residual queries make together with the support modules that they
    /// refer to. References to columns are `input.table.column`, or `input.name` for the short
    /// names (see [`Mappings::short_names`]).
    ///
    /// # Errors
    /// Every part that is no condition on columns.
    pub fn of(
        queries: &[Body],
        support: &[Module],
        short_names: &BTreeSet<Arc<str>>,
    ) -> Result<Self, Vec<Unsupported>> {
        translate::queries(queries, support, short_names).map(Self)
    }

    /// The condition.
    pub fn condition(&self) -> &Condition {
        &self.0
    }

    /// Whether no row can be selected.
    pub fn is_never(&self) -> bool {
        self.0 == Condition::Constant(false)
    }

    /// Whether every target understands the condition.
    ///
    /// # Errors
    /// What some of them do not understand.
    pub fn check(&self, targets: &[Target]) -> Result<(), Vec<Unsupported>> {
        let found = target::check(&self.0, targets);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// The condition as UCAST: an empty object if every row is selected, absent if none is.
    pub fn to_ucast(&self, mappings: &Mappings) -> Option<Value> {
        ucast::write(&self.simple(), mappings)
    }

    /// The condition as a WHERE clause, with that word: empty if every row is selected, absent
    /// if none is.
    ///
    /// # Errors
    /// What the database cannot say exactly, such as a number with too many digits.
    pub fn to_sql(
        &self,
        dialect: Dialect,
        mappings: &Mappings,
        types: &ColumnTypes,
    ) -> Result<Option<String>, Unsupported> {
        sql::write(&self.simple(), dialect, mappings, types)
    }

    /// The condition without what holds for every row.
    fn simple(&self) -> Condition {
        self.0.map(&|test| match &test.ask {
            Predicate::Exists => Condition::Constant(true),
            _ => Condition::Test(test.clone()),
        })
    }
}
