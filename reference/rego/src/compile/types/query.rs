//! The types of queries.

use std::collections::HashMap;

use super::scope::Scope;
use crate::compile::{Found, QueryUnit, World};

/// Checks a query against the types of all rules.
pub(crate) fn run(unit: &mut QueryUnit, world: &World) -> Found {
    let mut scope = Scope::of_rules(world, &world.types);
    scope.name_by(unit.written.iter().cloned().collect::<HashMap<_, _>>());
    scope.look(&unit.body, |_, found| found)
}
