//! Tenants of a control plane who have secrets sent to a host of theirs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::stage::Stage;
use crate::attack::tenancy::{self, Person, in_file};
use crate::servers::{Failure, Peer, Said};

/// How long is watched that nothing is sent; many builds long.
const WATCHED: Duration = Duration::from_secs(4);

/// A secret of the administrator.
const SECRET: &str = "S3CR3T-of-the-administrator";

pub(super) async fn play(stage: &Stage) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut plane = tenancy::plane(stage, &["--allow-host", "127.0.0.1"]).await?;
    let (admin, first) = (plane.person("admin"), plane.person("first"));
    secrets(&mut findings, admin, first).await?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Secrets go nowhere that they are not meant for.
async fn secrets(findings: &mut Findings, admin: Person, first: Person) -> Result<(), Failure> {
    let heard = Arc::new(Mutex::new(Vec::<String>::new()));
    let hearing = Arc::clone(&heard);
    let host = Peer::start(0, move |asked| {
        let headers = format!("{:?}", asked.headers);
        hearing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(headers);
        async {
            Said::Answer(
                200,
                "Content-Type: application/json\r\n".to_owned(),
                b"{}".to_vec(),
            )
        }
    })
    .await?;
    let url = format!("http://{}/data", host.address);
    let named = |secret: &str| {
        json!({"datasources": [{"name": "d", "path": "d", "type": "http",
            "config": {"url": url}, "credentials": secret}]})
    };
    let values = [
        json!({"type": "token_auth", "token": SECRET}),
        json!({"type": "basic_auth", "username": "u", "password": SECRET}),
        json!({"type": "basic_auth", "username": "u", "password": SECRET, "headers": [SECRET]}),
    ];
    for (number, value) in values.into_iter().enumerate() {
        let secret = json!({"value": value});
        admin.put("/v1/secrets/private", secret.clone()).await?;
        let (status, _) = first
            .send("PUT", "/v1/sources/taker", &named("private"))
            .await?;
        findings.hold(
            format!("the secret of another: {status}"),
            matches!(status, 400 | 422),
        );
        let git = json!({"git": {"repo": format!("{url}.git"), "credentials": "private"}});
        let (status, _) = first.send("PUT", "/v1/sources/git-taker", &git).await?;
        findings.hold(
            format!("the secret of another for git: {status}"),
            matches!(status, 400 | 422),
        );
        let body = in_file("taken.tgz", &json!([{"source": "taker"}]));
        first.send("PUT", "/v1/bundles/taken", &body).await?;
        // One's own secret does not go over plain http either.
        let own = format!("own-{number}");
        first.put(&format!("/v1/secrets/{own}"), secret).await?;
        let source = format!("own-source-{number}");
        first
            .send("PUT", &format!("/v1/sources/{source}"), &named(&own))
            .await?;
        let body = in_file(&format!("{source}.tgz"), &json!([{"source": source}]));
        first
            .send("PUT", &format!("/v1/bundles/{source}"), &body)
            .await?;
    }
    sleep(WATCHED).await;
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    // The second form is the password in base64, with `u:` before it.
    let told = heard
        .iter()
        .find(|headers| headers.contains(SECRET) || headers.contains("dTpTM0NSM1Q"));
    findings.hold(
        format!("a secret went over plain http: {told:?}"),
        told.is_none(),
    );
    Ok(())
}
