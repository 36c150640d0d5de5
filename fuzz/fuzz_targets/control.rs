//! Sends any sequence of requests to a control plane that keeps its state between inputs: each
//! connection is answered and closed, and no response is a server error.

#![no_main]

use std::cell::RefCell;

use fuzz::{Served, Table, connections};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use tempfile::TempDir;

const TOKENS: &str = "tokens:
  a: {api_key: a, scopes: [{role: administrator}]}
  o: {api_key: o, scopes: [{role: owner}]}
  s: {api_key: s, scopes: [{role: stack_owner}]}
  v: {api_key: v, scopes: [{role: viewer}]}
";

const TABLE: Table = Table {
    endpoints: &[
        "GET /v1/bundles",
        "GET /v1/bundles/*",
        "PUT /v1/bundles/*",
        "DELETE /v1/bundles/*",
        "GET /v1/bundles/*/status",
        "GET /v1/bundles/*/status/latest",
        "GET /v1/sources",
        "GET /v1/sources/*",
        "PUT /v1/sources/*",
        "DELETE /v1/sources/*",
        "GET /v1/sources/*/data/*",
        "PUT /v1/sources/*/data/*",
        "POST /v1/sources/*/data/*",
        "PUT /v1/sources/*/data/*/*",
        "DELETE /v1/sources/*/data/*",
        "GET /v1/stacks",
        "GET /v1/stacks/*",
        "PUT /v1/stacks/*",
        "DELETE /v1/stacks/*",
        "GET /v1/secrets",
        "GET /v1/secrets/*",
        "PUT /v1/secrets/*",
        "DELETE /v1/secrets/*",
        "GET /health",
        "GET /metrics",
        "GET /",
        "GET //*",
        "POST /v1/bundles/*",
    ],
    queries: &[
        "",
        "",
        "",
        "?pretty",
        "?limit=1",
        "?limit=x",
        "?cursor=a",
        "?limit=1&cursor=",
        "?%zz=%",
        "?pretty=false&limit=101",
    ],
    bodies: &[
        "{}",
        "[]",
        "null",
        "{\"a\":[1,{}]}",
        "{\"a\":{\"b\":1}}",
        "{\"object_storage\":{\"filesystem\":{\"path\":\"a\"}},\"requirements\":[{\"source\":\"a\"}]}",
        "{\"object_storage\":{\"filesystem\":{\"path\":\"b/c\"}},\"labels\":{\"a\":\"b\"},\"excluded_files\":[\"*\"],\"rebuild_interval\":\"1s\"}",
        "{\"object_storage\":{\"aws\":{\"bucket\":\"b\",\"key\":\"k\",\"region\":\"r\",\"credentials\":\"a\"}}}",
        "{\"object_storage\":{\"gcp\":{\"project\":\"p\",\"bucket\":\"b\",\"object\":\"k\"}}}",
        "{\"object_storage\":{\"azure\":{\"account_url\":\"https://h/\",\"container\":\"c\",\"path\":\"k\",\"credentials\":\"b\"}}}",
        "{\"directory\":\"a\",\"paths\":[\"*\"],\"requirements\":[{\"source\":\"b\",\"path\":\"x\",\"prefix\":\"y\"}]}",
        "{\"git\":{\"repo\":\"https://h/x\",\"reference\":\"main\",\"credentials\":\"a\"}}",
        "{\"datasources\":[{\"name\":\"d\",\"path\":\"d\",\"type\":\"http\",\"config\":{\"url\":\"http://h\"}}]}",
        "{\"datasources\":[{\"name\":\"d\",\"path\":\"d\",\"type\":\"http\",\"config\":{\"url\":\"https://h\"},\"credentials\":\"b\",\"transform_query\":\"data.t.p\"}],\"shared\":true}",
        "{\"selector\":{\"a\":[\"*\"]},\"requirements\":[{\"source\":\"a\"}]}",
        "{\"selector\":{\"a\":[\"b\"]},\"exclude_selector\":{\"c\":[]},\"requirements\":[{\"source\":\"b\",\"git\":{\"commit\":\"0\"}}]}",
        "{\"value\":{\"type\":\"token_auth\",\"token\":\"t\"}}",
        "{\"value\":{\"type\":\"aws_auth\",\"access_key_id\":\"a\",\"secret_access_key\":\"b\"},\"allowed_hosts\":[\"h\"],\"shared\":true}",
        "{\"value\":{\"type\":\"basic_auth\",\"username\":\"u\",\"password\":\"p\"}}",
        "a: [1, {b: null}]\n",
    ],
    headers: &[
        "Authorization: Bearer a",
        "Authorization: Bearer a",
        "Authorization: Bearer a",
        "Authorization: Bearer o",
        "Authorization: Bearer s",
        "Authorization: Bearer v",
        "Authorization: Bearer x",
        "Authorization: Basic eA==",
        "Idempotency-Key: a",
    ],
};

/// Collections of definitions; those that refer to others come first, to be deleted first.
const KINDS: &[&str] = &["stacks", "bundles", "sources", "secrets"];

fn start() -> (TempDir, Served) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (tokens, built, sources) = (path("tokens.yaml"), path("built"), path("sources"));
    std::fs::write(&tokens, TOKENS).unwrap();
    std::fs::create_dir(&built).unwrap();
    std::fs::create_dir(&sources).unwrap();
    let served = Served::start(&[
        "control",
        "--config",
        &tokens,
        "--database",
        "sqlite::memory:",
        "--no-builder",
        "--bundle-root",
        &built,
        "--source-root",
        &sources,
        "--allow-host",
        "h",
    ]);
    (folder, served)
}

/// Deletes all definitions.
fn clear(control: &Served) {
    let send = |line: &str, body: &str| {
        let text = format!("{line}\nAuthorization: Bearer a\n\n{body}");
        control.exchange(&connections(text.as_bytes())[0]).remove(0)
    };
    let names = |kind: &str| {
        let listed = send(&format!("GET /v1/{kind}"), "");
        let body = listed.text.split_once("\r\n\r\n").unwrap_or_default().1;
        let listed: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let listed = listed["result"].as_array().cloned().unwrap_or_default();
        listed.into_iter().map(|item| {
            // Of secrets only the names are listed.
            let name = item.as_str().or(item["name"].as_str()).unwrap_or_default();
            name.bytes()
                .map(|byte| format!("%{byte:02x}"))
                .collect::<String>()
        })
    };
    for kind in KINDS {
        let names: Vec<_> = names(kind).collect();
        // Sources may refer to each other.
        for name in names.iter().filter(|_| *kind == "sources") {
            send(&format!("PUT /v1/sources/{name}"), "{}");
        }
        for name in names {
            let response = send(&format!("DELETE /v1/{kind}/{name}"), "");
            assert_eq!(response.status, 200, "{kind} {name}: {}", response.text);
        }
    }
}

thread_local! {
    static CONTROL: RefCell<Option<(TempDir, Served)>> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    CONTROL.with_borrow_mut(|control| {
        let (_, control) = control.get_or_insert_with(start);
        clear(control);
        for connection in connections(input) {
            for answer in control.exchange(&connection) {
                // A coding that is not known is what the client does wrong.
                let is_expected = answer.status < 500 || answer.status == 501;
                assert!(
                    is_expected,
                    "{:?} was answered {}",
                    connection.lines, answer.text
                );
            }
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    fuzz::mutate(&TABLE, data, size, max_size, seed)
});
