//! The Data API on base documents.

use crate::exchange::{run_script, run_script_on};
use reference::engine::Engine;
use rstest::rstest;

#[test]
fn documents_are_written_and_read() {
    run_script(
        r#"
        GET /v1/data => 200 {"result":{}}
        GET /v1/data/a => 200 {}
        PUT /v1/data/a/b/c {"x":[1,{"y":null}]} => 204
        GET /v1/data/a => 200 {"result":{"b":{"c":{"x":[1,{"y":null}]}}}}
        GET /v1/data/a/b/c/x/1/y => 200 {"result":null}
        GET /v1/data/a/b/c/x/1/y/z => 200 {}
        PUT /v1/data/a/b 5 => 204
        GET /v1/data/a => 200 {"result":{"b":5}}
        PUT /v1/data/a/b/c 1 => 404 resource_conflict
        PUT /v1/data/a/b/c/d 1 => 404 resource_conflict
        GET /v1/data/a => 200 {"result":{"b":5}}
        DELETE /v1/data/a/c => 404 resource_not_found
        DELETE /v1/data/a/b/c => 404 resource_not_found
        DELETE /v1/data/a/b => 204
        GET /v1/data/a => 200 {"result":{}}
        DELETE /v1/data => 405
        "#,
    );
}

#[test]
fn the_root_stays_an_object() {
    run_script(
        r#"
        PUT /v1/data {"a":1,"system":{"s":2}} => 204
        GET /v1/data => 200 {"result":{"a":1}}
        GET /v1/data/system => 200 {"result":{"s":2}}
        PUT /v1/data 1 => 400 invalid_parameter
        PUT /v1/data [1] => 400 invalid_parameter
        PUT /v1/data [If-None-Match: *] {} => 304
        PATCH /v1/data [{"op":"remove","path":"/"}] => 400 invalid_parameter
        PATCH /v1/data [{"op":"replace","path":"","value":[]}] => 400 invalid_parameter
        PATCH /v1/data [{"op":"replace","path":"","value":{"b":2}}] => 204
        GET /v1/data => 200 {"result":{"b":2}}
        "#,
    );
}

#[test]
fn the_text_of_numbers_is_kept() {
    run_script(
        r#"
        PUT /v1/data/n [1e3,1.0,12345678901234567890123,1E5,-0,-0.0,0.10] => 204
        GET /v1/data/n => 200 {"result":[1e3,1.0,12345678901234567890123,1E5,-0,-0.0,0.10]}
        PUT /v1/data/n 01 => 400 invalid_parameter
        "#,
    );
}

#[test]
fn only_what_does_not_exist_is_written_if_none_matches() {
    run_script(
        r#"
        PUT /v1/data/a [If-None-Match: *] 1 => 204
        PUT /v1/data/a [If-None-Match: *] 2 => 304
        GET /v1/data/a => 200 {"result":1}
        PUT /v1/data/a [If-None-Match: "x"] 3 => 204
        PUT /v1/data/a/b [If-None-Match: *] 4 => 404 resource_conflict
        GET /v1/data/a => 200 {"result":3}
        PUT /v1/data/a [If-None-Match: *] { => 400 invalid_parameter
        "#,
    );
}

#[test]
fn segments_are_integers_where_that_is_possible() {
    run_script(
        r#"
        PUT /v1/data/a [10,11,12] => 204
        GET /v1/data/a/1 => 200 {"result":11}
        GET /v1/data/a/01 => 200 {"result":11}
        GET /v1/data/a/+1 => 200 {"result":11}
        GET /v1/data/a/1.0 => 200 {"result":11}
        GET /v1/data/a/%31 => 200 {"result":11}
        GET /v1/data/a/-1 => 200 {}
        GET /v1/data/a/1e0 => 200 {}
        GET /v1/data/a/1.5 => 200 {}
        GET /v1/data/a/0x1 => 200 {}
        GET /v1/data/a/3 => 200 {}
        GET /v1/data/a/99999999999999999999 => 200 {}
        PUT /v1/data/o {"1":"one","-5":"minus"} => 204
        GET /v1/data/o/1 => 200 {"result":"one"}
        GET /v1/data/o/01 => 200 {"result":"one"}
        GET /v1/data/o/-5 => 200 {"result":"minus"}
        DELETE /v1/data/o/01 => 404 resource_not_found
        PUT /v1/data/o/01 [If-None-Match: *] "spelt so" => 204
        GET /v1/data/o/01 => 200 {"result":"spelt so"}
        GET /v1/data/o/1 => 200 {"result":"one"}
        "#,
    );
}

#[test]
fn an_escaped_slash_stays_in_its_segment() {
    run_script(
        r#"
        PUT /v1/data/a%2Fb/c%20d 1 => 204
        GET /v1/data => 200 {"result":{"a/b":{"c d":1}}}
        GET /v1/data/a%2Fb/c%20d => 200 {"result":1}
        GET /v1/data/a/b => 200 {}
        PUT /v1/data/plus+sign 2 => 204
        GET /v1/data/plus%2Bsign => 200 {"result":2}
        GET /v1/data/%zz => 400 invalid_parameter
        GET /v1/data/%ff => 400 invalid_parameter
        "#,
    );
}

#[test]
fn writing_at_the_place_of_an_item_inserts() {
    run_script(
        r#"
        PUT /v1/data/a [1,{"x":2},3] => 204
        PUT /v1/data/a/0 "z" => 204
        GET /v1/data/a => 200 {"result":["z",1,{"x":2},3]}
        PUT /v1/data/a/2/x/y 1 => 404 resource_conflict
        PUT /v1/data/a/2/y/z 1 => 204
        GET /v1/data/a/2 => 200 {"result":{"x":2,"y":{"z":1}}}
        PUT /v1/data/a/4 1 => 404 resource_conflict
        PUT /v1/data/a/- 1 => 404 resource_conflict
        PUT /v1/data/a/x 1 => 404 resource_conflict
        DELETE /v1/data/a/0 => 204
        DELETE /v1/data/a/9 => 404 resource_not_found
        DELETE /v1/data/a/- => 404 resource_not_found
        GET /v1/data/a => 200 {"result":[1,{"x":2,"y":{"z":1}},3]}
        "#,
    );
}

#[test]
fn a_patch_adds_removes_and_replaces() {
    run_script(
        r#"
        PUT /v1/data/a {"b":{"c":1},"l":[1,2]} => 204
        PATCH /v1/data/a [{"op":"add","path":"b/d","value":2},{"op":"add","path":"/l/-","value":3}] => 204
        PATCH /v1/data/a/l [{"op":"add","path":"0","value":0},{"op":"add","path":"/4","value":4}] => 204
        PATCH /v1/data/a/b/c [{"op":"replace","path":"","value":5}] => 204
        PATCH /v1/data/a/b [{"op":"add","path":"/e~1f~0g"}] => 204
        GET /v1/data/a => 200 {"result":{"b":{"c":5,"d":2,"e/f~g":null},"l":[0,1,2,3,4]}}
        PATCH /v1/data/a [{"op":"remove","path":"/l/1"},{"op":"remove","path":"/b"}] => 204
        GET /v1/data/a => 200 {"result":{"l":[0,2,3,4]}}
        PATCH /v1/data/a [] => 204
        PATCH /v1/data/a null => 400 invalid_parameter
        "#,
    );
}

#[rstest]
#[case::remove_missing(r#"{"op":"remove","path":"/x"}"#, "404 resource_not_found")]
#[case::replace_missing(r#"{"op":"replace","path":"/x","value":1}"#, "404 resource_not_found")]
#[case::replace_below_missing(
    r#"{"op":"replace","path":"/x/y","value":1}"#,
    "404 resource_not_found"
)]
#[case::add_below_missing(r#"{"op":"add","path":"/x/y","value":1}"#, "404 resource_not_found")]
#[case::add_below_a_number(r#"{"op":"add","path":"/b/y","value":1}"#, "404 resource_not_found")]
#[case::add_behind_the_end(r#"{"op":"add","path":"/l/2","value":1}"#, "404 resource_not_found")]
#[case::add_at_a_negative_index(
    r#"{"op":"add","path":"/l/-1","value":1}"#,
    "404 resource_not_found"
)]
#[case::add_at_no_index(r#"{"op":"add","path":"/l/x","value":1}"#, "404 resource_not_found")]
#[case::remove_behind_the_end(r#"{"op":"remove","path":"/l/1"}"#, "404 resource_not_found")]
#[case::remove_the_end(r#"{"op":"remove","path":"/l/-"}"#, "404 resource_not_found")]
#[case::replace_behind_the_end(
    r#"{"op":"replace","path":"/l/1","value":1}"#,
    "404 resource_not_found"
)]
#[case::replace_the_end(
    r#"{"op":"replace","path":"/l/-","value":1}"#,
    "404 resource_not_found"
)]
#[case::test_operation(r#"{"op":"test","path":"/b","value":1}"#, "400 invalid_parameter")]
#[case::move_operation(r#"{"op":"move","path":"/c","from":"/b"}"#, "400 invalid_parameter")]
#[case::upper_case_operation(r#"{"op":"ADD","path":"/c","value":1}"#, "400 invalid_parameter")]
#[case::no_operation(r#"{"path":"/c","value":1}"#, "400 invalid_parameter")]
#[case::number_as_an_operation(r#"{"op":1,"path":"/c","value":1}"#, "400 invalid_parameter")]
#[case::number_as_a_path(r#"{"op":"add","path":1,"value":1}"#, "400 invalid_parameter")]
#[case::invalid_escape(r#"{"op":"add","path":"/%zz","value":1}"#, "400 invalid_parameter")]
#[case::number("1", "400 invalid_parameter")]
fn a_patch_is_carried_out_whole_or_not_at_all(#[case] operations: &str, #[case] answer: &str) {
    let first = r#"{"op":"add","path":"/first","value":1}"#;
    run_script(&format!(
        r#"
        PUT /v1/data/a {{"b":1,"l":[1],"o":{{}}}} => 204
        PATCH /v1/data/a [{first},{operations}] => {answer}
        GET /v1/data/a => 200 {{"result":{{"b":1,"l":[1],"o":{{}}}}}}
        "#
    ));
}

#[test]
fn what_is_no_list_of_operations_changes_nothing() {
    run_script(
        r#"
        PUT /v1/data/a {"b":1,"l":[1],"o":{}} => 204
        PATCH /v1/data/a {"op":"remove","path":"/b"} => 400 invalid_parameter
        PATCH /v1/data/a "x" => 400 invalid_parameter
        PATCH /v1/data/a => 400 invalid_parameter
        GET /v1/data/a => 200 {"result":{"b":1,"l":[1],"o":{}}}
        "#,
    );
}

const WARNED: &str = r#"200 {"result":1,"warning":{"code":"api_usage_warning","message":"'input' key missing from the request"}}"#;

#[rstest]
#[case::input(r#"{"input":{"x":1}}"#, r#"200 {"result":1}"#)]
#[case::more_behind_it(r#"{"input":1} and more"#, "400 invalid_parameter")]
#[case::null(r#"{"input":null}"#, WARNED)]
#[case::no_input("{}", WARNED)]
#[case::null_body("null", WARNED)]
#[case::no_body("", WARNED)]
#[case::list("[]", "400 invalid_parameter")]
#[case::text(r#""x""#, "400 invalid_parameter")]
#[case::broken(r#"{"input":"#, "400 invalid_parameter")]
#[case::yaml(
    "[Content-Type: application/yaml] input: {x: 1}",
    r#"200 {"result":1}"#
)]
#[case::text_yaml("[Content-Type: text/yaml] {\"input\": 2}", r#"200 {"result":1}"#)]
#[case::comment_in_yaml("[Content-Type: application/x-yaml] # nothing", WARNED)]
#[case::broken_yaml("[Content-Type: application/yaml] a: b: c", "400 invalid_parameter")]
#[case::more_behind_yaml(
    "[Content-Type: application/yaml] {input: 1} x",
    "400 invalid_parameter"
)]
#[case::list_in_yaml("[Content-Type: application/yaml] - 1", "400 invalid_parameter")]
fn inputs_are_read_and_refused(#[case] body: &str, #[case] answer: &str) {
    run_script(&format!(
        "PUT /v1/data/a 1 => 204\nPOST /v1/data/a {body} => {answer}"
    ));
}

#[test]
fn inputs_are_read_from_parameters() {
    run_script(
        r#"
        PUT /v1/data/a 1 => 204
        GET /v1/data/a?input=%7B%22x%22%3A1%7D => 200 {"result":1}
        GET /v1/data/a?input=nonsense&input=1 => 200 {"result":1}
        GET /v1/data/a?input=1&input=nonsense => 400 invalid_parameter
        GET /v1/data/a?input= => 400 invalid_parameter
        GET /v1/data/a?input=1%202 => 400 invalid_parameter
        GET /v1/data/a?input=%zz => 200 {"result":1}
        "#,
    );
}

#[test]
fn bare_decisions_have_no_envelope() {
    run_script(
        r#"
        PUT /v1/data/a {"x":[1]} => 204
        POST /v0/data/a => 200 {"x":[1]}
        POST /v0/data/a {"any":"input"} => 200 {"x":[1]}
        POST /v0/data/a [Content-Type: application/yaml] x: 1 => 200 {"x":[1]}
        POST /v0/data/a/x/0 null => 200 1
        POST /v0/data/b => 404 undefined_document
        POST /v0/data/b { => 400 invalid_parameter
        POST / {} => 404 undefined_document
        PUT /v1/data/system/main {"allow":true} => 204
        POST / {} => 200 {"allow":true}
        POST / { => 400 invalid_parameter
        "#,
    );
}

#[rstest]
#[case::is_true("/v1/data/a?pretty=true", true)]
#[case::no_value("/v1/data/a?pretty", true)]
#[case::empty("/v1/data/a?pretty=", true)]
#[case::upper_case("/v1/data/a?pretty=TRUE", true)]
#[case::true_at_last("/v1/data/a?pretty=false&pretty=true", true)]
#[case::one("/v1/data/a?pretty=1", false)]
#[case::is_false("/v1/data/a?pretty=false", false)]
#[case::twice("/v1/data/a?pretty&pretty", false)]
fn pretty_answers_are_indented(#[case] target: &str, #[case] indented: bool) {
    let engine = Engine::default();
    run_script_on(&engine, r#"PUT /v1/data/a {"b":[1,{}],"c":[]} => 204"#);
    let answer = if indented {
        "{\n  \"result\": {\n    \"b\": [\n      1,\n      {}\n    ],\n    \"c\": []\n  }\n}\n"
    } else {
        "{\"result\":{\"b\":[1,{}],\"c\":[]}}\n"
    };
    let request = crate::exchange::request("GET", target, http::HeaderMap::new(), Vec::new());
    let reply = engine.respond(request);
    assert_eq!(String::from_utf8_lossy(&reply.body.bytes()), answer);
}

#[test]
fn metrics_are_given_when_asked_for() {
    let engine = Engine::default();
    let names = |method: &str, target: &str, body: &str| {
        let body = body.as_bytes().to_vec();
        let request = crate::exchange::request(method, target, http::HeaderMap::new(), body);
        let reply = engine.respond(request);
        let answer: serde_json::Value =
            serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
        let metrics = answer
            .get("metrics")
            .and_then(|metrics| metrics.as_object());
        let names: Option<Vec<_>> = metrics.map(|metrics| metrics.keys().cloned().collect());
        format!(
            "{} {}",
            reply.status.as_u16(),
            names.unwrap_or_default().join(" ")
        )
    };
    let write = "200 timer_rego_input_parse_ns timer_server_handler_ns";
    let fresh = "200 counter_server_query_cache_hit timer_rego_input_parse_ns \
                 timer_rego_query_compile_ns timer_rego_query_eval_ns timer_server_handler_ns";
    let cached = "200 counter_server_query_cache_hit timer_rego_input_parse_ns \
                  timer_rego_query_eval_ns timer_server_handler_ns";
    assert_eq!(names("PUT", "/v1/data/a?metrics=true", "1"), write);
    assert_eq!(names("PATCH", "/v1/data/a?metrics", "[]"), write);
    assert_eq!(names("GET", "/v1/data/a?metrics=true", ""), fresh);
    assert_eq!(names("GET", "/v1/data/a?metrics=true", ""), cached);
    assert_eq!(names("POST", "/v1/data/a?metrics=true", "{}"), fresh);
    assert_eq!(names("PUT", "/v1/data/b", "1"), "204 ");
    assert_eq!(names("GET", "/v1/data/a?metrics=true", ""), fresh);
    assert_eq!(names("GET", "/v1/data/a", ""), "200 ");
    let instrumented = names("GET", "/v1/data/b?instrument=true", "");
    assert!(
        instrumented.contains("timer_query_compile_stage_"),
        "{instrumented}"
    );
    assert_eq!(
        names("DELETE", "/v1/data/a?metrics", ""),
        "200 timer_server_handler_ns"
    );
}

#[test]
fn traces_of_documents_are_given_when_asked_for() {
    run_script(
        r#"
        PUT /v1/data/a {"b c":[true]} => 204
        GET /v1/data/a?explain=off => 200 {"result":{"b c":[true]}}
        GET /v1/data/a?explain=other => 200 {"result":{"b c":[true]}}
        GET /v1/data/a?explain=notes => 200 {"explanation":[],"result":{"b c":[true]}}
        GET /v1/data/a?explain=fails => 200 {"explanation":[],"result":{"b c":[true]}}
        GET /v1/data/x?explain=notes => 200 {}
        "#,
    );
    let engine = Engine::default();
    run_script_on(&engine, r#"PUT /v1/data/a {"b c":[true]} => 204"#);
    let lines = |target: &str| {
        let request = crate::exchange::request("GET", target, http::HeaderMap::new(), Vec::new());
        let reply = engine.respond(request);
        let answer: serde_json::Value =
            serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
        answer.get("explanation").cloned().unwrap_or_default()
    };
    assert_eq!(
        lines("/v1/data/a/b%20c/0?explain=full&pretty=true"),
        serde_json::json!([
            r#"query:1     Enter data.a["b c"][0] = _"#,
            r#"query:1     | Eval data.a["b c"][0] = _"#,
            r#"query:1     | Exit data.a["b c"][0] = _"#,
            r#"query:1     Redo data.a["b c"][0] = _"#,
            r#"query:1     | Redo data.a["b c"][0] = _"#,
        ])
    );
    let events = lines("/v1/data/none?explain=full");
    let ops: Vec<_> = events
        .as_array()
        .into_iter()
        .flatten()
        .map(|event| &event["op"])
        .collect();
    assert_eq!(ops, ["Enter", "Eval", "Fail"]);
}

#[test]
fn provenance_names_the_build() {
    let engine = Engine::default();
    let target = "/v1/data?provenance=true";
    let request = crate::exchange::request("GET", target, http::HeaderMap::new(), Vec::new());
    let reply = engine.respond(request);
    let answer: serde_json::Value = serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
    for name in [
        "version",
        "build_commit",
        "build_timestamp",
        "build_host",
        "build_hostname",
    ] {
        assert!(answer["provenance"][name].is_string(), "{name} in {answer}");
    }
}

/// Numbers that Rego cannot represent are refused in an input, and preserved in a document.
#[test]
fn inputs_have_numbers_to_compute_with() {
    run_script(
        r#"
        PUT /v1/data/a {"n":1e99999999} => 204
        PATCH /v1/data/a [{"op":"add","path":"m","value":1e999999999999}] => 204
        GET /v1/data/a => 200 {"result":{"m":1e999999999999,"n":1e99999999}}
        POST /v1/data/a/n {"input":{"x":1e999999999999}} => 400 invalid_parameter
        POST /v1/data/a/n {"input":[{"x":-1e99999999}]} => 400 invalid_parameter
        POST /v1/data/a/n {"input":{"x":1e-99999999}} => 400 invalid_parameter
        POST /v1/data/a/n {"input":{"x":1e30102,"y":1e-30102,"z":0e99999999}} => 200 {"result":1e99999999}
        POST /v0/data/a/n 1e99999999 => 400 invalid_parameter
        GET /v1/data/a/n?input=1e99999999 => 400 invalid_parameter
        POST /v1/query {"query":"x := 1","input":1e99999999} => 400 invalid_parameter
        POST /v1/compile {"query":"input.x == 1","input":1e99999999} => 400 invalid_parameter
        "#,
    );
}

/// Ad hoc queries have no metadata, and `with` accepts only strings as names of members.
#[test]
fn queries_without_a_place() {
    run_script(
        r#"
        POST /v1/query {"query":"x := rego.metadata.rule()"} => 200 {}
        POST /v1/query?strict-builtin-errors {"query":"x := rego.metadata.chain()"} => 200 {}
        POST /v1/query {"query":"not rego.metadata.rule()"} => 200 {"result":[{}]}
        POST /v1/compile {"query":"input.x == rego.metadata.rule()"} => 200 {"result":{}}
        POST /v1/query {"query":"x := input.l with input.l[0] as 9","input":{"l":[1]}} => 500 internal_error
        POST /v1/query {"query":"x := data.l with data.l[true] as 9"} => 500 internal_error
        POST /v1/query {"query":"x := 1 with input.l[0] as data.nothing"} => 200 {}
        POST /v1/query {"query":"x := input with input.l[\"0\"] as 9","input":{"l":[1]}} => 200 {"result":[{"x":{"l":{"0":9}}}]}
        POST /v1/query {"query":"x := {1: 2, \"1\": 3}"} => 200 {"result":[{"x":{"1":3}}]}
        POST /v1/query {"query":"x := {[1]: 2, \"[1]\": 3, {1}: 4}"} => 200 {"result":[{"x":{"[1]":4}}]}
        "#,
    );
}
