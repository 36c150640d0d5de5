//! Supported paths and methods, and the errors for all others.

use http::HeaderMap;
use http::header::{ALLOW, LOCATION};
use reference::engine::Engine;
use rstest::rstest;

use crate::exchange::{request, run_script};

#[rstest]
#[case::head_of_all_data("HEAD /v1/data", "GET, POST, PUT, PATCH")]
#[case::head_of_data("HEAD /v1/data/a", "GET, POST, PUT, PATCH, DELETE")]
#[case::delete_of_all_data("DELETE /v1/data", "GET, POST, PUT, PATCH")]
#[case::options("OPTIONS /v1/data/a", "GET, POST, PUT, PATCH, DELETE")]
#[case::trace("TRACE /v1/data/a", "GET, POST, PUT, PATCH, DELETE")]
#[case::lower_case("get /v1/data/a", "GET, POST, PUT, PATCH, DELETE")]
#[case::version_0("GET /v0/data/a", "POST")]
#[case::put_of_policies("PUT /v1/policies", "GET")]
#[case::post_of_a_policy("POST /v1/policies/a", "GET, PUT, DELETE")]
#[case::put_of_a_query("PUT /v1/query", "GET, POST")]
#[case::get_of_compile("GET /v1/compile", "POST")]
#[case::configuration("POST /v1/config", "GET")]
#[case::status("DELETE /v1/status", "GET")]
#[case::head_of_health("HEAD /health", "GET")]
#[case::post_of_health("POST /health/live", "GET")]
#[case::root("PUT /", "GET, POST")]
fn other_methods_are_refused(#[case] line: &str, #[case] allowed: &str) {
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let reply = Engine::default().respond(request(method, target, HeaderMap::new(), Vec::new()));
    assert_eq!(reply.status.as_u16(), 405);
    let allow_header = reply
        .headers
        .get(ALLOW)
        .and_then(|value| value.to_str().ok());
    assert_eq!(allow_header, Some(allowed));
}

#[rstest]
#[case::slash_at_the_end("GET /v1/data/", 301, "/v1/data")]
#[case::slash_and_parameters(
    "GET /v1/data/a/?pretty=true&x=a%20b",
    301,
    "/v1/data/a?pretty=true&x=a%20b"
)]
#[case::health("GET /health/", 301, "/health")]
#[case::policies("GET /v1/policies/", 301, "/v1/policies")]
#[case::two_slashes("GET /v1//data?x=1", 307, "/v1/data?x=1")]
#[case::dot("GET /v1/./data", 307, "/v1/data")]
#[case::parent("GET /v1/data/../data/a", 307, "/v1/data/a")]
#[case::two_slashes_at_the_end("GET /v1/data/a//", 307, "/v1/data/a/")]
#[case::two_slashes_in_a_post("POST /v1/data//a", 307, "/v1/data/a")]
#[case::two_slashes_at_the_root("GET //", 307, "/")]
#[case::parents_of_the_root("GET /../../..", 307, "/")]
#[case::two_slashes_at_the_begin("GET //host/v1/data", 307, "/host/v1/data")]
fn other_forms_of_a_path_lead_to_it(
    #[case] line: &str,
    #[case] status: u16,
    #[case] location: &str,
) {
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let reply = Engine::default().respond(request(method, target, HeaderMap::new(), Vec::new()));
    let redirected_to = reply
        .headers
        .get(LOCATION)
        .and_then(|value| value.to_str().ok());
    let redirected_to = redirected_to.map(|location| location.replace("%3D", "="));
    assert_eq!(
        (reply.status.as_u16(), redirected_to.as_deref()),
        (status, Some(location))
    );
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
