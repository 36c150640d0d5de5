use bytes::Bytes;
use rstest::rstest;
use serde_json::{Value, json};

use super::matcher::ObservedRequest;
use super::operations::{request, response};
use super::*;
use crate::http_client::answer::Answer;
use crate::http_client::wire::{Outgoing, Wire};

/// Parses a fault with this YAML after its name and aim.
fn fault(text: &str) -> Result<Fault, FileError> {
    let text = format!("- fault: f\n  breaks: It does.\n  kills: [r]\n{text}");
    let mut faults = Fault::parse("engine/v1/data/put", &text)?;
    Ok(faults.remove(0))
}

fn request() -> Outgoing {
    Outgoing {
        method: "PUT",
        path: "/v1/data/a/b?pretty&limit=10".to_owned(),
        headers: vec![("If-None-Match".to_owned(), "*".to_owned())],
        body: Bytes::from_static(br#"{"a": [{"b": 1}, {"b": 2}]}"#),
    }
}

#[rstest]
#[case::any_depth("on: PUT /v1/data/**", true)]
#[case::any_version("on: '* /v1/*/a/b'", true)]
#[case::one_of_two("on: [GET /v1/data/**, PUT /v1/data/a/b]", true)]
#[case::one_segment("on: PUT /v1/data/*", false)]
#[case::another_method("on: GET /v1/data/**", false)]
#[case::depot("on: depot PUT /v1/data/**", false)]
#[case::another_document("on: control PUT /v1/data/**", false)]
#[case::header("on: PUT /v1/data/**\n  asked: {header: {if-none-match: '*'}}", true)]
#[case::another_header("on: PUT /v1/data/**\n  asked: {header: {if-none-match: 'x*'}}", false)]
#[case::no_header("on: PUT /v1/data/**\n  asked: {no-header: [If-None-Match]}", false)]
#[case::query(
    "on: PUT /v1/data/**\n  asked: {query: {pretty: '', limit: '1?'}}",
    true
)]
#[case::no_query("on: PUT /v1/data/**\n  asked: {no-query: [pretty]}", false)]
#[case::one_of_two_roles("on: PUT /v1/data/**\n  asked: {who: [viewer, owner]}", true)]
#[case::another_role("on: PUT /v1/data/**\n  asked: {who: [administrator]}", false)]
#[case::text("on: PUT /v1/data/**\n  asked: {text: ['\"b\": 2']}", true)]
#[case::no_text("on: PUT /v1/data/**\n  asked: {no-text: ['\"b\": 2']}", false)]
#[case::json("on: PUT /v1/data/**\n  asked: {json: {/a/*/b: 2}}", true)]
#[case::json_of_another_item("on: PUT /v1/data/**\n  asked: {json: {/a/0/b: 2}}", false)]
#[case::has_and_lacks("on: PUT /v1/data/**\n  asked: {has: [/a/1], lacks: [/a/2]}", true)]
#[case::lacks("on: PUT /v1/data/**\n  asked: {lacks: [/a/*/b]}", false)]
fn faults_touch_the_requests_that_they_name(#[case] text: &str, #[case] touched: bool) {
    let wire = Wire::Http(request());
    let observed = ObservedRequest::of(&wire, "viewer");
    let fault = fault(&format!("  {text}\n  request: [drop-header: x]\n"));
    let fault = fault.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        fault.alteration.touches(Recipient::Engine, &observed),
        touched
    );
}

#[rstest]
#[case::drop_header(
    "drop-header: if-none-match",
    "PUT /v1/data/a/b?pretty&limit=10 [] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
#[case::set_header(
    "set-header: {x: y}",
    "PUT /v1/data/a/b?pretty&limit=10 [If-None-Match: *, x: y] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
#[case::drop_query(
    "drop-query: pretty",
    "PUT /v1/data/a/b?limit=10 [If-None-Match: *] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
#[case::set_query(
    "set-query: {limit: '1'}",
    "PUT /v1/data/a/b?pretty&limit=1 [If-None-Match: *] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
#[case::method(
    "method: DELETE",
    "DELETE /v1/data/a/b?pretty&limit=10 [If-None-Match: *] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
#[case::path(
    "path: {from: /a/b, to: /c}",
    "PUT /v1/data/c?pretty&limit=10 [If-None-Match: *] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
#[case::drop(
    "drop: /a/*/b",
    "PUT /v1/data/a/b?pretty&limit=10 [If-None-Match: *] {\"a\":[{},{}]}"
)]
#[case::set(
    "set: {/a/0: 7, /c: null}",
    "PUT /v1/data/a/b?pretty&limit=10 [If-None-Match: *] {\"a\":[7,{\"b\":2}],\"c\":null}"
)]
#[case::text(
    "text: {from: '\"b\"', to: '\"c\"'}",
    "PUT /v1/data/a/b?pretty&limit=10 [If-None-Match: *] {\"a\": [{\"c\": 1}, {\"c\": 2}]}"
)]
#[case::body("body: x", "PUT /v1/data/a/b?pretty&limit=10 [If-None-Match: *] x")]
#[case::as_administrator(
    "as-administrator: true",
    "PUT /v1/data/a/b?pretty&limit=10 [If-None-Match: *, authorization: Bearer all] {\"a\": [{\"b\": 1}, {\"b\": 2}]}"
)]
fn requests_are_changed_as_the_fault_says(#[case] text: &str, #[case] expected: &str) {
    let fault = fault(&format!("  on: PUT /**\n  request: [{text}]\n"));
    let fault = fault.unwrap_or_else(|error| panic!("{error}"));
    let sent = request::changed(&request(), &fault.alteration.request, Some("Bearer all"));
    let headers = sent
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let headers = headers.collect::<Vec<_>>().join(", ");
    let body = String::from_utf8_lossy(&sent.body);
    let formatted = format!("{} {} [{headers}] {body}", sent.method, sent.path);
    assert_eq!(formatted, expected);
}

fn original_body() -> Value {
    json!({"result": [1, 2, 3], "more": {"a": 1, "b": "x"}})
}

#[rstest]
#[case::status("status: 201", "201", original_body())]
#[case::drop("drop: /result", "200", json!({"more": {"a": 1, "b": "x"}}))]
#[case::drop_items("drop: /result/*", "200", json!({"result": [], "more": {"a": 1, "b": "x"}}))]
#[case::set(
    "set: {/more/c: 2}",
    "200",
    json!({"result": [1, 2, 3], "more": {"a": 1, "b": "x", "c": 2}})
)]
#[case::set_items(
    "set: {'/more/*': 2}",
    "200",
    json!({"result": [1, 2, 3], "more": {"a": 2, "b": 2}})
)]
#[case::push(
    "push: {/result: 4}",
    "200",
    json!({"result": [1, 2, 3, 4], "more": {"a": 1, "b": "x"}})
)]
#[case::move_member(
    "move: {from: /more/a, to: /a}",
    "200",
    json!({"result": [1, 2, 3], "more": {"b": "x"}, "a": 1})
)]
#[case::reverse(
    "reverse: /result",
    "200",
    json!({"result": [3, 2, 1], "more": {"a": 1, "b": "x"}})
)]
#[case::drop_first(
    "drop-first: /result",
    "200",
    json!({"result": [2, 3], "more": {"a": 1, "b": "x"}})
)]
#[case::drop_last("drop-last: /more", "200", json!({"result": [1, 2, 3], "more": {"a": 1}}))]
#[case::repeat(
    "repeat: /result",
    "200",
    json!({"result": [1, 2, 3, 1], "more": {"a": 1, "b": "x"}})
)]
#[case::empty("empty: /more/b", "200", json!({"result": [1, 2, 3], "more": {"a": 1, "b": ""}}))]
#[case::text(
    "text: {from: result, to: other}",
    "200",
    json!({"other": [1, 2, 3], "more": {"a": 1, "b": "x"}})
)]
#[case::json("json: [1]", "200", json!([1]))]
#[case::pretty("pretty: true", "200", original_body())]
#[case::gzip("gzip: true", "200", original_body())]
#[case::prepend("prepend: ' '", "200", original_body())]
#[case::append("append: ' '", "200", original_body())]
#[case::spell("spell: {reversed: true}", "200", original_body())]
#[case::affix(
    "affix: {at: /more/b, before: '<', after: '>'}",
    "200",
    json!({"result": [1, 2, 3], "more": {"a": 1, "b": "<x>"}})
)]
#[case::replace(
    "replace: {at: /more, from: '^(x)$', to: '$1$1'}",
    "200",
    json!({"result": [1, 2, 3], "more": {"a": 1, "b": "xx"}})
)]
#[case::wrap(
    "wrap: {at: /more/b, into: {c: null}, to: /c}",
    "200",
    json!({"result": [1, 2, 3], "more": {"a": 1, "b": {"c": "x"}}})
)]
#[case::shift(
    "shift: {at: ['/result/*'], by: 10}",
    "200",
    json!({"result": [11, 12, 13], "more": {"a": 1, "b": "x"}})
)]
#[case::respell(
    "respell: {at: [/more], form: fraction}",
    "200",
    json!({"result": [1, 2, 3], "more": {"a": 1.0, "b": "x"}})
)]
fn answers_are_changed_as_the_fault_says(
    #[case] text: &str,
    #[case] status: &str,
    #[case] expected: Value,
) {
    let body = original_body();
    let fault = fault(&format!("  on: PUT /**\n  answer: [{text}]\n"));
    let fault = fault.unwrap_or_else(|error| panic!("{error}"));
    let answer = Answer::new(200, Vec::new(), Bytes::from(body.to_string()));
    let changed = response::changed(&answer, &fault.alteration.answer);
    assert_eq!(changed.status.to_string(), status);
    assert_eq!(changed.json(), Some(&expected));
    let same_bytes = changed.body == answer.body;
    assert_eq!(same_bytes, text.starts_with("status"));
}

#[rstest]
#[case::no_effect("  on: PUT /x\n", "no effect")]
#[case::no_path(
    "  on: PUT\n  answer: [status: 1]\n",
    "invalid endpoint `PUT`: expected `METHOD /path`"
)]
#[case::invalid_glob("  on: PUT /[\n  answer: [status: 1]\n", "invalid glob")]
#[case::unknown_operation("  on: PUT /x\n  answer: [stat: 1]\n", "unknown variant `stat`")]
#[case::unknown_field("  on: PUT /x\n  answr: []\n", "unknown field `answr`")]
#[case::unknown_field_of_a_condition(
    "  on: PUT /x\n  asked: {headers: {}}\n  answer: [status: 1]\n",
    "unknown field `headers`"
)]
#[case::reply_and_answer(
    "  on: PUT /x\n  reply: {status: 200}\n  answer: [status: 1]\n",
    "cannot be combined with other changes"
)]
fn faults_that_make_no_sense_are_refused(#[case] text: &str, #[case] expected: &str) {
    let error = fault(text)
        .map(|fault| fault.id)
        .err()
        .map(|error| error.to_string());
    let error = error.unwrap_or_default();
    assert!(
        error.starts_with("faults/engine/v1/data/put.yaml: "),
        "{error}"
    );
    assert!(error.contains(expected), "{error} has no {expected}");
}

#[test]
fn names_of_faults_are_unique() {
    let twice =
        "- {fault: f, breaks: B., kills: [r], on: PUT /x, answer: [{status: 1}]}\n".repeat(2);
    let error = Fault::parse("engine/x", &twice).map(|_| ()).err();
    assert!(error.is_some_and(|error| error.to_string().contains("duplicate name \"f\"")));
}

#[test]
fn a_mutant_changes_one_thing_of_an_answer() {
    let members = [
        "/result".to_owned(),
        "/result/*/name".to_owned(),
        "/absent".to_owned(),
    ];
    let body = json!({"result": [{"name": "a"}, {"name": "b"}]});
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let answer = Answer::new(200, headers, Bytes::from(body.to_string()));
    let earlier = Answer::new(404, Vec::new(), Bytes::new());
    let descriptions: Vec<String> = mutants(&answer, &members, true, Some(&earlier))
        .iter()
        .map(|mutant| {
            let Answer { status, body, .. } = &mutant.answer;
            let kind = mutant.answer.header("content-type").unwrap_or_default();
            format!(
                "{}: {status} {kind} {}",
                mutant.change,
                String::from_utf8_lossy(body)
            )
        })
        .collect();
    let json = "application/json";
    let unchanged = body.to_string();
    let expected = [
        format!("status 201: 201 {json} {unchanged}"),
        format!("status 500: 500 {json} {unchanged}"),
        format!("no body: 200 {json} "),
        format!("content type text/html: 200 text/html {unchanged}"),
        format!("without /result: 200 {json} {{}}"),
        format!("/result of another type: 200 {json} {{\"result\":{{}}}}"),
        format!("without /result/*/name: 200 {json} {{\"result\":[{{}},{{}}]}}"),
        format!(
            "/result/*/name of another type: 200 {json} {{\"result\":[{{\"name\":7}},{{\"name\":7}}]}}"
        ),
        "stale: 404  ".to_owned(),
    ];
    assert_eq!(descriptions, expected);
    let silent = Answer::new(204, Vec::new(), Bytes::new());
    assert!(
        mutants(&silent, &members, true, None)
            .iter()
            .all(|mutant| mutant.change.starts_with("status"))
    );
    let any = mutants(&answer, &members, false, None);
    assert!(
        any.iter()
            .all(|mutant| !mutant.change.starts_with("content type"))
    );
}
