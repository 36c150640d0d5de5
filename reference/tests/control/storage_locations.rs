//! Storage locations: no two bundles have the same location.

use std::sync::Arc;

use libtest_mimic::Failed;
use reference::control::Control;
use serde_json::Value;

use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::workers::{documents, eventually, open, status, storage, wait_for_content};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("a-place-belongs-to-one-bundle", one_bundle),
    ("places-come-free", come_free),
    ("racers-for-a-place", racers),
    ("a-crowd-that-moves", crowd),
    ("declared-places", declared),
    ("old-databases-with-a-place-twice", old_database),
    ("links-that-are-made-later", later_links),
    ("owners-have-a-prefix", prefix),
];

/// Two storages, and true if they are the same location. `ROOT` is the operator's bundle folder, in
/// which the link `link` points to `real`.
const PAIRS: &[(&str, &str, bool)] = &[
    (
        r#"{"filesystem":{"path":"good.tgz"}}"#,
        r#"{"filesystem":{"path":"good.tgz"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"good.tgz"}}"#,
        r#"{"filesystem":{"path":"ROOT/./good.tgz"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"good.tgz"}}"#,
        r#"{"filesystem":{"path":"GOOD.tgz"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"good.tgz"}}"#,
        r#"{"filesystem":{"path":"good%2Etgz"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"real/x"}}"#,
        r#"{"filesystem":{"path":"link/x"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"real/new/x"}}"#,
        r#"{"filesystem":{"path":"link/new/x"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"real/x"}}"#,
        r#"{"filesystem":{"path":"real/y"}}"#,
        false,
    ),
    // The first path would have to be both a file and a folder.
    (
        r#"{"filesystem":{"path":"loc"}}"#,
        r#"{"filesystem":{"path":"loc/x"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"link/loc/a/x"}}"#,
        r#"{"filesystem":{"path":"ROOT/real/LOC"}}"#,
        true,
    ),
    (
        r#"{"filesystem":{"path":"loc"}}"#,
        r#"{"filesystem":{"path":"location/x"}}"#,
        false,
    ),
    (
        r#"{"aws":{"bucket":"b","key":"k","region":"r"}}"#,
        r#"{"aws":{"bucket":"b","key":"k/x","region":"r"}}"#,
        false,
    ),
    (
        r#"{"aws":{"bucket":"b","key":"k/x","region":"r"}}"#,
        r#"{"aws":{"bucket":"b","key":"/k/x","region":"s","url":"https://s3.s.amazonaws.com"}}"#,
        true,
    ),
    (
        r#"{"aws":{"bucket":"b","key":"k/x","region":"r"}}"#,
        r#"{"aws":{"bucket":"k","key":"x","region":"r","url":"https://b.s3.r.amazonaws.com"}}"#,
        true,
    ),
    (
        r#"{"aws":{"bucket":"b","key":"k/x","region":"r"}}"#,
        r#"{"aws":{"bucket":"b","key":"K/x","region":"r"}}"#,
        false,
    ),
    (
        r#"{"aws":{"bucket":"b","key":"x","region":"r","url":"http://127.0.0.1:9000"}}"#,
        r#"{"aws":{"bucket":"b","key":"x","region":"r","url":"http://localhost:9000/"}}"#,
        true,
    ),
    (
        r#"{"gcp":{"project":"p","bucket":"b","object":"o/x"}}"#,
        r#"{"gcp":{"project":"q","bucket":"b","object":"o%2Fx"}}"#,
        true,
    ),
    (
        r#"{"gcp":{"project":"p","bucket":"b","object":"o"}}"#,
        r#"{"gcp":{"project":"p","bucket":"c","object":"o"}}"#,
        false,
    ),
    (
        r#"{"azure":{"account_url":"https://a.example","container":"c","path":"x"}}"#,
        r#"{"azure":{"account_url":"https://A.example:443/","container":"C","path":"x"}}"#,
        true,
    ),
    (
        r#"{"azure":{"account_url":"https://a.example","container":"c","path":"x"}}"#,
        r#"{"azure":{"account_url":"https://b.example","container":"c","path":"x"}}"#,
        false,
    ),
];

fn one_bundle(environment: Environment) -> Outcome {
    Box::pin(async move {
        let root = storage(&environment)?;
        std::fs::create_dir(root.join("real"))?;
        std::os::unix::fs::symlink("real", root.join("link"))?;
        let control = open(&environment, &[]).await?;
        for (first, second, same) in PAIRS {
            let root = root.to_string_lossy();
            let [first, second] = [first, second].map(|text| text.replace("ROOT", &root));
            let answers = match same {
                true => [
                    "409 conflict that another bundle has",
                    "409 conflict that bundle `first` has",
                ],
                false => ["200 {}", "200 {}"],
            };
            let [foreign, seen] = answers;
            let script = format!(
                r#"
                owner PUT /v1/bundles/first {{"object_storage":{first}}} => 200 {{}}
                owner2 PUT /v1/bundles/second {{"object_storage":{second}}} => {foreign}
                admin DELETE /v1/bundles/second => {left}
                owner PUT /v1/bundles/second {{"object_storage":{second}}} => {seen}
                admin PUT /v1/bundles/second {{"object_storage":{second}}} => {seen}
                owner PUT /v1/bundles/first {{"object_storage":{first}}} => 200 {{}}
                admin DELETE /v1/bundles/first => 200
                admin DELETE /v1/bundles/second => {left}
                "#,
                left = if *same { "404" } else { "200" }
            );
            let outcome = run_script(&control, &script).await;
            outcome.map_err(|failure| {
                let reason = failure.message().unwrap_or_default();
                Failed::from(format!("{first} {second}: {reason}"))
            })?;
        }
        Ok(())
    })
}

fn come_free(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        run_script(
            &control,
            r#"
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"a"}}} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"b"}}} => 200
            # A refused bundle keeps its definition and its place.
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"a"}}} => 409 conflict
            owner2 GET /v1/bundles/b => 200 {"result":{"name":"b","object_storage":{"filesystem":{"path":"b"}}}}
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"b"}}} => 409 conflict
            # Whoever moves, goes, or has no storage any more leaves the place to others.
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"c"}}} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"a"}}} => 200
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"b"}}} => 200
            owner2 DELETE /v1/bundles/b => 200
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"a"}}} => 200
            owner PUT /v1/bundles/a {} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"a"}}} => 200
            # A folder comes free with the last file in it.
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"d/e/f"}}} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"d/e"}}} => 409 conflict
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"d/f"}}} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"d/e"}}} => 200
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"d/e/f"}}} => 409 conflict
            owner2 PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":"b","key":"k","region":"r"}}} => 200
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"d/e/f"}}} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"a"}}} => 200
            # Who may not write at all learns nothing of places.
            viewer PUT /v1/bundles/v {"object_storage":{"filesystem":{"path":"a"}}} => 403 not_authorized
            stacker PUT /v1/bundles/v {"object_storage":{"filesystem":{"path":"a"}}} => 403 not_authorized
            "#,
        )
        .await
    })
}

/// Stores a bundle with this file as storage; returns the status.
async fn place(control: &Arc<Control>, who: &str, bundle: &str, path: &str) -> Result<u16, Failed> {
    let body = format!(r#"{{"object_storage":{{"filesystem":{{"path":"{path}"}}}}}}"#);
    let target = format!("/v1/bundles/{bundle}");
    let reply = send(control, who, "PUT", &target, body).await?;
    Ok(reply.status.as_u16())
}

fn racers(environment: Environment) -> Outcome {
    Box::pin(async move {
        let replicas = [
            open(&environment, &[]).await?,
            open(&environment, &[]).await?,
        ];
        for round in 0..40 {
            let [one, other] = &replicas;
            let racers = tokio::join!(
                place(one, "owner", "a", "x"),
                place(
                    other,
                    "owner2",
                    "b",
                    if round % 2 == 0 { "./X" } else { "X/y" }
                ),
            );
            let mut statuses = [racers.0?, racers.1?];
            statuses.sort_unstable();
            if statuses != [200, 409] {
                return Err(format!("two racers for a place got {statuses:?}").into());
            }
            for bundle in ["/v1/bundles/a", "/v1/bundles/b"] {
                send(one, "admin", "DELETE", bundle, "").await?;
            }
        }
        Ok(())
    })
}

/// Two replicas concurrently move bundles between few locations. No deadlock occurs, and in the end
/// no two bundles have the same location.
fn crowd(environment: Environment) -> Outcome {
    Box::pin(async move {
        let replicas = [
            open(&environment, &[]).await?,
            open(&environment, &[]).await?,
        ];
        let mut crowd = Vec::new();
        for member in 0..6_usize {
            for control in &replicas {
                let control = Arc::clone(control);
                crowd.push(tokio::spawn(async move {
                    for round in 0..30 {
                        let bundle = format!("b{}", (member + round) % 5);
                        let path = format!("p{}", (member * 2 + round * 3) % 4);
                        let status = place(&control, "admin", &bundle, &path).await?;
                        if ![200, 409].contains(&status) {
                            return Err(format!("{bundle} to {path}: {status}").into());
                        }
                        if round % 7 == 6 {
                            let target = format!("/v1/bundles/{bundle}");
                            send(&control, "admin", "DELETE", &target, "").await?;
                        }
                    }
                    Ok::<(), Failed>(())
                }));
            }
        }
        for member in crowd {
            member.await??;
        }
        let [control, _] = &replicas;
        let list = text(&send(control, "admin", "GET", "/v1/bundles", "").await?);
        let list: Value = serde_json::from_str(&list)?;
        let bundles = list.get("result").and_then(Value::as_array);
        let paths = bundles.into_iter().flatten().map(|bundle| {
            let path = bundle.pointer("/object_storage/filesystem/path");
            path.and_then(Value::as_str).unwrap_or_default().to_owned()
        });
        let mut paths: Vec<String> = paths.collect();
        let count = paths.len();
        paths.sort();
        paths.dedup();
        match paths.len() == count {
            true => Ok(()),
            false => Err(format!("two bundles have one place: {list}").into()),
        }
    })
}

fn declared(environment: Environment) -> Outcome {
    Box::pin(async move {
        let at = |bundle: &str, path: &str| {
            format!("{bundle}: {{object_storage: {{filesystem: {{path: {path}}}}}}}")
        };
        let two = format!("bundles: {{{}, {}}}", at("x", "p"), at("y", "./P"));
        match environment.open(&two).await {
            Ok(_) => return Err("two declared bundles have one place".into()),
            Err(refusal) => {
                let message = refusal.message().unwrap_or_default();
                let parts = ["configuration", "bundle `x`", "bundle `y`"];
                if !parts.iter().all(|part| message.contains(part)) {
                    return Err(format!("the refusal says {message}").into());
                }
            }
        }
        let deep = format!("bundles: {{{}}}", at("x", &"a/".repeat(40)));
        match environment.open(&deep).await {
            Err(refusal)
                if refusal
                    .message()
                    .unwrap_or_default()
                    .contains("32 segments") => {}
            _ => return Err("a path of 40 segments is declared".into()),
        }
        // Between two starts, declared bundles may exchange their locations.
        for (x, y) in [
            ("p", "q"),
            ("q", "p"),
            ("r/s", "q"),
            ("q", "r"),
            ("p/q", "q"),
            ("q", "p"),
        ] {
            let config = format!("bundles: {{{}, {}}}", at("x", x), at("y", y));
            drop(environment.open(&config).await?);
        }
        // An owner cannot prevent the start by storing a bundle at a location that is then
        // declared.
        let control = environment.open("").await?;
        run_script(
            &control,
            r#"owner PUT /v1/bundles/o {"object_storage":{"filesystem":{"path":"taken"}}} => 200"#,
        )
        .await?;
        let control = environment
            .open(&format!("bundles: {{{}}}", at("z", "taken")))
            .await?;
        run_script(
            &control,
            r#"
            owner GET /v1/bundles/o => 200
            admin GET /v1/bundles/z => 200
            admin PUT /v1/bundles/z {"object_storage":{"filesystem":{"path":"taken"}}} => 409 conflict bundle `o`
            "#,
        )
        .await
    })
}

fn old_database(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        run_script(
            &control,
            r#"
            owner PUT /v1/sources/good {} => 200
            owner PUT /v1/sources/good/data/ok {"allow":"GOOD"} => 200
            owner PUT /v1/bundles/good {"object_storage":{"filesystem":{"path":"good.tgz"}},"requirements":[{"source":"good"}]} => 200
            owner2 PUT /v1/sources/evil {} => 200
            owner2 PUT /v1/sources/evil/data/ok {"allow":"EVIL"} => 200
            owner2 PUT /v1/bundles/evil {"object_storage":{"filesystem":{"path":"evil.tgz"}},"requirements":[{"source":"evil"}]} => 200
            "#,
        )
        .await?;
        drop(control);
        // Versions without locations stored bundles in this form.
        let pool = environment.database().await?;
        for statement in [
            "DELETE FROM places",
            "UPDATE resources SET definition = REPLACE(definition, 'evil.tgz', './good.tgz') \
             WHERE kind = 'bundle'",
        ] {
            sqlx::query(statement).execute(&pool).await?;
        }
        pool.close().await;
        let control = open(&environment, &[]).await?;
        let workers = control.start_workers().await?;
        let file = storage(&environment)?.join("good.tgz");
        status(&control, "good", "SUCCESS").await?;
        let failed = status(&control, "evil", "CONFIG_ERROR").await?;
        let message = failed.get("error_message").and_then(Value::as_str);
        if message != Some("another bundle has the place in the storage") {
            return Err(format!("{failed} does not say why").into());
        }
        wait_for_content(&file, &serde_json::json!({"ok": {"allow": "GOOD"}})).await?;
        // The location becomes available to the other bundle, which is not written again.
        run_script(&control, "owner DELETE /v1/bundles/good => 200").await?;
        status(&control, "evil", "SUCCESS").await?;
        wait_for_content(&file, &serde_json::json!({"ok": {"allow": "EVIL"}})).await?;
        workers.shutdown().await;
        Ok(())
    })
}

fn later_links(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        run_script(
            &control,
            r#"
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"p/x.tgz"}}} => 200
            owner2 PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"q/x.tgz"}}} => 200
            "#,
        )
        .await?;
        let root = storage(&environment)?;
        std::fs::create_dir(root.join("p"))?;
        std::os::unix::fs::symlink("p", root.join("q"))?;
        let workers = control.start_workers().await?;
        let statuses = eventually("two builds", || async {
            let mut statuses = Vec::new();
            for bundle in ["a", "b"] {
                let target = format!("/v1/bundles/{bundle}/status/latest");
                let reply = text(&send(&control, "admin", "GET", &target, "").await?);
                let reply: Value = serde_json::from_str(&reply)?;
                let status = reply.pointer("/result/status").and_then(Value::as_str);
                statuses.extend(status.map(str::to_owned));
            }
            statuses.sort();
            Ok((statuses.len() == 2).then_some(statuses))
        })
        .await?;
        if statuses != ["CONFIG_ERROR", "SUCCESS"] {
            return Err(format!("two bundles at one file came to {statuses:?}").into());
        }
        // The second bundle does not get the location later, either.
        let before = std::fs::read(root.join("p/x.tgz"))?;
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        if std::fs::read(root.join("p/x.tgz"))? != before
            || documents(&root.join("p/x.tgz"))?.is_none()
        {
            return Err("the file changed".into());
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn prefix(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &["--owner-prefix", "/tenants/"]).await?;
        run_script(
            &control,
            r#"
            owner PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"tenants/owner/a"}}} => 200
            owner PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":"b","key":"tenants/owner/d/b","region":"r"}}} => 200
            owner PUT /v1/bundles/n {} => 200
            owner PUT /v1/bundles/c {"object_storage":{"filesystem":{"path":"c"}}} => 403 not_authorized bundles of `owner` lie below `tenants/owner/`
            owner PUT /v1/bundles/c {"object_storage":{"filesystem":{"path":"tenants/owner2/c"}}} => 403 not_authorized
            owner PUT /v1/bundles/c {"object_storage":{"filesystem":{"path":"tenants/owner/../owner2/c"}}} => 403 not_authorized
            owner PUT /v1/bundles/c {"object_storage":{"aws":{"bucket":"b","key":"tenants/owner2/b","region":"r"}}} => 403 not_authorized
            owner PUT /v1/bundles/c {"object_storage":{"gcp":{"project":"p","bucket":"b","object":"c"}}} => 403 not_authorized
            owner PUT /v1/bundles/c {"object_storage":{"azure":{"account_url":"https://a.example","container":"c","path":"c"}}} => 403 not_authorized
            owner GET /v1/bundles/c => 404
            # A foreign place outside does not show: the answer is the same.
            admin PUT /v1/bundles/d {"object_storage":{"filesystem":{"path":"d"}}} => 200
            owner PUT /v1/bundles/c {"object_storage":{"filesystem":{"path":"d"}}} => 403 not_authorized
            admin PUT /v1/bundles/a {"object_storage":{"filesystem":{"path":"elsewhere"}}} => 200
            "#,
        )
        .await?;
        match open(&environment, &["--owner-prefix", "a/../b"]).await {
            Ok(_) => Err("a prefix with `..` was accepted".into()),
            Err(_) => Ok(()),
        }
    })
}
