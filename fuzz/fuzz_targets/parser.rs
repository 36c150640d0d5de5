//! Parses any text as a module of each version and as a query: it is accepted or refused without a
//! panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rego::{Module, Query, Version};

fuzz_target!(|text: &str| {
    for version in [Version::V0, Version::V1] {
        if let Ok(module) = Module::parse_as("fuzz.rego", text, version) {
            drop(module.to_json().to_string());
        }
    }
    drop(Query::read(text));
});
