//! The `reference` program.

fn main() {}
