//! Documents

use super::super::policy;
use crate::scenario::resource_names::encode;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("base-document-is-written-data", || {
        scenario()
            .given(put("/v1/data/{ns}/a/b").json(json!(1)))
            .when(get("/v1/data/{ns}/a/b").expect(at("/result")))
            .when(get("/v1/data/{ns}/a").expect(at("/result")))
            .when(get("/v1/data/{ns}").expect(at("/result")))
    }),
    Rule::new("virtual-document-is-rule-value", || {
        scenario()
            .given(policy(
                "sum := 40 + 2\n\nwords := [\"one\", input.word]\n\nnames contains \"bob\"\n\nnames contains \"alice\"\n\nages[\"bob\"] := 17",
            ))
            .when(get("/v1/data/{ns}/sum").expect(at("/result")))
            .when(
                post("/v1/data/{ns}/words")
                    .json(json!({"input": {"word": "two"}}))
                    .expect(at("/result")),
            )
            .when(get("/v1/data/{ns}/names").expect(sorted("/result")))
            .when(get("/v1/data/{ns}/ages").expect(at("/result")))
            .each(
                [
                    "answer := false",
                    "answer := null",
                    "answer := 0",
                    "answer := \"\"",
                    "answer := []",
                    "answer := {}",
                    "answer contains x if x := input.none[_]",
                ],
                |scenario, rule| {
                    let path = "/v1/data/{ns}/answer";
                    scenario
                        .given(policy(rule))
                        .when(get(path).expect(at("/result")))
                        .when(post(path).json(json!({"input": {}})).expect(at("/result")))
                },
            )
    }),
    Rule::new("numeric-segment-is-array-index", || {
        scenario()
            .given(put("/v1/data/{ns}/a").json(json!(["first", {"b": ["inner"]}])))
            .when(get("/v1/data/{ns}/a/0").expect(at("/result")))
            .when(get("/v1/data/{ns}/a/1/b/0").expect(at("/result")))
            .each(["0", "1/b/0"], |scenario, path| {
                let request = post(format!("/v1/data/{{ns}}/a/{path}")).json(json!({"input": 1}));
                scenario.when(request.expect(at("/result")))
            })
    }),
    Rule::new("other-segment-is-member-name", || {
        scenario()
            .given(
                put("/v1/data/{ns}")
                    .json(json!({"a": {"name": 1, "1st": 2, "two words": 3, "a+b": 4, "Name": 5}})),
            )
            .when(get("/v1/data/{ns}/a/name").expect(at("/result")))
            .when(get("/v1/data/{ns}/a/1st").expect(at("/result")))
            .when(get("/v1/data/{ns}/a/two%20words").expect(at("/result")))
            .when(get("/v1/data/{ns}/a/a+b").expect(at("/result")))
            .when(get("/v1/data/{ns}/a/Name").expect(at("/result")))
    }),
    Rule::new("segment-is-plain-text", || segments(&UNQUOTED)),
    Rule::new("quoted-segment-is-plain-text", || segments(&QUOTED)),
    Rule::new("segment-is-no-expression", || {
        let hidden = json!({"hidden": HIDDEN, "beside": {"a": 1}});
        scenario()
            .given(put("/v1/data/{ns}").json(hidden))
            .when(get("/v1/data/{ns}/hidden").expect(at("/result")))
            .each(EXPRESSIONS, |scenario, segment| {
                let version = |version: &str| format!("/{version}/data/{{ns}}/beside/{segment}");
                let reveals_nothing =
                    |step: Step| step.expect(without(HIDDEN)).expect(lacks("/result"));
                scenario
                    .when(reveals_nothing(get(version("v1"))))
                    .when(reveals_nothing(
                        post(version("v1")).json(json!({"input": 1})),
                    ))
                    .when(
                        post(version("v0"))
                            .json(json!(1))
                            .expect(error())
                            .expect(without(HIDDEN)),
                    )
            })
    }),
    Rule::new("names-and-texts-kept", || {
        let names = json!({"Name": 1, "name": "ß", "é": "É", "日本": {"Ü": "日本 😀"}});
        scenario()
            .when(put("/v1/data/{ns}").json(names.clone()).expect(success()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .when(get("/v1/data/{ns}/Name").expect(at("/result")))
            .when(get("/v1/data/{ns}/name").expect(at("/result")))
            .when(get("/v1/data/{ns}/%C3%A9").expect(at("/result")))
            .when(get("/v1/data/{ns}/%E6%97%A5%E6%9C%AC/%C3%9C").expect(at("/result")))
            .when(get("/v1/data/{ns}/NAME").expect(lacks("/result")))
            .each(echo_requests(&names), Scenario::when)
    }),
    Rule::new("integers-kept", || {
        let numbers = json!({"n": [9_007_199_254_740_993_u64, -9_007_199_254_740_993_i64]});
        scenario()
            .when(put("/v1/data/{ns}").json(numbers.clone()).expect(success()))
            .when(get("/v1/data/{ns}").expect(at("/result")))
            .each(echo_requests(&numbers), Scenario::when)
    }),
    Rule::new("input-document-is-supplied-value", || {
        scenario()
            .given(policy("seen := input"))
            .each(
                [json!({"who": "alice", "age": 41}), json!({"who": "bob"})],
                |scenario, input| {
                    scenario.when(
                        post("/v1/data/{ns}/seen")
                            .json(json!({"input": input}))
                            .expect(at("/result")),
                    )
                },
            )
            .when(get("/v1/data/{ns}/seen").expect(lacks("/result")))
    }),
    Rule::new("numeric-member-name", || {
        scenario()
            .given(put("/v1/data/{ns}").json(json!({"1": "one"})))
            .when(
                get("/v1/data/{ns}/1")
                    .expect(status())
                    .expect(at("/result")),
            )
    }),
];

/// Names of members that a reference syntax would interpret, and their encodings in a path.
pub(crate) const UNQUOTED: [(&str, &str); 9] = [
    ("a[0]", "a%5B0%5D"),
    ("a.b", "a.b"),
    ("a; true", "a%3B%20true"),
    ("a\nb", "a%0Ab"),
    ("100%", "100%25"),
    ("%41", "%2541"),
    ("a\\b", "a%5Cb"),
    ("it's `{}`", "it's%20%60%7B%7D%60"),
    ("a&b=c+d?#", "a%26b%3Dc%2Bd%3F%23"),
];

/// Names like those of [`UNQUOTED`], with quotes.
pub(crate) const QUOTED: [(&str, &str); 3] = [
    ("\"", "%22"),
    ("a\"]", "a%22%5D"),
    ("a\"]; data[\"b", "a%22%5D%3B%20data%5B%22b"),
];

/// A value that no segment may reach.
const HIDDEN: &str = "the hidden text";

/// Segments that reach another document if they are pasted into a reference or a query.
const EXPRESSIONS: [&str; 5] = [
    "x%22%5D%3B%20y%20%3D%20data.{ns}%5B%22hidden",
    "a%22%5D%20%7C%20data.{ns}.hidden%20%23",
    "a%22%5D%3Bx%3A%3Ddata.{ns}.hidden%23",
    "a%3B%20data.{ns}.hidden",
    "a%0Adata.{ns}.hidden",
];

/// Expects that the methods write, read, change and remove members of these names, and nothing
/// else.
fn segments(names: &[(&str, &str)]) -> Scenario {
    let start = scenario().given(put("/v1/data/{ns}").json(json!({"a": {"b": "beside"}})));
    let start = names.iter().fold(start, |scenario, (name, segment)| {
        let path = format!("/v1/data/{{ns}}/{segment}");
        let replaced = json!([{"op": "replace", "path": "/was", "value": "replaced"}]);
        scenario
            .when(
                put(path.as_str())
                    .json(json!({"was": name}))
                    .expect(status()),
            )
            .when(get(path.as_str()).expect(at("/result")))
            .when(
                post(path.as_str())
                    .json(json!({"input": 1}))
                    .expect(at("/result")),
            )
            .when(
                patch(path)
                    .text("application/json-patch+json", replaced.to_string())
                    .expect(status()),
            )
    });
    let start = start.when(get("/v1/data/{ns}").expect(at("/result")));
    let end = names.iter().fold(start, |scenario, (_, segment)| {
        scenario.when(delete(format!("/v1/data/{{ns}}/{segment}")).expect(status()))
    });
    end.when(get("/v1/data/{ns}").expect(at("/result")))
}

/// Requests for a rule that returns its input, which is passed by GET and by POST.
fn echo_requests(input: &Value) -> [Step; 3] {
    let encoded = encode(&input.to_string());
    [
        policy("seen := input").expect(success()),
        get(format!("/v1/data/{{ns}}/seen?input={encoded}")).expect(at("/result")),
        post("/v1/data/{ns}/seen")
            .json(json!({"input": input}))
            .expect(at("/result")),
    ]
}
