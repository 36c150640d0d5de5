//! Source data: documents are written, read and deleted.

use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::{Case, Outcome};

const EXACT: &[&str] = &[
    "9007199254740993",
    "0.1000000000000000000055511151231257827",
    "1e400",
    "1E+2",
    "1.0",
    "-0",
    r#"{"b":[1.50,{"a":null}],"a":"\u0000\ud83d\ude00"}"#,
    "null",
    r#""text""#,
    "false",
    "[]",
];

pub(crate) const CASES: &[Case] = &[
    ("documents", |environment| {
        Box::pin(async move {
            let control = environment.open("").await?;
            run_script(&control, SCRIPT).await
        })
    }),
    ("documents-keep-their-text", keep_their_text),
];

const SCRIPT: &str = r#"
    admin PUT /v1/sources/s/data/a {} => 404 not_found source `s`
    admin GET /v1/sources/s/data/a => 404 not_found source `s`
    admin DELETE /v1/sources/s/data/a => 404 not_found source `s`
    admin PUT /v1/sources/s {} => 200 {}
    admin GET /v1/sources/s/data/a => 404 not_found no data at `a`
    admin DELETE /v1/sources/s/data/a => 404 not_found
    admin PUT /v1/sources/s/data/a {"x":1} => 200 {}
    admin POST /v1/sources/s/data/a {"x":2} => 200 {}
    admin GET /v1/sources/s/data/a => 200 {"result":{"x":2}}
    admin PUT /v1/sources/s/data/a/b [1] => 200 {}
    admin GET /v1/sources/s/data/a%2Fb => 200 {"result":[1]}
    admin GET /v1/sources/s/data/a/b/ => 200 {"result":[1]}
    admin GET /v1/sources/s/data/a => 200 {"result":{"x":2}}
    admin PUT /v1/sources/s/data/ "root" => 200 {}
    admin GET /v1/sources/s/data => 200 {"result":"root"}
    admin PUT /v1/sources/s/data/c%20d%25 1 => 200 {}
    admin GET /v1/sources/s/data/c%20d%25 => 200 {"result":1}
    admin PUT /v1/sources/s/data/%2E%2E 1 => 400 invalid_parameter
    admin PUT /v1/sources/s/data/a%00 1 => 400 invalid_parameter
    admin PUT /v1/sources/s/data/a/../b 1 => 400 invalid_parameter
    admin PUT /v1/bundles/.. {} => 400 invalid_parameter
    admin GET /v1/stacks/. => 400 invalid_parameter
    nobody PUT /v1/bundles/.. {} => 401
    admin PUT /v1/secrets/%2E%2E {"value":{"type":"token_auth","token":"t"}} => 200 {}
    admin DELETE /v1/secrets/%2E. => 200 {}
    admin PUT /v1/sources/s/data/a {"x": => 400 invalid_parameter
    admin POST /v1/sources/s/data/a => 400 invalid_parameter
    admin GET /v1/sources/s/data/a => 200 {"result":{"x":2}}
    admin GET /v1/sources/s => 200 {"result":{"name":"s"}}
    admin DELETE /v1/sources/s/data/a => 200 {}
    admin GET /v1/sources/s/data/a => 404 not_found
    # Data does not keep its source, and goes with it.
    admin DELETE /v1/sources/s => 200 {}
    admin PUT /v1/sources/s {} => 200 {}
    admin GET /v1/sources/s/data/a/b => 404 not_found
"#;

fn keep_their_text(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        run_script(&control, "admin PUT /v1/sources/s {} => 200 {}").await?;
        for document in EXACT {
            let target = "/v1/sources/s/data/d";
            send(&control, "admin", "PUT", target, format!(" {document}\n")).await?;
            let got = text(&send(&control, "admin", "GET", target, "").await?);
            let expected = format!("{{\"result\":{document}}}\n");
            if got != expected {
                return Err(format!("{expected} reads as {got}").into());
            }
        }
        let pretty = send(&control, "admin", "GET", "/v1/sources/s/data/d?pretty", "").await?;
        if text(&pretty) != "{\n  \"result\": []\n}\n" {
            return Err(format!("pretty: {}", text(&pretty)).into());
        }
        Ok(())
    })
}
