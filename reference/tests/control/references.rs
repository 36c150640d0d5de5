//! References: all combinations of callers and targets, and the references that builds follow.

use std::fmt::Write as _;
use std::sync::Arc;

use libtest_mimic::Failed;
use reference::control::Control;
use serde_json::{Value, json};

use crate::environment::{Environment, send, text};
use crate::listener::Listener;
use crate::transcript::run_script;
use crate::workers::{open, status, storage, wait_for_content};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("references-reach-what-is-seen", matrix),
    ("secrets-are-used-by-those-who-see-them", uses),
    ("indirect-references", indirect),
    ("old-references-stay", old_references),
];

/// Callers with the kinds of resources that they may write.
const CALLERS: &[(&str, &[&str])] = &[
    ("admin", &["bundles", "sources", "stacks", "secrets"]),
    ("viewer", &[]),
    ("owner", &["bundles", "sources", "secrets"]),
    ("owner2", &["bundles", "sources", "secrets"]),
    ("stacker", &["stacks"]),
];

/// Owners of the targets; each has a shared and a private one, `nobody` has none.
const OWNERS: &[&str] = &["admin", "owner", "owner2", "nobody"];

/// Kinds of references: the kind and the definition of the referring resource, with `TARGET` for
/// the name of the target; the kind of the target; true if the target must exist.
const REFERENCES: &[(&str, &str, &str, bool)] = &[
    (
        "bundles",
        r#"{"requirements":[{"source":"TARGET"}]}"#,
        "sources",
        true,
    ),
    (
        "bundles",
        r#"{"requirements":[{"source":"sources-owner2-shared"},{"source":"TARGET","prefix":"x"}]}"#,
        "sources",
        true,
    ),
    (
        "sources",
        r#"{"requirements":[{"source":"TARGET"}]}"#,
        "sources",
        true,
    ),
    (
        "stacks",
        r#"{"selector":{"no":["one"]},"requirements":[{"source":"TARGET"}]}"#,
        "sources",
        true,
    ),
    (
        "bundles",
        r#"{"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"TARGET"}}}"#,
        "secrets",
        true,
    ),
    (
        "bundles",
        r#"{"object_storage":{"gcp":{"project":"p","bucket":"b","object":"o","credentials":"TARGET"}}}"#,
        "secrets",
        true,
    ),
    (
        "bundles",
        r#"{"object_storage":{"azure":{"account_url":"https://a.example","container":"c","path":"p","credentials":"TARGET"}}}"#,
        "secrets",
        true,
    ),
    (
        "sources",
        r#"{"git":{"repo":"https://git.example/r","reference":"main","credentials":"TARGET"}}"#,
        "secrets",
        false,
    ),
    (
        "sources",
        r#"{"datasources":[{"name":"d","path":"d","type":"http","config":{"url":"https://d.example"},"credentials":"TARGET"}]}"#,
        "secrets",
        false,
    ),
];

/// Creates a private and a shared source for every owner, and likewise secrets.
async fn furnish(control: &Arc<Control>) -> Result<(), Failed> {
    let mut script = String::new();
    for (who, kinds) in CALLERS {
        for (kind, body) in [("sources", ""), ("secrets", r#""value":VALUE"#)] {
            if !kinds.contains(&kind) {
                writeln!(
                    script,
                    "{who} PUT /v1/{kind}/never {{}} => 403 not_authorized"
                )?;
                continue;
            }
            for end in ["", "-shared"] {
                let name = format!("{kind}-{who}{end}");
                let value = format!(r#"{{"type":"token_auth","token":"token-of-{name}"}}"#);
                let body = body.replace("VALUE", &value);
                writeln!(script, "{who} PUT /v1/{kind}/{name} {{{body}}} => 200 {{}}")?;
                if end.is_empty() {
                    continue;
                }
                let comma = if body.is_empty() { "" } else { "," };
                writeln!(
                    script,
                    r#"admin PUT /v1/{kind}/{name} {{{body}{comma}"shared":true}} => 200 {{}}"#
                )?;
            }
        }
    }
    run_script(control, &script).await
}

/// Returns true if a caller may reference a resource.
fn reaches(who: &str, owner: &str, is_shared: bool) -> bool {
    owner != "nobody" && (is_shared || who == "admin" || who == owner)
}

fn matrix(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        furnish(&control).await?;
        let mut counts = [0; 3];
        for (who, writes) in CALLERS {
            for (kind, body, targets, must_exist) in REFERENCES {
                for owner in OWNERS {
                    for end in ["", "-shared"] {
                        let target = format!("{targets}-{owner}{end}");
                        let may = reaches(who, owner, !end.is_empty());
                        let expected = match (writes.contains(kind), may || !must_exist) {
                            (false, _) => 403,
                            (true, true) => 200,
                            (true, false) => 422,
                        };
                        let body = body.replace("TARGET", &target);
                        let got = one(&control, who, kind, &body, &target).await?;
                        if got != expected {
                            let case = format!("{who} PUT {kind} {body}");
                            return Err(format!("{case}: {got}, not {expected}").into());
                        }
                        let at = [200, 403, 422]
                            .iter()
                            .position(|status| *status == expected);
                        if let Some(count) = at.and_then(|at| counts.get_mut(at)) {
                            *count += 1;
                        }
                    }
                }
            }
        }
        // 5 callers, 9 kinds of references, 8 targets.
        match counts.iter().sum::<usize>() == 360 && !counts.contains(&0) {
            true => Ok(()),
            false => Err(format!("the matrix has {counts:?} cases").into()),
        }
    })
}

/// Adds a reference to an existing resource; returns the status. Checks that an error leaves the
/// resource unchanged, and is the same for missing and for invisible targets.
async fn one(
    control: &Arc<Control>,
    who: &str,
    kind: &str,
    body: &str,
    target: &str,
) -> Result<u16, Failed> {
    let path = format!("/v1/{kind}/user");
    send(control, who, "PUT", &path, "{}").await?;
    let before = text(&send(control, "admin", "GET", &path, "").await?);
    let reply = send(control, who, "PUT", &path, body.to_owned()).await?;
    let status = reply.status.as_u16();
    if status != 200 {
        let after = text(&send(control, "admin", "GET", &path, "").await?);
        if after != before {
            return Err(format!("a refused {body} has changed {before} to {after}").into());
        }
    }
    if status == 422 {
        let singular = kind.trim_end_matches('s');
        let of = target.split('-').next().unwrap_or_default();
        let message = format!(
            "{singular} `user` names {} `{target}`, which does not exist",
            of.trim_end_matches('s')
        );
        let refusal: Value = serde_json::from_str(&text(&reply))?;
        if refusal != json!({"code": "invalid_reference", "message": message}) {
            return Err(format!("{body} is refused with {refusal}").into());
        }
    }
    send(control, "admin", "DELETE", &path, "").await?;
    Ok(status)
}

/// Returns requests that create a bundle with a datasource that needs a secret.
fn fetched(who: &str, name: &str, address: &str, secret: &str) -> String {
    format!(
        r#"
        {who} PUT /v1/sources/{name} {{"datasources":[{{"name":"d","path":"{name}","type":"http","config":{{"url":"http://{address}/{name}"}},"credentials":"{secret}"}}]}} => 200
        {who} PUT /v1/bundles/{name} {{"object_storage":{{"filesystem":{{"path":"{name}.tgz"}}}},"requirements":[{{"source":"{name}"}}]}} => 200
        "#
    )
}

/// Waits until a bundle is built or fails because of its secret. Checks that the listener received
/// the secret's token in the first case, and no request in the second.
async fn used(
    control: &Arc<Control>,
    listener: &Listener,
    name: &str,
    secret: &str,
    may: bool,
) -> Result<(), Failed> {
    let expected = if may { "SUCCESS" } else { "CONFIG_ERROR" };
    let status = status(control, name, expected).await?;
    let requests = listener.requests(&format!("/{name}"));
    let token = format!("authorization: bearer token-of-{secret}\r\n");
    let is_as_expected = match may {
        true => !requests.is_empty() && requests.iter().all(|head| head.contains(&token)),
        false => {
            let message = format!("secret `{secret}` does not exist");
            let reported = status.get("error_message").and_then(Value::as_str);
            requests.is_empty() && reported.is_some_and(|reported| reported.contains(&message))
        }
    };
    match is_as_expected {
        true => Ok(()),
        false => Err(format!("{name}: {status} and {requests:?}").into()),
    }
}

/// Options of a server that may fetch from the listener with secrets.
const FETCHING: &[&str] = &["--allow-host", "127.0.0.1", "--allow-secrets-over-http"];

fn uses(environment: Environment) -> Outcome {
    Box::pin(async move {
        let listener = Listener::start().await?;
        let address = &listener.address;
        let control = open(&environment, FETCHING).await?;
        furnish(&control).await?;
        let mut cases = Vec::new();
        for who in ["admin", "owner"] {
            for owner in OWNERS {
                for end in ["", "-shared"] {
                    let secret = format!("secrets-{owner}{end}");
                    let name = format!("{who}-{owner}{end}");
                    run_script(&control, &fetched(who, &name, address, &secret)).await?;
                    cases.push((name, secret, reaches(who, owner, !end.is_empty())));
                }
            }
        }
        // These secrets are created after the reference; their owner determines if they may be
        // used.
        let late = [
            ("early", "owner", "owner", true),
            ("stolen", "owner", "admin", false),
            ("given", "admin", "owner2", true),
        ];
        for (name, who, owner, may) in late {
            let secret = format!("secrets-late-{name}");
            let value = format!(r#"{{"type":"token_auth","token":"token-of-{secret}"}}"#);
            let named = fetched(who, name, address, &secret);
            let creation = format!("{owner} PUT /v1/secrets/{secret} {{\"value\":{value}}} => 200");
            run_script(&control, &format!("{named}\n{creation}")).await?;
            cases.push((name.to_owned(), secret, may));
        }
        let workers = control.start_workers().await?;
        for (name, secret, may) in &cases {
            used(&control, &listener, name, secret, *may).await?;
        }
        workers.shutdown().await;
        // A secret can be deleted despite a reference that must not use it.
        run_script(
            &control,
            "
            admin DELETE /v1/secrets/secrets-late-stolen => 200
            admin DELETE /v1/secrets/secrets-late-early => 409 conflict source `early`
            ",
        )
        .await
    })
}

fn indirect(environment: Environment) -> Outcome {
    Box::pin(async move {
        let listener = Listener::start().await?;
        let address = &listener.address;
        let control = open(&environment, FETCHING).await?;
        furnish(&control).await?;
        let library = format!(
            r#"{{"requirements":[{{"source":"sources-admin"}}],"datasources":[{{"name":"d","path":"lib/d","type":"http","config":{{"url":"http://{address}/lib"}},"credentials":"secrets-admin"}}]SHARED}}"#
        );
        let [private, shared] = ["", r#","shared":true"#].map(|end| library.replace("SHARED", end));
        let stolen = fetched("owner", "stolen", address, "secrets-admin");
        run_script(
            &control,
            &format!(
                r#"
                admin PUT /v1/sources/sources-admin/data/inner {{"v":1}} => 200
                admin PUT /v1/sources/lib {shared} => 200
                # What a shared source requires is followed with the rights of whoever wrote it.
                owner PUT /v1/bundles/direct {{"object_storage":{{"filesystem":{{"path":"direct.tgz"}}}},"requirements":[{{"source":"lib"}}]}} => 200
                owner PUT /v1/sources/mine {{"requirements":[{{"source":"lib","prefix":"data.mine"}}]}} => 200
                owner PUT /v1/bundles/nested {{"object_storage":{{"filesystem":{{"path":"nested.tgz"}}}},"requirements":[{{"source":"mine"}}]}} => 200
                admin PUT /v1/bundles/own {{"object_storage":{{"filesystem":{{"path":"own.tgz"}}}},"requirements":[{{"source":"lib"}}]}} => 200
                # A stack brings what its owner may refer to into bundles of others.
                stacker PUT /v1/stacks/all {{"selector":{{"team":["a*"]}},"requirements":[{{"source":"lib"}}]}} => 200
                owner2 PUT /v1/bundles/chosen {{"labels":{{"team":"ab"}},"object_storage":{{"filesystem":{{"path":"chosen.tgz"}}}}}} => 200
                # That a stack brings a secret into a build gives it to nobody else in the build.
                {stolen}
                owner PUT /v1/bundles/stolen {{"labels":{{"team":"a"}},"object_storage":{{"filesystem":{{"path":"stolen.tgz"}}}},"requirements":[{{"source":"stolen"}}]}} => 200
                "#
            ),
        )
        .await?;
        let workers = control.start_workers().await?;
        let files = storage(&environment)?;
        let content = json!({"inner": {"v": 1}, "lib": {"d": {}}});
        for (file, content) in [
            ("direct", content.clone()),
            ("own", content.clone()),
            ("nested", json!({"mine": content.clone()})),
            ("chosen", json!({"stacks": {"all": content}})),
        ] {
            status(&control, file, "SUCCESS").await?;
            wait_for_content(&files.join(format!("{file}.tgz")), &content).await?;
        }
        let sent = listener.requests("/lib");
        if !sent
            .iter()
            .all(|head| head.contains("bearer token-of-secrets-admin"))
        {
            return Err(format!("the shared source was fetched by {sent:?}").into());
        }
        used(&control, &listener, "stolen", "secrets-admin", false).await?;
        // Other owners cannot use a source that is no longer shared, until it is shared again.
        run_script(
            &control,
            &format!("admin PUT /v1/sources/lib {private} => 200"),
        )
        .await?;
        for bundle in ["direct", "nested", "chosen"] {
            let failed = status(&control, bundle, "CONFIG_ERROR").await?;
            let message = failed.get("error_message").and_then(Value::as_str);
            let lost = "names source `lib`, which does not exist";
            if !message.is_some_and(|message| message.contains(lost)) {
                return Err(format!("{bundle}: {failed}").into());
            }
        }
        status(&control, "own", "SUCCESS").await?;
        run_script(
            &control,
            &format!("admin PUT /v1/sources/lib {shared} => 200"),
        )
        .await?;
        for bundle in ["direct", "nested", "chosen"] {
            status(&control, bundle, "SUCCESS").await?;
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn old_references(environment: Environment) -> Outcome {
    Box::pin(async move {
        let listener = Listener::start().await?;
        let address = &listener.address;
        let control = open(&environment, FETCHING).await?;
        furnish(&control).await?;
        let stolen = fetched("owner", "stolen", address, "secrets-admin");
        run_script(
            &control,
            &format!(
                r#"
                {stolen}
                admin PUT /v1/sources/sources-admin/data/x {{"v":1}} => 200
                owner PUT /v1/bundles/old {{}} => 200
                admin PUT /v1/bundles/old {{"object_storage":{{"filesystem":{{"path":"old.tgz"}}}},"requirements":[{{"source":"sources-admin"}}]}} => 200
                "#
            ),
        )
        .await?;
        drop(control);
        // Versions without rights stored references in this form.
        let pool = environment.database().await?;
        for table in ["source_uses", "secret_uses"] {
            let forget = format!("UPDATE {table} SET rights = ''");
            sqlx::query(sqlx::AssertSqlSafe(forget))
                .execute(&pool)
                .await?;
        }
        pool.close().await;
        let control = open(&environment, FETCHING).await?;
        let workers = control.start_workers().await?;
        used(&control, &listener, "stolen", "secrets-admin", true).await?;
        let file = storage(&environment)?.join("old.tgz");
        wait_for_content(&file, &json!({"x": {"v": 1}})).await?;
        // A repeated write of the definition is checked again; a refused one changes nothing.
        run_script(
            &control,
            r#"
            owner PUT /v1/bundles/old {"object_storage":{"filesystem":{"path":"old.tgz"}},"requirements":[{"source":"sources-admin"}]} => 422 invalid_reference
            admin PUT /v1/sources/sources-admin/data/x {"v":2} => 200
            "#,
        )
        .await?;
        wait_for_content(&file, &json!({"x": {"v": 2}})).await?;
        run_script(&control, &stolen).await?;
        status(&control, "stolen", "CONFIG_ERROR").await?;
        workers.shutdown().await;
        Ok(())
    })
}
