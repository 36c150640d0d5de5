//! Many modules at once, which are parsed and compiled on several threads.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failing test panics")]

use rego::value::from_json;
use rego::{Compiler, Errors, Evaluation, Module, Policy, Query, QueryOptions, Version};

/// Number of modules, large enough for several threads to share the work.
const MODULE_COUNT: usize = 200;

fn texts(text: impl Fn(usize) -> String) -> Vec<(String, String)> {
    let numbers = 0..MODULE_COUNT;
    numbers.map(|at| (format!("m{at:03}"), text(at))).collect()
}

fn compile(texts: &[(String, String)]) -> Result<Policy, Errors> {
    let mut compiler = Compiler::new(&Policy::default());
    let parsed = Module::parse_all(texts, Version::V1);
    for (module, (id, _)) in parsed.into_iter().zip(texts) {
        compiler = compiler.put(id, module?);
    }
    compiler.compile()
}

/// Returns the first line of each error.
fn mistakes(texts: &[(String, String)]) -> Vec<String> {
    let Errors(errors) = compile(texts).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn they_become_what_each_becomes_alone() {
    let texts = texts(|at| {
        let next = (at + 1) % MODULE_COUNT;
        format!(
            "package p{at}\n\nallow if {{ some x in data.p{next}.known; f(x) }}\n\n\
             f(x) if x > {at}\n\nknown contains {at}\n"
        )
    });
    let at_once = compile(&texts).unwrap();
    let mut one_by_one = Policy::default();
    for (id, text) in &texts {
        let module = Module::parse(id, text).unwrap();
        one_by_one = Compiler::new(&one_by_one)
            .put(id, module)
            .compile()
            .unwrap();
    }
    for module in one_by_one.modules() {
        let other = at_once.module(module.id()).unwrap();
        assert_eq!(other.to_json(), module.to_json(), "{}", module.id());
        assert_eq!(other.text(), module.text());
    }
}

#[test]
fn only_the_first_stage_with_mistakes_tells() {
    let texts = texts(|at| match at {
        // Variables are checked after calls.
        7 => "package p7\n\np if x\n\nx := y if z\n".to_owned(),
        150 | 151 => format!("package p{at}\n\np if unknown{at}(1)\n"),
        _ => format!("package p{at}\n\np := {at}\n"),
    });
    let found = mistakes(&texts);
    let expected = [
        "m150:3: rego_type_error: undefined function unknown150",
        "m151:3: rego_type_error: undefined function unknown151",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_cannot_be_read_is_told_in_order() {
    let texts = texts(|at| match at {
        100 | 50 | 150 => "package\n".to_owned(),
        _ => format!("package p{at}\n"),
    });
    let parsed = Module::parse_all(&texts, Version::V1);
    let wrong = parsed.iter().zip(&texts);
    let wrong = wrong.filter(|(module, _)| module.is_err());
    let wrong: Vec<_> = wrong.map(|(_, (id, _))| id.as_str()).collect();
    assert_eq!(wrong, ["m050", "m100", "m150"]);
}

#[test]
fn packages_can_share_a_place() {
    let texts = [
        ("outer", "package a\n\nb.c contains 1\n"),
        ("inner", "package a.b\n\nc contains 2\n"),
    ];
    let texts = texts.map(|(id, text)| (id.to_owned(), text.to_owned()));
    let mut policy = compile(&texts).unwrap();
    for turn in 0..2 {
        let query = Query::parse(&policy, "data.a.b.c = x", &QueryOptions::default()).unwrap();
        let documents = from_json(b"{}").unwrap();
        let answers = query.evaluate(&mut Evaluation::new(&documents)).unwrap();
        let answers: Vec<_> = answers.iter().map(|answer| answer.to_value()).collect();
        let [answer] = answers.as_slice() else {
            panic!("turn {turn}: {answers:?}");
        };
        assert_eq!(answer.to_string(), r#"{"x":[1,2]}"#, "turn {turn}");
        // The other module is recompiled with it.
        let module = Module::parse("outer", "package a\n\nb.c contains 1 if true\n").unwrap();
        policy = Compiler::new(&policy)
            .put("outer", module)
            .compile()
            .unwrap();
    }
}

/// Returns a module that reads rules of the previous one: types are inferred in many layers.
fn in_layers(at: usize, more: &str) -> String {
    let before = match at % 20 {
        0 => "1".to_owned(),
        _ => format!("data.q{}.n", at - 1),
    };
    format!(
        "package q{at}\n\nn := x if x := {before} + 1\n\no := {{\"a\": n}}\n\n\
         f(s) := upper(s)\n\nuse if {{ n > 0; o.a > 1; f(\"a\") == \"A\" }}\n{more}"
    )
}

/// Rules whose types are inferred in the order of the paths: rules with variables, and rules that
/// read a document to which later rules add.
const IN_TURN: &str =
    "\nany if data[_].o\n\nr[k] := v if some k, v in o\n\nr.z := \"s\"\n\nt := r.z\n";

/// Compiles the modules into a policy that has another one, so that all types are inferred in the
/// order of the paths.
fn compile_behind(texts: &[(String, String)]) -> Result<Policy, Errors> {
    let module = Module::parse("first", "package first\n\np := 1\n")?;
    let first = Compiler::new(&Policy::default()).put("first", module);
    let mut compiler = Compiler::new(&first.compile()?);
    for (id, text) in texts {
        compiler = compiler.put(id, Module::parse(id, text)?);
    }
    compiler.compile()
}

#[test]
fn mistakes_in_layers_are_told_as_if_types_were_found_one_by_one() {
    for more in ["", IN_TURN] {
        let texts = texts(|at| {
            let mistake = match at {
                3 => "\nbad if n == \"text\"\n",
                45 => "\nbad if upper(n)\n",
                110 => "\nbad := o.missing\n\nafter := bad.x\n",
                199 => "\nbad := f(n)\n",
                _ => "",
            };
            in_layers(at, &format!("{more}{mistake}"))
        });
        let at_once = mistakes(&texts);
        assert_eq!(at_once.len(), 4, "{at_once:?}");
        let Errors(in_turn) = compile_behind(&texts).unwrap_err();
        let in_turn: Vec<_> = in_turn.iter().map(ToString::to_string).collect();
        assert_eq!(at_once, in_turn);
    }
}

#[test]
fn types_are_the_same_in_layers_and_one_by_one() {
    for more in ["", IN_TURN] {
        let texts = texts(|at| in_layers(at, more));
        let policies = [compile(&texts).unwrap(), compile_behind(&texts).unwrap()];
        // Type errors of queries show the types.
        let [at_once, in_turn] = policies.map(|policy| {
            // Queries for all layers.
            let places = (0..MODULE_COUNT).step_by(3).map(|at| format!("data.q{at}"));
            let questions = places.flat_map(|place| {
                let read = |what: &str| format!("{place}.{what} == null");
                let call = format!("{place}.f(1, 2, 3)");
                [
                    read("n"),
                    read("o"),
                    read("use"),
                    read("o.b"),
                    read("r.z"),
                    call,
                ]
            });
            let results = questions.map(|question| {
                let parsed = Query::parse(&policy, &question, &QueryOptions::default());
                parsed.map_or_else(|errors| format!("{errors:?}"), |_| question)
            });
            results.collect::<Vec<_>>()
        });
        assert_eq!(at_once, in_turn);
        assert!(
            at_once
                .iter()
                .any(|result| result.contains("mismatch") || result.contains("match error"))
        );
    }
}
