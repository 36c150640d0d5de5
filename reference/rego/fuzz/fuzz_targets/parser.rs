//! Any text as a module and as a query: it is read or refused, never more.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rego::{Module, Query};

fuzz_target!(|text: &str| {
    if let Ok(module) = Module::parse("fuzz.rego", text) {
        drop(module.to_json().to_string());
    }
    drop(Query::read(text));
});
