//! Type checking of queries.

use std::sync::Arc;

use super::scope::Scope;
use crate::compile::{Diagnostics, ModuleSet, QueryUnit};

/// Checks a query against the types of all rules.
pub(crate) fn run(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let written = Arc::new(unit.written.iter().cloned().collect());
    let mut scope = Scope::of_rules(module_set, &module_set.types, written);
    scope.check_body(&unit.body, |_, found| found)
}
