//! Limits of evaluations: inline evaluations, time, values, memory, and cancellation.

#![expect(clippy::panic, reason = "a broken table ends the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rego::error::EvalCode;
use rego::value::from_json;
use rego::{
    AbortReason, Compiler, EvalError, Evaluation, Governor, Limits, Module, Policy, Query,
    QueryOptions, Solution, Value,
};

use crate::support::{ending, processor_time};

const POLICY: &str = r#"package p

f(x) := count(x)

twice := f(data.big) + f(data.other)

members contains x if some x in data.big

keyed[x] := data.big if some x in ["a", "b"]

conflict := data.big

conflict := data.other

listed if "absent" in input.names

loud if print("said")

small := {"sum": sum([x | some x in [1, 2, 3]]), "set": {x | some x in ["b", "a"]}}

greets := sprintf("%s is %d", ["ann", 31]) if regex.match("^a+n", "ann")

endless if {
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a + b == -1
}
"#;

/// Returns documents that are large enough to take long.
fn documents() -> Value {
    documents_of(100_000)
}

/// Returns the same documents with this number of objects, which take longest to create.
fn documents_of(objects: i64) -> Value {
    let numbers = |count: i64| (0..count).map(Value::from).collect::<Vec<_>>();
    let objects = (0..=objects).map(|number| Value::object([("x", Value::from(number))]));
    let long = "a".repeat(1 << 20);
    Value::object([
        ("big", numbers(200_000).into()),
        ("other", numbers(200_000).into()),
        ("objects", objects.collect::<Vec<_>>().into()),
        ("text", Value::from(format!("{long}b"))),
        ("like", Value::from(format!("{long}c"))),
        ("few", [1, 2, 3].map(Value::from).to_vec().into()),
    ])
}

fn policy() -> Policy {
    let module = match Module::parse("p.rego", POLICY) {
        Ok(module) => module,
        Err(why) => panic!("{why}"),
    };
    let compiled = Compiler::new(&Policy::default())
        .put("p.rego", module)
        .compile();
    compiled.unwrap_or_else(|why| panic!("{why}"))
}

fn query(policy: &Policy, text: &str) -> Query {
    let query = Query::parse(policy, text, &QueryOptions::default());
    query.unwrap_or_else(|why| panic!("{text}: {why}"))
}

fn evaluate(query: &Query, documents: &Value, limits: Limits) -> Result<Vec<Solution>, EvalError> {
    let mut printed = |_: &rego::syntax::Location, _: &str| {};
    let mut evaluation = Evaluation::new(documents);
    evaluation.input = from_json(br#"{"names": ["x"], "n": 7}"#).ok();
    evaluation.limits = limits;
    evaluation.print = Some(&mut printed);
    query.evaluate(&mut evaluation)
}

/// More time than any evaluation takes here.
const AMPLE: Duration = Duration::from_secs(3600);

fn inline(time: Duration) -> Limits {
    Limits {
        deadline: Some(Instant::now() + time),
        inline: true,
        ..Limits::default()
    }
}

/// Queries that take too long for an inline evaluation, have effects, or are not known to be quick.
const LONG: &[&str] = &[
    "data.big == data.other",
    "data.text == data.like",
    "data.text < data.like",
    "data.big[_] == -1",
    "some x in data.big; x == -1",
    "-1 in data.big",
    "every x in data.big { x >= 0 }",
    "x := [y | some y in data.big]",
    "x := {y | some y in data.big}",
    "x := {i: y | some i, y in data.big}",
    "x := {data.big, data.other}",
    "x := {data.text: 1, data.like: 2}",
    "x := {[data.big, 1], [data.other, 1]}",
    "x := sort(data.big)",
    "x := sum(data.big)",
    "x := max(data.big)",
    "x := json.marshal(data.big)",
    "x := array.concat(data.big, data.other)",
    "x := array.slice(data.big, 1, 100000)",
    "x := contains(data.text, \"zz\")",
    "x := split(data.text, \"a\")",
    "x := upper(data.text)",
    "x := count(data.text)",
    "x := replace(\"aaaaaaaaaaaaaaaaaaaaaaaa\", \"a\", data.text)",
    "x := numbers.range(1, 1000000)",
    "x := sprintf(\"%100000d\", [1])",
    "x := sprintf(\"%*d\", [100000, 1])",
    "x := bits.lsh(1, 100000)",
    "x := crypto.sha256(data.text)",
    "x := regex.match(\"(a*)*b\", data.text)",
    "x := http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1:1\"})",
    "walk(data.objects, [_, -1])",
    "walk(data.objects, [p, -1])",
    "x := data.p.twice",
    "x := data.p.members",
    "data.p.members[-1]",
    "x := data.p.keyed",
    "x := data.p.conflict",
    "x := data.p.loud",
    "data.p.endless",
    "not data.p.listed with data.big as [1]; data.big == data.other",
    "x := data with data.few.more as 1",
];

/// Queries that are suitable for an inline evaluation.
const SHORT: &[&str] = &[
    "x := data.p.small",
    "x := data.p.greets",
    "x := count(data.big)",
    "x := data.big[100000]",
    "x := object.get(input, [\"names\", 0], 0)",
    "data.big[3] == data.other[3]",
    "x := sort(data.few)",
    "x := [y | some y in data.few; y > 1]",
    "x := {y: 1 | some y in data.few}",
    "x := concat(\",\", [\"a\", \"b\"])",
    "x := data.few with data.few as [7]",
    "not data.p.listed",
    "x := input.n + 1",
];

/// Evaluation that costs a few times as much as an inline evaluation may.
const YARDSTICK: &str = "x := count([y | some y in numbers.range(1, 10000)])";

#[test]
fn inline_evaluations_end_soon() {
    let policy = policy();
    let yardstick = query(&policy, YARDSTICK);
    for text in LONG {
        // Documents that were searched by other queries would answer at once.
        let documents = match text.contains("data.objects") {
            true => documents(),
            false => documents_of(0),
        };
        let query = query(&policy, text);
        // Prepares the values that inline evaluations use.
        let warm = Limits {
            deadline: Some(Instant::now() + Duration::from_millis(50)),
            ..Limits::default()
        };
        evaluate(&query, &documents, warm).ok();
        let whole = || drop(evaluate(&yardstick, &documents, Limits::default()));
        let attempt = || {
            let limits = inline(Duration::from_micros(100));
            let ended = evaluate(&query, &documents, limits).map(|answers| answers.len());
            let code = ended.as_ref().err().map(|error| error.code);
            assert_eq!(code, Some(EvalCode::NotInline), "{text}: {ended:?}");
        };
        let costs = processor_time::compare(1, whole, attempt);
        assert_eq!(costs, Ok(()), "the yardstick, and {text}");
    }
}

#[test]
fn inline_evaluations_in_time_answer_as_others_do() {
    let (policy, documents) = (policy(), documents());
    let caches = rego::Caches::default();
    for text in SHORT {
        let query = query(&policy, text);
        let answers = |limits: Limits| {
            let mut evaluation = Evaluation::new(&documents);
            evaluation.input = from_json(br#"{"names": ["x"], "n": 7}"#).ok();
            evaluation.caches = Some(&caches);
            evaluation.limits = limits;
            query.evaluate(&mut evaluation)
        };
        let expected = answers(Limits::default());
        // The values that inline evaluations use are prepared by then.
        let found = answers(inline(AMPLE));
        assert_eq!(found, expected, "{text}");
        assert!(expected.is_ok_and(|answers| !answers.is_empty()), "{text}");
    }
}

#[test]
fn inline_evaluations_prepare_nothing() {
    let (policy, documents) = (policy(), documents());
    let query = query(&policy, "x := data.p.small");
    let first = evaluate(&query, &documents, inline(AMPLE));
    assert_eq!(first.map_err(|error| error.code), Err(EvalCode::NotInline));
    assert!(evaluate(&query, &documents, Limits::default()).is_ok());
    assert!(evaluate(&query, &documents, inline(AMPLE)).is_ok());
}

/// Queries that create too many values.
const BOMBS: &[&str] = &[
    "x := [1 | some a in numbers.range(1, 300); some b in numbers.range(1, 300); a + b > 0]",
    "x := {[a, b] | some a in numbers.range(1, 300); some b in numbers.range(1, 300)}",
    "x := {a: [a, b] | some a in numbers.range(1, 30000); b := {a}}",
    "x := numbers.range(1, 10000000)",
    "a := numbers.range(1, 9000); b := array.concat(a, a); c := array.concat(b, b); d := array.concat(c, c); e := array.concat(d, d)",
    "some x in numbers.range(1, 30000); {\"a\": [x]} == {\"a\": x}",
    "some x in numbers.range(1, 30000); data.p.f([x]) == 2",
    "some x in numbers.range(1, 30000); sprintf(\"%1000d\", [x]) == \"\"",
    "x := net.cidr_expand(\"10.0.0.0/12\")",
    "some x in numbers.range(1, 5000); s := data.big; array.slice(s, 0, 100) == []",
    "x := json.unmarshal(sprintf(\"[%s1]\", [replace(sprintf(\"%400000d\", [1]), \" \", \"1,\")]))",
    "some x in numbers.range(1, 40000)",
    "x := split(sprintf(\"%200000d\", [1]), \"\")",
    "count([p | walk(data.objects, [p, _])]) == -1",
];

/// Returns expressions in which `x20` is an array that unfolds to a million arrays.
fn doubled() -> String {
    let double = |at: u32| format!("x{} := [x{at}, x{at}]\n", at + 1);
    let doubled = (0..20).map(double);
    std::iter::once("x0 := [1]\n".to_owned())
        .chain(doubled)
        .collect()
}

/// Shared parts are charged wherever they occur, whichever function converts a value: here a value
/// of a million nodes that consists of 21 arrays.
#[test]
fn shared_values_are_charged_for_what_they_unfold_to() {
    let policy = policy();
    let documents = documents_of(0);
    for call in [
        r#"json.match_schema({"a": x20}, {"properties": {}})"#,
        r#"json.verify_schema({"enum": [x20]})"#,
        r#"io.jwt.encode_sign({"alg": "HS256"}, {"a": x20}, {"kty": "oct", "k": "AyM1"})"#,
        r#"http.send({"method": "post", "url": "http://localhost:1", "body": x20})"#,
        r#"json.patch({"a": x20}, [{"op": "copy", "from": "/a", "path": "/b"}])"#,
        r#"strings.render_template("{{.a}}", {"a": x20})"#,
        "print(x20)",
    ] {
        let query = query(&policy, &format!("{}{call}", doubled()));
        let limits = Limits {
            values: Some(1_000_000),
            ..Limits::default()
        };
        let message = match evaluate(&query, &documents, limits) {
            Ok(answers) => format!("{} answers", answers.len()),
            Err(error) => error.message,
        };
        assert_eq!(message, "query execution made too many values", "{call}");
    }
}

/// Shared parts are also charged wherever they occur in residuals, whose terms are not shared.
#[test]
fn shared_values_in_residuals_are_charged() {
    let policy = policy();
    let documents = documents_of(0);
    for rest in [
        "input.x == x20",
        "input.x != x20",
        "not input.x == x20",
        "[x20, input.y] == input.x",
        "{x20: input.y} == input.x",
        "input.x[x20] == 1",
        "y := [x20, input.x]; y[1] == 3",
        "count([y | y := x20; input.x == y]) == 1",
        "every y in input.x { y == x20 }",
        "object.get(input.x, x20, 1) == 2",
        "input.x == 1 with input.y as x20",
    ] {
        let text = format!("{}{rest}", doubled());
        let query = rego::PartialQuery::parse(&policy, &text, &QueryOptions::default());
        let query = query.unwrap_or_else(|why| panic!("{rest}: {why}"));
        let mut evaluation = Evaluation::new(&documents);
        evaluation.limits.values = Some(1_000_000);
        let message = match query.evaluate(&mut evaluation, &rego::PartialOptions::default()) {
            Ok(residual) => format!("{} queries", residual.queries.len()),
            Err(error) => error.message,
        };
        assert_eq!(message, "query execution made too many values", "{rest}");
    }
}

#[test]
fn values_are_counted() {
    let (policy, documents) = (policy(), documents());
    for text in BOMBS {
        let query = query(&policy, text);
        let limits = |values| Limits {
            values,
            ..Limits::default()
        };
        let ended = evaluate(&query, &documents, limits(Some(100_000)));
        let ended = ended.map(|answers| answers.len());
        let Err(error) = ended else {
            panic!("{text}: {ended:?}");
        };
        assert_eq!(error.code, EvalCode::Internal, "{text}: {error}");
        assert_eq!(error.message, "query execution made too many values");
    }
    // Iterating over many values does not create any.
    let scan = query(&policy, "some x in data.big; x == -1");
    let limits = Limits {
        values: Some(1000),
        ..Limits::default()
    };
    assert_eq!(evaluate(&scan, &documents, limits), Ok(Vec::new()));
}

/// Queries that take very long.
const ENDLESS: &[&str] = &[
    "data.p.endless",
    "some x in numbers.range(1, 1000000); x in data.big; false",
    "some x in numbers.range(1, 100000); [data.big, x] == [data.other, -1]",
    "some x in numbers.range(1, 100000); sum(data.big) == x",
    "some x in numbers.range(1, 100000); max(data.big) == x + 200000",
    "some x in numbers.range(1, 100000); contains(data.text, sprintf(\"%d\", [x])) == 7",
    "some x, y; data.big[x] == data.other[y]; x + y == -1",
    "some x in data.big; every y in data.big { y >= 0 }; x == -1",
    "some x in data.big; walk(data.objects, [_, -1])",
    "some x in data.big; {y | some y in data.big} == {x}",
];

/// Asserts that each of the endless evaluations ends when `cancel` has been applied to it.
fn are_cancelled(cancel: fn(&mut Evaluation<'_>)) {
    let (policy, documents) = (policy(), documents());
    for text in ENDLESS {
        let (query, documents) = (query(&policy, text), documents.clone());
        let ended = ending::ending(text, move || {
            let mut evaluation = Evaluation::new(&documents);
            cancel(&mut evaluation);
            query.evaluate(&mut evaluation).map(|answers| answers.len())
        });
        let code = ended.as_ref().err().map(|error| error.code);
        assert_eq!(code, Some(EvalCode::Cancelled), "{text}: {ended:?}");
    }
}

const DELAY: Duration = Duration::from_millis(20);

#[test]
fn evaluations_end_when_their_time_is_over() {
    are_cancelled(|evaluation| evaluation.limits.deadline = Some(Instant::now() + DELAY));
}

#[test]
fn evaluations_end_when_nobody_waits() {
    are_cancelled(|evaluation| {
        let cancelled = Arc::new(AtomicBool::new(false));
        evaluation.cancelled = Some(Arc::clone(&cancelled));
        std::thread::spawn(move || {
            std::thread::sleep(DELAY);
            cancelled.store(true, Ordering::Relaxed);
        });
    });
}

/// Governor with a limited amount of memory.
#[derive(Debug)]
struct Some256KiB(AtomicU64);

impl Governor for Some256KiB {
    fn checkpoint(
        &self,
        allocated: u64,
        check_cancelled: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason> {
        check_cancelled()?;
        match self.0.fetch_add(allocated, Ordering::Relaxed) + allocated > 256 << 10 {
            true => Err(AbortReason::Memory),
            false => Ok(()),
        }
    }

    fn rest(&self) {}
}

#[test]
fn memory_is_asked_for() {
    let (policy, documents) = (policy(), documents());
    let within = |text: &str| {
        let limits = Limits {
            governor: Some(Arc::new(Some256KiB(AtomicU64::new(0)))),
            ..Limits::default()
        };
        evaluate(&query(&policy, text), &documents, limits).map(|answers| answers.len())
    };
    assert_eq!(within("x := [y | some y in numbers.range(1, 1000)]"), Ok(1));
    let ended = within("x := [y | some y in numbers.range(1, 100000)]");
    assert_eq!(ended.map_err(|error| error.code), Err(EvalCode::Memory));
}
