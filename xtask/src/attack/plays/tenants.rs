//! Tenants of a control plane against each other: places of bundles, sources and secrets that
//! are not theirs, directly and through what they may write.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::bystander::{self, Bystander};
use crate::attack::findings::Findings;
use crate::attack::stage::Stage;
use crate::attack::tenancy::{self, Person, built, eventually, in_file};
use crate::servers::{Failure, Peer, Said};

/// How long is watched that nothing changes; many builds long.
const WATCHED: Duration = Duration::from_secs(4);

/// A secret of the administrator.
const SECRET: &str = "S3CR3T-of-the-administrator";

pub(super) async fn play(stage: &Stage) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let plane = &mut tenancy::plane(stage, &["--allow-host", "127.0.0.1"]).await?;
    let bystander = Bystander::start(plane.process.address, bystander::control()).await;
    let (admin, first) = (plane.person("admin"), plane.person("first"));
    places(stage, &mut findings, admin, first).await?;
    races(stage, &mut findings, first, plane.person("second")).await?;
    references(stage, &mut findings, admin, first).await?;
    stacks(stage, &mut findings, admin, plane.person("stacker")).await?;
    secrets(&mut findings, admin, first).await?;
    roles(&mut findings, |name| plane.person(name)).await?;
    findings.watch(bystander.stop().await?);
    findings.weigh(&plane.process, 256)?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Ways to name the place of a bundle that somebody else has.
const DISGUISES: &[&str] = &[
    "good.tgz",
    "./good.tgz",
    ".//good.tgz",
    "sub/../good.tgz",
    "ROOT/good.tgz",
    "ROOT//good.tgz",
    "ROOT/./good.tgz",
    "link.tgz",
    "linked/good.tgz",
];

/// A place belongs to one bundle, however it is named.
async fn places(
    stage: &Stage,
    findings: &mut Findings,
    admin: Person,
    first: Person,
) -> Result<(), Failure> {
    let root = stage.inner("built")?;
    admin.bundle("good", "good.tgz", json!("right")).await?;
    let right = json!({"good": "right"});
    let there = eventually("the bundle", || {
        built(stage, "good.tgz").as_ref() == Some(&right)
    });
    findings.succeed("good.tgz", there.await);
    std::os::unix::fs::symlink("good.tgz", format!("{root}/link.tgz"))?;
    std::os::unix::fs::symlink(".", format!("{root}/linked"))?;
    first.put("/v1/sources/evil", json!({})).await?;
    first
        .put("/v1/sources/evil/data/good", json!("EVIL"))
        .await?;
    for disguise in DISGUISES {
        let path = disguise.replace("ROOT", &root);
        let body = in_file(&path, &json!([{"source": "evil"}]));
        let (status, said) = first.send("PUT", "/v1/bundles/evil", &body).await?;
        findings.hold(
            format!("a second bundle at {disguise}: {status} {said}"),
            matches!(status, 400 | 409 | 422),
        );
        if status == 200 {
            sleep(Duration::from_secs(2)).await;
            let held = built(stage, "good.tgz");
            findings.hold(
                format!("{disguise}: good.tgz holds {held:?}"),
                held.as_ref() == Some(&right),
            );
            first
                .send("DELETE", "/v1/bundles/evil", &Value::Null)
                .await?;
        }
    }
    // Whatever came before, the right bundle stands there in the end.
    let there = eventually("good.tgz again", || {
        built(stage, "good.tgz").as_ref() == Some(&right)
    });
    findings.succeed("after all", there.await);
    for storage in [
        json!({"aws": {"bucket": "b", "key": "k.tgz", "region": "us-east-1", "url": "http://127.0.0.1:9"}}),
        json!({"azure": {"account_url": "http://127.0.0.1:9/acc", "container": "b", "path": "k.tgz"}}),
        json!({"gcp": {"project": "p", "bucket": "b", "object": "k.tgz"}}),
    ] {
        let body = json!({"object_storage": storage, "requirements": [{"source": "good"}]});
        admin.put("/v1/bundles/remote", body).await?;
        let body = json!({"object_storage": storage, "requirements": [{"source": "evil"}]});
        let (status, _) = first.send("PUT", "/v1/bundles/evil", &body).await?;
        findings.hold(
            format!("a second bundle at {storage}: {status}"),
            status == 409,
        );
    }
    admin
        .send("DELETE", "/v1/bundles/remote", &Value::Null)
        .await?;
    Ok(())
}

/// Of two who claim a place at the same time, one gets it.
async fn races(
    stage: &Stage,
    findings: &mut Findings,
    first: Person,
    second: Person,
) -> Result<(), Failure> {
    let rounds = if stage.long { 200 } else { 20 };
    for person in [first, second] {
        let source = format!("race-{}", if person.name() == "first" { 1 } else { 2 });
        person
            .put(&format!("/v1/sources/{source}"), json!({}))
            .await?;
    }
    let mut doubled = 0;
    for round in 0..rounds {
        let file = format!("race-{round}.tgz");
        let claim = |person: Person, number: u8| {
            let requirements = json!([{"source": format!("race-{number}")}]);
            let body = in_file(&file, &requirements);
            let path = format!("/v1/bundles/race-{round}-{number}");
            async move { person.send("PUT", &path, &body).await }
        };
        let (one, other) = tokio::join!(claim(first, 1), claim(second, 2));
        doubled += usize::from(one?.0 == 200 && other?.0 == 200);
    }
    findings.hold(
        format!("{doubled} of {rounds} places have two bundles after a race"),
        doubled == 0,
    );
    Ok(())
}

/// A requirement reaches nothing that its author does not see, and tells nothing of it.
async fn references(
    stage: &Stage,
    findings: &mut Findings,
    admin: Person,
    first: Person,
) -> Result<(), Failure> {
    admin.put("/v1/sources/private", json!({})).await?;
    admin
        .put("/v1/sources/private/data/private", json!("ADMIN"))
        .await?;
    let mut answers = Vec::new();
    for source in ["private", "nothing"] {
        let body = in_file("stolen.tgz", &json!([{"source": source}]));
        let direct = first.send("PUT", "/v1/bundles/stolen", &body).await?;
        let body = json!({"requirements": [{"source": source}]});
        let through = first.send("PUT", "/v1/sources/carrier", &body).await?;
        answers.push([direct, through].map(|(status, said)| {
            // What is not seen and what is not there must not differ but in the name.
            (status, said.to_string().replace(source, "NAME"))
        }));
    }
    findings.hold(
        format!("a source of others differs from one that is not there: {answers:?}"),
        answers.first() == answers.get(1),
    );
    first.put("/v1/sources/carrier", json!({})).await?;
    let body = in_file("carried.tgz", &json!([{"source": "carrier"}]));
    first.put("/v1/bundles/carried", body).await?;
    sleep(Duration::from_secs(2)).await;
    for file in ["stolen.tgz", "carried.tgz"] {
        let text = built(stage, file).unwrap_or_default().to_string();
        findings.hold(format!("{file} holds {text}"), !text.contains("ADMIN"));
    }
    Ok(())
}

/// A stack mounts only what its author sees.
async fn stacks(
    stage: &Stage,
    findings: &mut Findings,
    admin: Person,
    stacker: Person,
) -> Result<(), Failure> {
    admin.bundle("labelled", "labelled.tgz", json!(1)).await?;
    let body = json!({
        "object_storage": {"filesystem": {"path": "labelled.tgz"}},
        "requirements": [{"source": "labelled"}],
        "labels": {"team": "a"},
    });
    admin.put("/v1/bundles/labelled", body).await?;
    let stack = json!({"selector": {"team": []}, "requirements": [{"source": "private"}]});
    let (status, _) = stacker.send("PUT", "/v1/stacks/grab", &stack).await?;
    findings.hold(
        format!("a stack with a source that its author does not see: {status}"),
        matches!(status, 403 | 404 | 422),
    );
    sleep(Duration::from_secs(2)).await;
    let text = built(stage, "labelled.tgz").unwrap_or_default().to_string();
    findings.hold(
        format!("labelled.tgz holds {text}"),
        !text.contains("ADMIN"),
    );
    Ok(())
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
        findings.hold(format!("the secret of another: {status}"), status == 422);
        let git = json!({"git": {"repo": format!("{url}.git"), "credentials": "private"}});
        let (status, _) = first.send("PUT", "/v1/sources/git-taker", &git).await?;
        findings.hold(
            format!("the secret of another for git: {status}"),
            status == 422,
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

/// What is the administrator's is nobody else's, whatever they do with it.
async fn roles(
    findings: &mut Findings,
    person: impl Fn(&'static str) -> Person,
) -> Result<(), Failure> {
    let admin = person("admin");
    admin
        .put("/v1/stacks/kept", json!({"selector": {"never": ["x"]}}))
        .await?;
    let things = [
        "/v1/bundles/good",
        "/v1/sources/private",
        "/v1/secrets/private",
        "/v1/stacks/kept",
    ];
    for name in ["first", "second", "stacker", "looker"] {
        for thing in things {
            for method in ["GET", "PUT", "DELETE"] {
                let body = match thing {
                    "/v1/secrets/private" => json!({"value": {"type": "token_auth", "token": "x"}}),
                    _ => json!({}),
                };
                let (status, said) = person(name).send(method, thing, &body).await?;
                let reads = name == "looker" && method == "GET";
                findings.hold(
                    format!("{name}: {method} {thing}: {status}"),
                    if reads {
                        status == 200
                    } else {
                        matches!(status, 403 | 404)
                    },
                );
                findings.hold(
                    format!("{name}: {method} {thing} tells the secret"),
                    !said.to_string().contains(SECRET),
                );
            }
        }
    }
    Ok(())
}
