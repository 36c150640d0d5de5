//! Facts that expectations derive from responses.

use super::*;
use crate::scenario::*;
use bytes::Bytes;
use rstest::rstest;

const NS: &str = "c1-x-2";

fn check(status_code: u16, content: &str, body: &str, cases: &[(Expectation, &str)]) {
    let answer = Answer::new(
        status_code,
        vec![("content-type".to_owned(), content.to_owned())],
        Bytes::copy_from_slice(body.as_bytes()),
    );
    let captures = Captures::from([("seen", "c1-x-2".to_owned())]);
    let view = View {
        answer: &answer,
        ns: NS,
        vendor: "opa",
        captures: &captures,
    };
    for (expectation, line) in cases {
        let Fact { key, value } = view.fact(expectation);
        assert_eq!(format!("{key} = {value}"), *line, "{expectation:?}");
    }
}

#[test]
fn facts_of_a_json_answer() {
    let body = r#"{"result": ["c1-x-2-b", {"name": "c1-x-2-a"}, {"id": "c9-other"}, 1.0],
                   "modules": [{"id": "c1-x-2-p"}, {"id": "c9"}],
                   "n": null, "s": "c1-x-2", "i": 3, "o": {}, "c1-x-2": 1}"#;
    check(
        200,
        "application/vnd.opa.sql+json; charset=utf-8",
        body,
        &[
            (status(), "status = 200"),
            (status_among(&[200, 204]), "status = <200 or 204>"),
            (status_among(&[204]), "status = 200"),
            (success(), "status = <success>"),
            (error(), "status = 200"),
            (media_type(), "media-type = application/vnd.engine.sql+json"),
            (header("Allow"), "header Allow = <absent>"),
            (at("/s"), r#"/s = "<ns>""#),
            (at("/{ns}"), "/<ns> = 1"),
            (at("/none"), "/none = <absent>"),
            (other_than("/i", "seen"), "/i = <other than seen>"),
            (other_than("/s", "seen"), r#"/s = "<ns>""#),
            (other_than("/none", "seen"), "/none = <absent>"),
            (holds("", json!("{seen}")), r#"body = <holds "<seen>">"#),
            (bindings("/modules", &["n"]), "bindings /modules = [{},{}]"),
            (at("/result/3"), "/result/3 = 1"),
            (kind("/i", Kind::Integer), "/i = <integer>"),
            (kind("/result/3", Kind::Integer), "/result/3 = <integer>"),
            (
                kind_among("/n", &[Kind::String, Kind::Null]),
                "/n = <string or null>",
            ),
            (kind("/n", Kind::String), "/n = null"),
            (
                each("/result/*", Kind::String),
                r#"each /result/* = {"name":"<ns>-a"}"#,
            ),
            (each("/s*", Kind::String), "each /s* = <string>"),
            (each("/x*", Kind::String), "each /x* = <absent>"),
            (lacks("/none"), "/none = <absent>"),
            (lacks("/n"), "/n = null"),
            (unset("/o"), "/o = <unset>"),
            (unset("/none"), "/none = <unset>"),
            (unset("/i"), "/i = 3"),
            (names("/result"), r#"names /result = ["<ns>-a","<ns>-b"]"#),
            (names("/modules"), r#"names /modules = ["<ns>-p"]"#),
            (length("/result"), "length /result = 4"),
            (at_most("/result", 4), "length /result = <at most 4>"),
            (at_most("/result", 3), "length /result = 4"),
            (length("/o"), "length /o = <no array: {}>"),
            (
                includes("/result", json!({"name": "{ns}-a"})),
                r#"/result = <includes {"name":"<ns>-a"}>"#,
            ),
            (
                sorted("/result"),
                r#"sorted /result = ["<ns>-b",1,{"id":"c9-other"},{"name":"<ns>-a"}]"#,
            ),
            (without("hidden-{ns}"), r#"body = <without "hidden-<ns>">"#),
            (without("{ns}"), r#"body = <holds "<ns>">"#),
            (mentions("OTHER"), r#"body = <mentions "OTHER">"#),
            (
                holds("", json!({"name": "{ns}-a"})),
                r#"body = <holds {"name":"<ns>-a"}>"#,
            ),
            (
                holds("/modules", json!("c8")),
                r#"/modules = [{"id":"<ns>-p"},{"id":"c9"}]"#,
            ),
            (holds("/none", json!(1)), "/none = <absent>"),
            (
                part("", json!({"i": 3, "result": [{"name": "{ns}-a"}, 1.0]})),
                r#"body = <has {"i":3,"result":[{"name":"<ns>-a"},1]}>"#,
            ),
            (
                part("/modules", json!([{"id": "c9"}, {"id": "{ns}-p"}])),
                r#"/modules = [{"id":"<ns>-p"},{"id":"c9"}]"#,
            ),
            (
                part("/modules/1", json!({"id": "c9", "raw": ""})),
                r#"/modules/1 = {"id":"c9"}"#,
            ),
            (pretty(), "pretty = true"),
            (
                either([
                    alternative("refused", [Check::Status(400)]),
                    alternative(
                        "a page",
                        [
                            Check::StatusFrom(200, 299),
                            Check::AtMost("/result".into(), 4),
                        ],
                    ),
                ]),
                "answer = <refused or a page>",
            ),
        ],
    );
}

#[rstest]
#[case::filled(vec![1, 2, 1], "<filled>")]
#[case::empty_first_page(vec![0, 1], "<filled>")]
#[case::empty_last_page(vec![1, 1, 0], "<page 2 of 2 is empty>")]
#[case::one_page(vec![3], "<none>")]
#[case::no_page(vec![], "<none>")]
fn pages_behind_cursors_are_there_and_filled(#[case] pages: Vec<usize>, #[case] line: &str) {
    let answer = Answer::default().joined(String::new(), json!({}), pages);
    let view = View {
        answer: &answer,
        ns: NS,
        vendor: "opa",
        captures: &Captures::new(),
    };
    assert_eq!(view.fact(&filled_pages()).value, line);
}

#[rstest]
#[case::no_wait(0.0, 0.0, "<at most half of the wait>")]
#[case::short(200.0, 200.0, "<at most half of the wait>")]
#[case::long(400.0, 400.0, "<400 of 400 ms>")]
#[case::part_of_a_long_wait(400.0, 900.0, "<at most half of the wait>")]
#[case::long_part(2500.0, 3000.0, "<2500 of 3000 ms>")]
fn an_answer_may_take_half_of_the_wait(
    #[case] longest: f64,
    #[case] whole: f64,
    #[case] line: &str,
) {
    let mut answer = Answer::default();
    answer.wait = Wait { longest, whole };
    let view = View {
        answer: &answer,
        ns: NS,
        vendor: "opa",
        captures: &Captures::new(),
    };
    assert_eq!(view.fact(&no_long_answer()).value, line);
}

#[rstest]
#[case::identity("identity", "<absent>")]
#[case::identity_twice("Identity, identity", "<absent>")]
#[case::another("GZIP", "gzip")]
#[case::identity_and_another("gzip, identity", "gzip")]
fn the_coding_identity_is_none(#[case] coding: &str, #[case] line: &str) {
    let headers = vec![("Content-Encoding".to_owned(), coding.to_owned())];
    let answer = Answer::new(200, headers, Bytes::new());
    let view = View {
        answer: &answer,
        ns: NS,
        vendor: "opa",
        captures: &Captures::new(),
    };
    assert_eq!(view.fact(&header("content-encoding")).value, line);
}

#[test]
fn facts_of_other_answers() {
    check(
        401,
        "text/plain; charset=utf-8",
        "Unauthorized\n",
        &[
            (text(), r#"text = "Unauthorized""#),
            (error(), "status = <error>"),
            (mentions("parse"), r#"body = "Unauthorized\n""#),
            (lacks("/code"), "/code = <absent>"),
            (at("/code"), r#"/code = <not JSON: "Unauthorized\n">"#),
            (unset("/code"), r#"/code = <not JSON: "Unauthorized\n">"#),
            (no_body(), r#"body = "Unauthorized\n""#),
            (pretty(), r#"pretty = <status 401, "Unauthorized\n">"#),
            (
                either([alternative("refused", [Check::Status(400)])]),
                r#"answer = status 401, "Unauthorized\n""#,
            ),
        ],
    );
    check(
        204,
        "",
        "",
        &[
            (no_body(), "body = <empty>"),
            (at("/x"), "/x = <no body>"),
            (text(), r#"text = """#),
        ],
    );
}
