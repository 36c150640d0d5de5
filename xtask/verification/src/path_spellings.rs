//! Compares the paths that the authorization policies of the engine and of OPA get, and their
//! decisions, for every route and spelling of a path.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::cargo::cargo;
use crate::command::complete;
use crate::release_build::PACKAGES;
use crate::servers::{Client, Server};
use crate::{real_opa, report, root};

/// Methods and paths of all routes; `A` and `B` are segments with many spellings.
const ROUTES: &[(&str, &str)] = &[
    ("GET", "/v1/data/A/B"),
    ("POST", "/v1/data/A/B"),
    ("PUT", "/v1/data/A/B"),
    ("PATCH", "/v1/data/A/B"),
    ("DELETE", "/v1/data/A/B"),
    ("POST", "/v0/data/A/B"),
    ("GET", "/v1/policies/A/B"),
    ("PUT", "/v1/policies/A/B"),
    ("DELETE", "/v1/policies/A/B"),
    ("POST", "/v1/compile/A/B"),
    ("GET", "/health/A/B"),
    ("GET", "/v1/nowhere/A/B"),
];

/// Spellings of the path after the last literal segment of a route, including the slash.
const SPELLINGS: &[&str] = &[
    "/a/b",
    "/a%2Fb",
    "/a%2fb",
    "/a%252Fb",
    "/a%25252Fb",
    "//a/b",
    "/a//b",
    "/./a/b",
    "/a/./b",
    "/x/../a/b",
    "/a/../../a/b",
    "/a%2F%2E%2E%2Fb",
    "/%2E/a/b",
    "/%2e%2e/a/b",
    "/a/b/",
    "/a/b%2F",
    "/a%2F%2Fb",
    "%2Fa/b",
    "/a;x/b",
    "/a;/b",
    "/a+b",
    "/a%20b",
    "/%61/%62",
    "/%61%2F%62",
    "/A/b",
    "/a%00/b",
    "/a/b%00",
    "/a%3Fb",
    "/a%23b",
    "/a%5Cb",
    "/a/b?x=%2F",
    "/a/b?",
    "/a/b%",
    "/a/b%2",
    "/a/b%zz",
    "/%ff/b",
    "/a%c0%afb",
    "/a%C3%A9/b",
    "/a%ed%a0%80/b",
    "/a\"/b",
    "/a<>/b",
    "/a`/b",
    "/aé/b",
    "/a#/b",
    "/a/b#",
    "/a/b#/c",
    "/a/b?x=\"<#>`é",
    "/#/a/b",
];

/// Other spellings of whole targets: a prefix of the path, and a replacement in it.
const TARGETS: &[(&str, &str, &str)] = &[
    ("", "/v1/", "/v1%2F"),
    ("", "/v1/", "/V1/"),
    ("", "/v1/", "/%761/"),
    ("", "/v1/", "//v1/"),
    ("", "/v1/", "/./v1/"),
    ("", "/v1/", "/x/../v1/"),
    ("", "data", "dat%61"),
    ("", "policies", "polici%65s"),
    ("", "compile", "%63ompile"),
    ("http://elsewhere.example", "/v1/", "/v1/"),
    ("http://elsewhere.example:1", "/v1/", "/v1/"),
];

/// Policy whose decision has the input path as its reason. It always allows health requests, to
/// detect when a server is ready.
const SHOWN: &str = r#"package system.authz

allow if input.path == ["health"]

allow := {"allowed": false, "reason": json.marshal(input.path)} if input.path != ["health"]
"#;

/// Policy that denies paths that end with the segments `a` and `b`, and allows all others.
const FORBIDS: &str = r#"package system.authz

default allow := true

allow := false if array.slice(input.path, count(input.path) - 2, count(input.path)) == ["a", "b"]
"#;

/// Policy that allows these paths and health requests, and denies all others.
const PERMITS: &str = r#"package system.authz

default allow := false

allow if array.slice(input.path, count(input.path) - 2, count(input.path)) == ["a", "b"]

allow if input.path == ["health"]
"#;

/// Known difference between both servers, with its reason.
struct KnownDifference {
    /// Substring of the request targets that the reason applies to.
    part: &'static str,
    /// Prefixes of our results that the reason explains.
    ours: &'static [&'static str],
    /// The only result of OPA that the reason explains; none if it explains any.
    theirs: Option<&'static str>,
}

/// Returns the difference for targets that are not UTF-8: our engine responds with 400 without
/// evaluating a policy.
const fn not_utf8(part: &'static str) -> KnownDifference {
    KnownDifference {
        part,
        ours: &["400"],
        theirs: None,
    }
}

const KNOWN: &[KnownDifference] = &[
    not_utf8("%ff"),
    not_utf8("%c0%af"),
    not_utf8("%ed%a0%80"),
    // The policy decides before a client learns of another form of a path.
    KnownDifference {
        part: "/a/b/",
        ours: &["refused"],
        theirs: Some("redirect"),
    },
    // A path without a route has no other form.
    KnownDifference {
        part: "/v1/nowhere/a/b/",
        ours: &["let through"],
        theirs: Some("redirect"),
    },
    // An escaped trailing slash is part of the last segment.
    KnownDifference {
        part: "/a/b%2F",
        ours: &["refused", "let through"],
        theirs: Some("redirect"),
    },
];

impl KnownDifference {
    fn explains(&self, target: &str, ours: &str, theirs: &str) -> bool {
        target.contains(self.part)
            && self.ours.iter().any(|start| ours.starts_with(start))
            && self.theirs.is_none_or(|only| only == theirs)
    }
}

/// Sends both servers every route in every spelling under each policy.
///
/// # Errors
/// When a server does not start, or results differ without a reason; reports every difference.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let opa = real_opa::build()?;
    complete(cargo().current_dir(root()).arg("build").args(PACKAGES))?;
    let reference = root().join("target/debug/reference");
    let requests = requests();
    let mut differences = Vec::new();
    let mut known = 0;
    for policy in [SHOWN, FORBIDS, PERMITS] {
        let theirs = answers(&opa, real_opa::SERVE, policy, &requests)?;
        let ours = answers(&reference, &["engine"], policy, &requests)?;
        for (request, (ours, theirs)) in requests.iter().zip(ours.iter().zip(&theirs)) {
            let (method, target) = request;
            let has_reason = || {
                KNOWN
                    .iter()
                    .any(|known| known.explains(target, ours, theirs))
            };
            if ours == theirs {
                continue;
            } else if has_reason() {
                known += 1;
            } else {
                differences.push(format!("{method} {target}: ours {ours}, OPA {theirs}"));
            }
        }
    }
    for difference in &differences {
        report("differs", difference);
    }
    let request_count = 3 * requests.len();
    report(
        "asked",
        &format!("{request_count} requests, {known} differ for a reason"),
    );
    match differences.len() {
        0 => Ok(()),
        count => Err(format!("{count} requests are judged otherwise than by OPA").into()),
    }
}

fn requests() -> Vec<(&'static str, String)> {
    let mut requests = Vec::new();
    for (method, route) in ROUTES {
        let spelled = SPELLINGS.iter().map(|end| route.replace("/A/B", end));
        let path = route.replace("/A/B", "/a/b");
        let targets = TARGETS.iter().filter(|(_, from, _)| path.contains(from));
        let targets =
            targets.map(|(before, from, to)| format!("{before}{}", path.replacen(from, to, 1)));
        requests.extend(spelled.chain(targets).map(|target| (*method, target)));
    }
    requests
}

/// Returns the result of each request: its status, and the path in the policy's reason.
fn answers(
    program: &Path,
    arguments: &[&str],
    policy: &str,
    requests: &[(&str, String)],
) -> Result<Vec<String>, Box<dyn Error>> {
    let folder = TempDir::new()?;
    let file = folder.path().join("authz.rego");
    fs::write(&file, policy)?;
    let file = file.display().to_string();
    let arguments = [arguments, &["--authorization=basic", &file]].concat();
    let server = Server::start(program, &arguments, folder.path())?;
    let mut answers = Vec::new();
    for (method, target) in requests {
        // A request may close its connection.
        let mut client: Client = server.client()?;
        let answer = client.exchange(&Client::request(method, target, body(method, target)));
        answers.push(match answer {
            Ok(status) => format_answer(status, client.body()),
            Err(_) => "closed".to_owned(),
        });
    }
    Ok(answers)
}

/// Returns a valid body for the route, so that a permitted request has an effect.
fn body(method: &str, target: &str) -> &'static str {
    match method {
        "PUT" if target.contains("olici") => "package q",
        "PUT" => "1",
        "PATCH" => "[]",
        "POST" => "{}",
        _ => "",
    }
}

/// Formats whether the policy permitted a request. The handler's response does not matter, except
/// for redirects and invalid targets, which never reach a handler.
fn format_answer(status: u16, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = body
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match status {
        401 => format!("refused {message}"),
        301 | 307 | 308 => "redirect".to_owned(),
        400 if message.is_empty() || message.starts_with("invalid escape") => "400".to_owned(),
        _ => "let through".to_owned(),
    }
}
