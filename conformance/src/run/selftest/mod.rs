//! What the suite's own rules are tried on: faults and variants between suite and server, changed
//! answers, and trivial servers. `conformance selftest`, the kill matrix and the tolerance bench are
//! made of it.

mod recorded_rule;
pub(crate) mod run_faults;
pub(crate) mod run_mutants;
pub(crate) mod run_trivial_servers;
pub(crate) mod run_variants;
