//! Compares residuals with the meaning of their policies: residuals are loaded as policies,
//! unknowns get values, and the results must be the same.

mod policy;

use std::cell::RefCell;
use std::error::Error;

use rego::syntax::{Body, Rule};
use rego::value::from_json;
use rego::{
    Compiler, EvalError, Evaluation, Module, PartialOptions, PartialQuery, Policy, Query,
    QueryOptions, References, Residual, Value,
};
use rego_generate::Choices;

use crate::{random_cases, report};

/// The bytes that decide a policy.
const BYTES: usize = 600;

/// Of a hundred residuals at least this many must be conditions.
const CONDITIONAL: u32 = 30;

/// What is unknown, and what is not inlined.
#[derive(Debug, Clone, Copy, Default)]
struct Unknowns {
    unknowns: &'static [&'static str],
    opaque: &'static [&'static str],
    /// The parts of the input that are unknown; all if there are none and `input` is.
    parts: &'static [&'static str],
    /// The parts of `data.base` that are unknown.
    documents: &'static [&'static str],
}

/// Nothing is known of the input.
const INPUT: Unknowns = Unknowns {
    unknowns: &["input"],
    opaque: &[],
    parts: &[],
    documents: &[],
};

/// Of the policies made for this purpose.
const OWN: &[Unknowns] = &[
    INPUT,
    Unknowns {
        unknowns: &["input.a", "input.l"],
        opaque: &[],
        parts: &["a", "l"],
        documents: &[],
    },
    Unknowns {
        unknowns: &["input", "data.base.k"],
        opaque: &[],
        parts: &[],
        documents: &["k"],
    },
    Unknowns {
        unknowns: &["data.base.k", "data.base.list", "data.base.map"],
        opaque: &[],
        parts: &[],
        documents: &["k", "list", "map"],
    },
    Unknowns {
        unknowns: &["input"],
        opaque: &["data.m.r1", "data.m.r3"],
        parts: &[],
        documents: &[],
    },
];

/// Of the policies that every part of the engine is tested with.
const COMMON: &[Unknowns] = &[
    INPUT,
    Unknowns {
        unknowns: &["input.x", "input.list"],
        opaque: &[],
        parts: &["x", "list"],
        documents: &[],
    },
    Unknowns {
        unknowns: &["input", "data.base"],
        opaque: &["data.m.r1", "data.m.f0"],
        parts: &[],
        documents: &[],
    },
];

/// So many documents and inputs are tried.
const TRIED: usize = 8;

/// How the residuals were.
#[derive(Debug, Default)]
struct Counts {
    conditional: u32,
    always: u32,
    never: u32,
    failed: u32,
    refused: u32,
    compared: u32,
}

/// Makes policies until a residual means something else than its query.
///
/// # Errors
/// With the smallest case that differs, or when too few residuals are conditions.
pub(crate) fn run(cases: u32, seed: u64) -> Result<(), Box<dyn Error>> {
    let counts = RefCell::new(Counts::default());
    random_cases::judge((cases, 300), seed, BYTES / 2..BYTES, |bytes| {
        compare(bytes, &mut counts.borrow_mut())
    })?;
    let counts = counts.into_inner();
    let all = counts.conditional + counts.always + counts.never + counts.failed;
    report("the same", &format!("{all} residuals: {counts:?}"));
    if counts.conditional * 100 < all * CONDITIONAL {
        return Err(format!("fewer than {CONDITIONAL} % of the residuals are conditions").into());
    }
    Ok(())
}

/// Compares all queries of one policy.
fn compare(bytes: &[u8], counts: &mut Counts) -> Result<(), String> {
    let mut choices = Choices::new(bytes);
    if choices.rarely(8) {
        let world = choices.of(COMMON);
        let text = rego_generate::module(&mut choices);
        let queries = rego_generate::QUERIES.iter().map(|query| {
            let form = choices.of(&["", "not ", "7 = ", "_ = "]);
            format!("{form}{query}")
        });
        let queries: Vec<_> = queries.collect();
        let inputs = rego_generate::INPUTS.iter().map(|text| parsed(text));
        let documents = vec![parsed(rego_generate::documents())];
        return judge_all(
            world,
            &text,
            &queries,
            (inputs.collect(), documents),
            counts,
        );
    }
    let world = choices.of(OWN);
    let (text, queries) = policy::make(&mut choices);
    let inputs = (0..TRIED).map(|_| parsed(&policy::input(&mut choices).to_string()));
    let inputs = inputs.collect();
    let documents = (0..TRIED).map(|_| parsed(&policy::documents(&mut choices).to_string()));
    judge_all(
        world,
        &text,
        &queries,
        (inputs, documents.collect()),
        counts,
    )
}

fn judge_all(
    world: Unknowns,
    text: &str,
    queries: &[String],
    (inputs, documents): (Vec<Value>, Vec<Value>),
    counts: &mut Counts,
) -> Result<(), String> {
    let Ok(module) = Module::parse("m.rego", text) else {
        return Ok(());
    };
    for query in queries {
        let truth = format!("package truth\n\nq if {{\n\t{query}\n}}\n");
        let truth = Module::parse("truth.rego", &truth).map_err(|why| why.to_string())?;
        let compiler = Compiler::new(&Policy::default()).put("m.rego", module.clone());
        let Ok(policy) = compiler.put("truth.rego", truth).compile() else {
            counts.refused += 1;
            continue;
        };
        let case = Case {
            world,
            policy,
            query,
            inputs: &inputs,
            documents: &documents,
        };
        case.judge(counts).map_err(|why| {
            format!(
                "{text}\nquery: {query}\nunknown: {:?}, not inlined: {:?}\n{why}",
                world.unknowns, world.opaque
            )
        })?;
    }
    Ok(())
}

struct Case<'c> {
    world: Unknowns,
    policy: Policy,
    query: &'c str,
    /// The inputs, of which the first is what is known.
    inputs: &'c [Value],
    /// The same of documents.
    documents: &'c [Value],
}

impl Case<'_> {
    fn judge(&self, counts: &mut Counts) -> Result<(), String> {
        let nothing = Value::Null;
        let documents = self.documents.first().unwrap_or(&nothing);
        let mut evaluation = Evaluation::new(documents);
        evaluation.input = self.inputs.first().cloned();
        let references = |texts: &[&'static str]| {
            References::parse(texts.iter().copied()).map_err(|why| why.to_string())
        };
        let options = PartialOptions {
            unknowns: references(self.world.unknowns)?,
            disable_inlining: references(self.world.opaque)?,
            nondeterministic_builtins: false,
        };
        let compiled = PartialQuery::parse(&self.policy, self.query, &QueryOptions::default());
        let Ok(compiled) = compiled else {
            return Ok(());
        };
        let Ok(residual) = compiled.evaluate(&mut evaluation, &options) else {
            counts.failed += 1;
            return Ok(());
        };
        match residual.queries.as_slice() {
            [] => counts.never += 1,
            [only] if only.is_empty() => counts.always += 1,
            _ => counts.conditional += 1,
        }
        let shown = || format!("residual:\n{}", shown(&residual));
        let loaded = match loaded(&residual) {
            Ok(loaded) => loaded,
            Err(why) => return Err(format!("{}\n{why}", shown())),
        };
        for (documents, input) in self.values() {
            let Ok(want) = holds(&self.policy, "data.truth.q", &documents, &input) else {
                continue;
            };
            let got = holds(&loaded, "data.residual.q", &documents, &input);
            counts.compared += 1;
            if got.as_ref().ok() != Some(&want) {
                let got = got.map_or_else(|why| why.to_string(), |got| got.to_string());
                return Err(format!(
                    "{}\ninput: {input}\ndocuments: {documents}\nwant {want}, got {got}",
                    shown()
                ));
            }
        }
        Ok(())
    }

    /// Documents and inputs, which differ from the first in what is unknown.
    fn values(&self) -> Vec<(Value, Value)> {
        let whole = self.world.unknowns.contains(&"input");
        let nothing = Value::Null;
        let known = self.documents.first().unwrap_or(&nothing);
        let tried = self.inputs.iter().enumerate();
        let tried = tried.map(|(at, other)| {
            let mut input = self.inputs.first().unwrap_or(&nothing).clone();
            if whole {
                input = other.clone();
            } else {
                mix(&mut input, other, self.world.parts);
            }
            let mut documents = known.clone();
            let other = self.documents.get(at).unwrap_or(known);
            let base = documents
                .as_object_mut()
                .and_then(|root| root.get_mut("base"));
            if let (Some(base), Some(other)) = (base, other.get("base")) {
                mix(base, other, self.world.documents);
            }
            (documents, input)
        });
        tried.collect()
    }
}

/// Replaces parts of a document by those of another.
fn mix(document: &mut Value, other: &Value, parts: &[&str]) {
    let Some(members) = document.as_object_mut() else {
        return;
    };
    for part in parts {
        match other.get(part) {
            Some(value) => members.insert(*part, value.clone()),
            None => members.remove(part),
        };
    }
}

/// A policy whose rule `data.residual.q` holds as the residual does.
fn loaded(residual: &Residual) -> Result<Policy, rego::Errors> {
    let mut module = Module::parse("residual.rego", "package residual\n\nq if true\n")?;
    let template = module.rules.first().cloned();
    let rules = residual.queries.iter().filter_map(|body| {
        let template = template.clone()?;
        let body = match body.is_empty() {
            true => template.body.clone(),
            false => Body::clone(body),
        };
        Some(Rule { body, ..template })
    });
    module.rules = rules.collect();
    // The tree is not that of the text any more.
    module.text = "".into();
    let mut compiler = Compiler::new(&Policy::default()).put("residual.rego", module);
    for (at, module) in residual.support.iter().enumerate() {
        compiler = compiler.put(&format!("support{at}.rego"), module.clone());
    }
    compiler.compile()
}

pub(crate) fn shown(residual: &Residual) -> String {
    let mut text = String::new();
    for body in &residual.queries {
        let exprs: Vec<_> = body.iter().map(ToString::to_string).collect();
        text.push_str(&format!("  {}\n", exprs.join("; ")));
    }
    for module in &residual.support {
        text.push_str(&format!("  {}\n", module.package));
        for rule in &module.rules {
            text.push_str(&format!("    {rule}\n"));
        }
    }
    text
}

/// Whether a rule holds.
fn holds(
    policy: &Policy,
    query: &str,
    documents: &Value,
    input: &Value,
) -> Result<bool, Box<EvalError>> {
    let Ok(query) = Query::parse(policy, query, &QueryOptions::default()) else {
        return Ok(false);
    };
    let mut evaluation = Evaluation::new(documents);
    evaluation.input = Some(input.clone());
    let answers = query.evaluate(&mut evaluation)?;
    Ok(!answers.is_empty())
}

fn parsed(text: &str) -> Value {
    from_json(text.as_bytes()).unwrap_or(Value::Null)
}
