//! The embedded documents compile, and each kind of finding is found.

use rstest::rstest;

use super::*;

fn contract() -> &'static Contract {
    match Contract::embedded() {
        Ok(contract) => contract,
        Err(error) => unreachable!("{error}"),
    }
}

fn headers(content_type: &str) -> Vec<(String, String)> {
    match content_type {
        "" => Vec::new(),
        _ => vec![("Content-Type".to_owned(), content_type.to_owned())],
    }
}

#[test]
fn requests_outside_the_contract_are_found() {
    let json = "application/json";
    for (api, request, content_type, body, expected) in [
        (Document::Engine, "GET /v1/data/a", "", "", None),
        (
            Document::Engine,
            "GET /v1/data/a/b/c?pretty=true",
            "",
            "",
            None,
        ),
        (
            Document::Engine,
            "GET /v1/data/a?metrics=maybe",
            "",
            "",
            Some("metrics: \"maybe\" is not"),
        ),
        (
            Document::Engine,
            "GET /v1/data/a?speed=1",
            "",
            "",
            Some("no query parameter `speed`"),
        ),
        (
            Document::Engine,
            "GET /v1/query",
            "",
            "",
            Some("`q` is required"),
        ),
        (
            Document::Engine,
            "GET /v1/query?q=true&q=false",
            "",
            "",
            Some("`q` is given 2 times"),
        ),
        (
            Document::Engine,
            "GET /v2/data",
            "",
            "",
            Some("is not in specs/engine.openapi.yaml"),
        ),
        (
            Document::Engine,
            "PUT /v1/data/a",
            json,
            "{",
            Some("the body is not JSON"),
        ),
        (
            Document::Engine,
            "PUT /v1/data/a",
            json,
            "",
            Some("a body is required"),
        ),
        (
            Document::Engine,
            "PUT /v1/data/a",
            "text/csv",
            "1",
            Some("media type `text/csv`"),
        ),
        (
            Document::Engine,
            "PATCH /v1/data/a",
            "application/json-patch+json",
            "{}",
            Some("body: "),
        ),
        (
            Document::Engine,
            "GET /v1/data/a",
            json,
            "{}",
            Some("no body is documented"),
        ),
        (
            Document::Control,
            "GET /v1/bundles?limit=5&pretty",
            "",
            "",
            None,
        ),
        (
            Document::Control,
            "GET /v1/bundles?limit=500",
            "",
            "",
            Some("limit: 500 is greater"),
        ),
        (
            Document::Control,
            "GET /v1/bundles/a/b",
            "",
            "",
            Some("is not in specs/control"),
        ),
        (Document::Control, "PUT /v1/bundles/a%2Fb", json, "{}", None),
        (
            Document::Control,
            "PUT /v1/bundles/a",
            json,
            "[]",
            Some("body: [] is not of type"),
        ),
    ] {
        let (method, target) = request.split_once(' ').unwrap_or_default();
        let headers = headers(content_type);
        let message = Message {
            headers: &headers,
            body: body.as_bytes(),
        };
        let finding = contract().check_request(api, method, target, message);
        match expected {
            None => assert_eq!(finding, None, "{request}"),
            Some(part) => {
                let finding = finding.unwrap_or_default();
                assert!(
                    finding.contains(part),
                    "{request}: expected {part:?}, got {finding:?}"
                );
            }
        }
    }
}

#[test]
fn answers_outside_the_contract_are_found() {
    let json = "application/json; charset=utf-8";
    let ucast = "application/vnd.opa.ucast.all+json";
    for (api, request, status, content_type, body, expected) in [
        (
            Document::Engine,
            "GET /v1/data/a",
            200,
            json,
            r#"{"result": 1}"#,
            None,
        ),
        (
            Document::Engine,
            "GET /v1/data/a",
            200,
            json,
            "[]",
            Some("body: [] is not of type"),
        ),
        (
            Document::Engine,
            "GET /v1/data/a",
            200,
            json,
            "",
            Some("the body is not JSON"),
        ),
        (
            Document::Control,
            "GET /v1/stacks",
            200,
            "",
            "{}",
            Some("no Content-Type"),
        ),
        // The engine's document names no media type for this response.
        (Document::Engine, "GET /v1/data/a", 200, "", "{}", None),
        (
            Document::Engine,
            "GET /v1/data/a",
            301,
            "",
            "",
            Some("the status is not documented"),
        ),
        (
            Document::Engine,
            "GET /v1/data/a",
            400,
            json,
            "{}",
            Some("\"code\" is a required property"),
        ),
        (Document::Engine, "GET /v2/data", 999, "", "?", None),
        (
            Document::Engine,
            "POST /v1/compile/a",
            200,
            ucast,
            "{}",
            None,
        ),
        (
            Document::Engine,
            "POST /v1/compile/a",
            200,
            "application/vnd.x.y",
            "",
            Some("media type"),
        ),
        (Document::Control, "GET /health", 200, json, "{}", None),
        (
            Document::Control,
            "GET /v1/stacks",
            200,
            json,
            "{}",
            Some("\"result\" is a required"),
        ),
        (
            Document::Control,
            "GET /v1/stacks",
            401,
            "text/plain",
            "Unauthorized\n",
            None,
        ),
    ] {
        let (method, target) = request.split_once(' ').unwrap_or_default();
        let headers = headers(content_type);
        let message = Message {
            headers: &headers,
            body: body.as_bytes(),
        };
        let finding = contract().check_response(api, method, target, status, "opa", message);
        match expected {
            None => assert_eq!(finding, None, "{request} {status}"),
            Some(part) => {
                let finding = finding.map(|finding| finding.what).unwrap_or_default();
                assert!(
                    finding.contains(part),
                    "{request}: expected {part:?}, got {finding:?}"
                );
            }
        }
    }
}

#[test]
fn a_gzip_body_is_read_through_its_encoding() {
    let headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("content-encoding".to_owned(), "gzip".to_owned()),
    ];
    let message = Message {
        headers: &headers,
        body: b"{}",
    };
    let finding = contract().check_response(
        Document::Engine,
        "GET",
        "/v1/data/a",
        200,
        "engine",
        message,
    );
    let what = finding.map(|finding| finding.what);
    assert!(what.unwrap_or_default().contains("the body is not gzip"));
}

#[test]
fn a_wrong_status_comes_with_those_that_are_documented() {
    for (request, status, body, documented) in [
        ("GET /v1/data/a", 404, "{}", &[200, 400, 401, 403, 500][..]),
        ("PUT /v1/data/a", 200, "", &[204, 304]),
        ("PUT /v1/data/a", 200, "[]", &[]),
        (
            "DELETE /v1/policies/a",
            204,
            "",
            &[200, 400, 401, 403, 404, 500],
        ),
        ("GET /v1/data/a", 200, "", &[]),
        ("GET /v1/data/a", 400, "", &[]),
    ] {
        let (method, target) = request.split_once(' ').unwrap_or_default();
        let headers = headers("application/json");
        let message = Message {
            headers: &headers,
            body: body.as_bytes(),
        };
        let finding =
            contract().check_response(Document::Engine, method, target, status, "opa", message);
        let found = finding.map(|finding| (finding.status, finding.documented));
        assert_eq!(found, Some((status, documented.to_vec())), "{request}");
    }
}

#[rstest]
#[case::of_the_target(
    "Application/VND.opa.ucast.all+json",
    "application/vnd.engine.ucast.all+json"
)]
#[case::of_another("application/vnd.other.all+json", "application/vnd.other.all+json")]
#[case::parameters("text/plain; charset=utf-8", "text/plain")]
fn the_vendor_of_a_media_type_is_the_targets(#[case] value: &str, #[case] expected: &str) {
    assert_eq!(media_type(value, "opa"), expected);
}
