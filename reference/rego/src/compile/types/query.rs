//! The types of queries.

use std::sync::Arc;

use super::scope::Scope;
use crate::compile::{Found, QueryUnit, World};

/// Checks a query against the types of all rules.
pub(crate) fn run(unit: &mut QueryUnit, world: &World) -> Found {
    let written = Arc::new(unit.written.iter().cloned().collect());
    let mut scope = Scope::of_rules(world, &world.types, written);
    scope.look(&unit.body, |_, found| found)
}
