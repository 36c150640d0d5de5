//! Supported paths and methods, and the errors for all others.

use http::HeaderMap;
use http::header::{ALLOW, LOCATION};
use reference::engine::Engine;

use crate::exchange::{request, run_script};

#[test]
fn other_methods_are_refused() {
    for (line, allowed) in [
        ("HEAD /v1/data", "GET, POST, PUT, PATCH"),
        ("HEAD /v1/data/a", "GET, POST, PUT, PATCH, DELETE"),
        ("DELETE /v1/data", "GET, POST, PUT, PATCH"),
        ("OPTIONS /v1/data/a", "GET, POST, PUT, PATCH, DELETE"),
        ("TRACE /v1/data/a", "GET, POST, PUT, PATCH, DELETE"),
        ("get /v1/data/a", "GET, POST, PUT, PATCH, DELETE"),
        ("GET /v0/data/a", "POST"),
        ("PUT /v1/policies", "GET"),
        ("POST /v1/policies/a", "GET, PUT, DELETE"),
        ("PUT /v1/query", "GET, POST"),
        ("GET /v1/compile", "POST"),
        ("POST /v1/config", "GET"),
        ("DELETE /v1/status", "GET"),
        ("HEAD /health", "GET"),
        ("POST /health/live", "GET"),
        ("PUT /", "GET, POST"),
    ] {
        let (method, target) = line.split_once(' ').unwrap_or_default();
        let reply =
            Engine::default().respond(request(method, target, HeaderMap::new(), Vec::new()));
        assert_eq!(reply.status.as_u16(), 405, "{line}");
        let allow_header = reply
            .headers
            .get(ALLOW)
            .and_then(|value| value.to_str().ok());
        assert_eq!(allow_header, Some(allowed), "{line}");
    }
}

#[test]
fn other_forms_of_a_path_lead_to_it() {
    for (line, status, location) in [
        ("GET /v1/data/", 301, "/v1/data"),
        (
            "GET /v1/data/a/?pretty=true&x=a%20b",
            301,
            "/v1/data/a?pretty=true&x=a%20b",
        ),
        ("GET /health/", 301, "/health"),
        ("GET /v1/policies/", 301, "/v1/policies"),
        ("GET /v1//data?x=1", 307, "/v1/data?x=1"),
        ("GET /v1/./data", 307, "/v1/data"),
        ("GET /v1/data/../data/a", 307, "/v1/data/a"),
        ("GET /v1/data/a//", 307, "/v1/data/a/"),
        ("POST /v1/data//a", 307, "/v1/data/a"),
        ("GET //", 307, "/"),
        ("GET /../../..", 307, "/"),
        ("GET //host/v1/data", 307, "/host/v1/data"),
    ] {
        let (method, target) = line.split_once(' ').unwrap_or_default();
        let reply =
            Engine::default().respond(request(method, target, HeaderMap::new(), Vec::new()));
        let redirected_to = reply
            .headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok());
        let redirected_to = redirected_to.map(|location| location.replace("%3D", "="));
        assert_eq!(
            (reply.status.as_u16(), redirected_to.as_deref()),
            (status, Some(location)),
            "{line}"
        );
    }
}

#[test]
fn unknown_paths_are_not_found() {
    run_script(
        r"
        GET /nope => 404 404 page not found
        PUT /nope/ => 404 404 page not found
        GET /v1 => 404 404 page not found
        GET /v1/config/x => 404 404 page not found
        GET /v1/dataset => 404 404 page not found
        HEAD /nope => 404 404 page not found
        GET /v1/data/%2E%2E/x => 200 {}
        ",
    );
}

#[test]
fn what_cannot_be_done_says_so() {
    run_script(
        r#"
        GET /v1/policies => 200 {"result":[]}
        GET /v1/policies/a => 404 resource_not_found
        DELETE /v1/policies/a/b => 404 resource_not_found
        PUT /v1/policies/a package => 400 invalid_parameter
        GET /v1/query => 400 invalid_parameter
        GET /v1/query?q=x => 400 invalid_parameter
        POST /v1/query { => 400 invalid_parameter
        POST /v1/query [1] => 400 invalid_parameter
        POST /v1/query {"query":1} => 400 invalid_parameter
        POST /v1/query {"query":"x"} => 400 invalid_parameter
        POST /v1/query {"query":""} => 500 internal_error
        POST /v1/compile {} => 400 invalid_parameter
        POST /v1/compile {"query":"x"} => 400 invalid_parameter
        POST /v1/compile/a/b {} => 400 invalid_parameter
        POST /v1/compile/a/b [Accept: application/vnd.engine.sql.sqlite+json] {} => 404 resource_not_found
        GET /v1/status => 500 internal_error
        "#,
    );
}

#[test]
fn health_is_answered_from_base_documents() {
    run_script(
        r#"
        GET /health => 200 {}
        GET /health?bundles=true&plugins=true&exclude-plugin=status => 200 {}
        GET /health/live => 500 {"error":"health policy was undefined at data.system.health.live"}
        PUT /v1/data/system/health/live true => 204
        PUT /v1/data/system/health/deep {"er":1} => 204
        GET /health/live => 200 {}
        GET /health/deep/er => 500 {"error":"health policy was not true at data.system.health.deep.er"}
        PUT /v1/data/system/health/live "true" => 204
        GET /health/live => 500 {"error":"health policy was not true at data.system.health.live"}
        "#,
    );
}
