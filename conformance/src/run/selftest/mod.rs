//! Self tests of the rules: faults and variants between suite and server, mutated responses, and
//! trivial servers.

mod recorded_rule;
pub(crate) mod run_faults;
pub(crate) mod run_mutants;
pub(crate) mod run_trivial_servers;
pub(crate) mod run_variants;
