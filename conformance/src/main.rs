//! The `conformance` program.

fn main() {}
