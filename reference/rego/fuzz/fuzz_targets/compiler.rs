//! Any text that is a module, and a second one of the same package beside it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rego::{Compiler, Module, Policy};

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse("fuzz.rego", text) else {
        return;
    };
    if let Ok(policy) = Compiler::new(&Policy::default()).put("fuzz.rego", module.clone()).compile() {
        drop(Compiler::new(&policy).put("again.rego", module).compile());
        drop(Compiler::new(&policy).remove("fuzz.rego").compile());
    }
});
