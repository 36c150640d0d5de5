//! Generated policies, evaluated.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions};
use rego_generate::Choices;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let input = from_json(rego_generate::input(&mut choices).as_bytes()).ok();
    let documents = from_json(rego_generate::documents().as_bytes());
    let module = Module::parse("fuzz.rego", &rego_generate::module(&mut choices));
    let (Ok(documents), Ok(module)) = (documents, module) else {
        return;
    };
    let Ok(policy) = Compiler::new(&Policy::default()).put("fuzz.rego", module).compile() else {
        return;
    };
    for query in rego_generate::QUERIES {
        if let Ok(query) = Query::parse(&policy, query, &QueryOptions::default()) {
            let mut evaluation = Evaluation::new(&documents);
            evaluation.input = input.clone();
            drop(query.evaluate(&mut evaluation));
        }
    }
});
