//! Compiles any text that parses as a module of either version, with a second module of the same
//! package.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rego::{Compiler, Module, Policy, Version};

fuzz_target!(|text: &str| {
    for version in [Version::V0, Version::V1] {
        let Ok(module) = Module::parse_as("fuzz.rego", text, version) else {
            continue;
        };
        if let Ok(policy) = Compiler::new(&Policy::default())
            .put("fuzz.rego", module.clone())
            .compile()
        {
            drop(Compiler::new(&policy).put("again.rego", module).compile());
            drop(Compiler::new(&policy).remove("fuzz.rego").compile());
        }
    }
});
