//! Member `shared`: administrators permit every owner to reference a resource.

use libtest_mimic::Failed;

use crate::environment::Environment;
use crate::transcript::run_script;
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[("sharing", sharing), ("declared-sharing", declared)];

fn sharing(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        run_script(
            &control,
            r#"
            owner PUT /v1/sources/s {"shared":true} => 403 not_authorized only an administrator
            owner GET /v1/sources/s => 404 not_found
            owner PUT /v1/sources/s {"shared":false} => 200 {}
            owner PUT /v1/secrets/k {"value":{},"shared":true} => 403 not_authorized
            owner GET /v1/secrets/k => 404 not_found
            owner PUT /v1/secrets/k {"value":{}} => 200 {}
            viewer PUT /v1/sources/s {"shared":true} => 403 not_authorized
            stacker PUT /v1/sources/t {"shared":true} => 403 not_authorized
            owner2 PUT /v1/sources/s {"shared":true} => 403 not_authorized
            owner GET /v1/sources/s => 200 {"result":{"name":"s"}}
            admin PUT /v1/sources/s {"shared":true} => 200 {}
            owner GET /v1/sources/s => 200 {"result":{"name":"s","shared":true}}
            viewer GET /v1/sources => 200 {"result":[{"name":"s","shared":true}],"next_cursor":null}
            # To refer to something is not to read it.
            owner2 GET /v1/sources/s => 404 not_found
            owner2 GET /v1/sources => 200 {"result":[],"next_cursor":null}
            owner2 GET /v1/sources/s/data/x => 403 not_authorized
            owner2 PUT /v1/sources/s {} => 403 not_authorized
            owner2 PUT /v1/bundles/b {"requirements":[{"source":"s"}]} => 200 {}
            # Its owner goes on to write it; whether it is shared is not his to say.
            owner PUT /v1/sources/s {"paths":["a"]} => 200 {}
            owner GET /v1/sources/s => 200 {"result":{"name":"s","paths":["a"],"shared":true}}
            owner PUT /v1/sources/s {"shared":true} => 200 {}
            owner PUT /v1/sources/s {"shared":false} => 403 not_authorized
            owner GET /v1/sources/s => 200 {"result":{"name":"s","shared":true}}
            owner DELETE /v1/sources/s => 409 conflict something that you may not see
            # An administrator replaces it whole.
            admin PUT /v1/sources/s {} => 200 {}
            owner GET /v1/sources/s => 200 {"result":{"name":"s"}}
            owner2 PUT /v1/bundles/b {"requirements":[{"source":"s"}]} => 422 invalid_reference
            admin PUT /v1/secrets/k {"type":"token_auth","token":"t","shared":true} => 200 {}
            owner2 PUT /v1/bundles/c {"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"k"}}} => 200 {}
            owner2 GET /v1/secrets/k => 404 not_found
            admin PUT /v1/sources/s {"shared":1} => 400 invalid_parameter shared
            admin PUT /v1/secrets/k {"value":{},"shared":"yes"} => 400 invalid_parameter shared
            "#,
        )
        .await
    })
}

fn declared(environment: Environment) -> Outcome {
    Box::pin(async move {
        let config = "
            secrets: {k: {type: token_auth, token: t, shared: true, allowed_hosts: [a.example]}, p: {type: t}}
            sources: {s: {shared: true}, q: {}}
        ";
        let control = environment.open(config).await?;
        run_script(
            &control,
            r#"
            admin GET /v1/sources/s => 200 {"result":{"name":"s","shared":true}}
            owner PUT /v1/bundles/b {"requirements":[{"source":"s"}]} => 200 {}
            owner PUT /v1/bundles/c {"requirements":[{"source":"q"}]} => 422 invalid_reference
            owner PUT /v1/bundles/c {"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"k"}}} => 200 {}
            owner PUT /v1/bundles/d {"object_storage":{"aws":{"bucket":"b","key":"d","region":"r","credentials":"p"}}} => 422 invalid_reference
            "#,
        )
        .await?;
        drop(control);
        for (config, part) in [
            ("secrets: {k: {type: t, shared: 1}}", "shared"),
            ("secrets: {k: {type: t, allowed_hosts: a}}", "allowed_hosts"),
            (
                "secrets: {k: {value: {type: t}, allowed_hosts: ['[']}}",
                "allowed_hosts",
            ),
        ] {
            let refused = environment.open(config).await;
            let message = refused
                .map(drop)
                .map_err(|failure: Failed| failure.message().unwrap_or_default().to_owned());
            match message {
                Err(message) if message.contains(part) => {}
                other => return Err(format!("{config}: {other:?}").into()),
            }
        }
        Ok(())
    })
}
