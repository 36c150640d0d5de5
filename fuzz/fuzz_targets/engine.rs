//! Sends any sequence of requests to an engine that keeps its state between inputs: each connection
//! is answered and closed, and no response is an undocumented server error.

#![no_main]

use std::cell::RefCell;

use fuzz::{Answer, Connection, Served, Table, connections};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tempfile::TempDir;

/// Authorization policy that depends on what each input sends; the administrator, who empties the
/// engine before each input, is always allowed.
const AUTHORIZATION: &str = "package system.authz
default allow := false
allow if input.identity == \"administrator\"
allow if input.method in {\"GET\", \"HEAD\"}
allow if { input.identity == \"a\"; input.path[1] == \"data\" }
allow if input.body.input.a == 1
allow if { input.path[1] == \"policies\"; input.params.pretty }
";

const TABLE: Table = Table {
    endpoints: &[
        "GET /v1/data",
        "GET /v1/data/*",
        "GET /v1/data/*/*",
        "POST /v1/data",
        "POST /v1/data/*",
        "POST /v1/data/*/*",
        "PUT /v1/data/*",
        "PUT /v1/data/*/*",
        "PUT /v1/data",
        "PATCH /v1/data",
        "PATCH /v1/data/*",
        "DELETE /v1/data/*",
        "DELETE /v1/data/*/*",
        "POST /v0/data/*",
        "POST /v0/data/*/*",
        "GET /v1/policies",
        "GET /v1/policies/*",
        "PUT /v1/policies/*",
        "PUT /v1/policies/*/*",
        "DELETE /v1/policies/*",
        "GET /v1/query",
        "POST /v1/query",
        "POST /v1/compile",
        "POST /v1/compile/*/*",
        "POST /v1/compile/t/include",
        "POST /v1/compile/t/include",
        "GET /v1/config",
        "GET /v1/status",
        "GET /health",
        "GET /health/*",
        "GET /metrics",
        "POST /",
        "GET /",
        "GET /v1/*",
        "GET //*",
    ],
    queries: &[
        "",
        "",
        "?pretty",
        "?pretty=true&metrics&explain=full",
        "?explain=notes",
        "?explain=fails",
        "?input=%7B%22a%22%3A1%7D",
        "?provenance&instrument&strict-builtin-errors",
        "?q=data.t.p",
        "?q=x%3Ddata",
        "?q=input.a%3D1",
        "?%zz=%",
        "?q=1%2F0",
        "?explain=debug&metrics=false",
        "?bundles",
        "?plugins&exclude-plugin=a",
        "?file_format=yaml",
    ],
    bodies: &[
        "{}",
        "[]",
        "null",
        "{\"input\":{\"a\":[1,{}]}}",
        "{\"a\":{\"b\":[1,2,{\"c\":null}]}}",
        "{\"input\":{\"a\":1}}",
        "{\"a\":1}",
        "package t\np := input.a\nq contains x if some x in data.a\n",
        "package t\nimport rego.v1\n# METADATA\n# scope: package\n# compile:\n#   unknowns: [input.x]\ninclude if input.x.y == data.a\n",
        "package t\ninclude if input.x.y > 1\ninclude if { startswith(input.x.z, \"a\"); not input.x.w in [1, 2] }\nmask.x.y.replace.value := \"*\"\n",
        "package system\nmain := {\"a\": input}\n",
        "package system.log\nmask contains \"/input/a\"\ndrop if input.path == \"t/q\"\n",
        "package system.health\nlive if input.plugin_state.bundle == \"OK\"\nq := true\n",
        "package t\np contains [x, y] if { some x, y in data.a; x != y }\nf(x) := x + 1\nq := f(input.a)\nq := 1\n",
        "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":1}]",
        "[{\"op\":\"remove\",\"path\":\"/a\"}]",
        "[{\"op\":\"replace\",\"path\":\"\",\"value\":{}}]",
        "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":{\"c\":[]}}]",
        "{\"query\":\"data.t.p = x\"}",
        "{\"query\":\"input.x > data.a\",\"unknowns\":[\"input\"]}",
        "{\"query\":\"data.t.q[x]\",\"input\":{\"a\":1},\"unknowns\":[\"data.a\"],\"options\":{\"disableInlining\":[\"data.t\"]}}",
        "{\"input\":{},\"options\":{\"targetSQLTableMappings\":{\"sqlite\":{\"x\":{\"$self\":\"xs\",\"y\":\"z\"}}}}}",
        "{\"input\":{\"a\":1},\"unknowns\":[\"input.x\"],\"options\":{\"targetDialects\":[\"ucast+all\",\"sql+postgresql\"],\"maskRule\":\"data.t.mask\"}}",
        "input: &a [*a]\n",
        "input: {a: b}\n",
        "a: [1, {b: null}]\n",
    ],
    headers: &[
        "Authorization: Bearer a",
        "Authorization: Bearer administrator",
        "Authorization: Basic eA==",
        "Content-Type: application/json-patch+json",
        "Content-Type: text/plain",
        "Accept: application/vnd.engine.multitarget+json",
        "Accept: application/vnd.engine.ucast.all+json",
        "Accept: application/vnd.engine.ucast.prisma+json",
        "Accept: application/vnd.engine.sql.sqlite+json",
        "Accept: application/vnd.engine.sql.postgresql+json",
        "Accept: application/vnd.engine.sql.sqlserver+json",
        "Accept: application/vnd.engine.sql.mysql+json",
        "Accept: application/vnd.engine.ucast.minimal+json",
        "Accept: application/vnd.engine.ucast.linq+json",
        "Accept: application/yaml",
    ],
};

/// Flags of every engine: they limit the time and memory of evaluations, and enable decision logs,
/// which the policies of an input may filter.
const ARGUMENTS: &[&str] = &[
    "engine",
    "--set",
    "decision_logs.console=true",
    "--set",
    "status.console=true",
    "--evaluation-timeout",
    "2s",
    "--evaluation-values",
    "1000000",
    "--evaluation-memory",
    "256MiB",
];

/// One engine that allows every request, and one that asks an authorization policy.
#[derive(Default)]
struct Engines {
    open: Option<Served>,
    guarded: Option<(TempDir, Served)>,
}

impl Engines {
    fn get(&mut self, guarded: bool) -> &Served {
        match guarded {
            false => self.open.get_or_insert_with(|| Served::start(ARGUMENTS)),
            true => &self.guarded.get_or_insert_with(start_guarded).1,
        }
    }

    /// Returns the engine without the documents and policies of earlier inputs. If these policies
    /// prevent the administrator from emptying it, a new engine replaces it.
    fn get_cleared(&mut self, guarded: bool) -> &Served {
        if !clear(self.get(guarded)) {
            assert!(guarded, "the engine cannot be emptied");
            self.guarded = None;
        }
        self.get(guarded)
    }
}

fn start_guarded() -> (TempDir, Served) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept.rego");
    std::fs::write(&file, AUTHORIZATION).unwrap();
    let file = file.display().to_string();
    let extra = [
        "--authentication",
        "token",
        "--authorization",
        "basic",
        &file,
    ];
    let arguments: Vec<_> = ARGUMENTS.iter().copied().chain(extra).collect();
    (folder, Served::start(&arguments))
}

/// Deletes all policies and documents; returns whether that succeeded.
fn clear(engine: &Served) -> bool {
    let send = |line: &str, body: &str| {
        let text = format!("{line}\nAuthorization: Bearer administrator\n\n{body}");
        let sent = connections(text.as_bytes());
        sent.first()
            .and_then(|sent| engine.exchange(sent).into_iter().next())
    };
    // One policy may stay until the other that calls it has gone.
    for _ in 0..8 {
        let Some(listed) = send("GET /v1/policies", "") else {
            return false;
        };
        let ids = ids(&listed);
        if ids.is_empty() {
            let response = send("PUT /v1/data", "{\"a\":{\"b\":[1,2,{\"c\":null}]}}");
            return response.is_some_and(|answer| answer.status == 204);
        }
        for id in ids {
            let id: String = id.bytes().map(|byte| format!("%{byte:02x}")).collect();
            send(&format!("DELETE /v1/policies/{id}"), "");
        }
    }
    false
}

/// Returns the ids in a list of policies, except that of `kept.rego`.
fn ids(listed: &Answer) -> Vec<String> {
    let body = listed.text.split_once("\r\n\r\n").unwrap_or_default().1;
    let listed: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let policies = listed["result"].as_array().into_iter().flatten();
    let ids = policies.filter_map(|policy| policy["id"].as_str());
    ids.filter(|id| !id.ends_with("kept.rego"))
        .map(str::to_owned)
        .collect()
}

/// Substrings of documented responses with status 500: errors and timeouts of policies, false
/// health rules, and a few requests to which the real OPA responds with 500, too.
const DOCUMENTED: &[&str] = &[
    "\"eval_conflict_error\"",
    "\"eval_builtin_error\"",
    "\"eval_type_error\"",
    "\"eval_with_merge_error\"",
    "\"eval_cancel_error\"",
    "made too many values",
    "health policy was",
    "unable to perform evaluation",
    "cannot evaluate empty query",
    "`disableInlining`",
    "document missing or undefined",
];

/// Whether the response is not a server error, or a documented one.
fn is_documented(answer: &Answer) -> bool {
    match answer.status {
        500 => DOCUMENTED.iter().any(|words| answer.text.contains(words)),
        503 => answer.text.contains("the client closed the connection"),
        501 => true,
        status => status < 500,
    }
}

thread_local! {
    static ENGINES: RefCell<Engines> = RefCell::default();
}

fn run(input: &[u8]) {
    let guarded = input.strip_prefix(b"@\n");
    let connections = connections(guarded.unwrap_or(input));
    ENGINES.with_borrow_mut(|engines| {
        let engine = engines.get_cleared(guarded.is_some());
        for connection in &connections {
            check(connection, &engine.exchange(connection));
        }
    });
}

fn check(connection: &Connection, answers: &[Answer]) {
    for answer in answers {
        assert!(
            is_documented(answer),
            "{:?} was answered {}",
            connection.lines,
            answer.text
        );
    }
}

fuzz_target!(|input: &[u8]| {
    // References to other servers are not part of the input.
    let calls = |name: &[u8]| input.windows(name.len()).any(|part| part == name);
    if !calls(b"http.send") && !calls(b"net.lookup") {
        run(input);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    fuzz::mutate(&TABLE, data, size, max_size, seed)
});
