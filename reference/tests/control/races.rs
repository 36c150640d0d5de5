//! Concurrent requests: a resource that is in use is never deleted, and no response is 500.

use libtest_mimic::Failed;
use reference::control::Control;
use std::sync::Arc;

use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("deletes-race-with-users", deletes_race_with_users),
    ("creators-race-for-a-name", creators_race_for_a_name),
    ("a-crowd-of-sources", a_crowd_of_sources),
];

/// Concurrent creation of the resource `user`, which references `used`, and deletion of `used`.
struct Race {
    used: &'static str,
    user: &'static str,
    body: &'static str,
    /// Possible pairs of statuses: of the PUT of `user`, and of the DELETE of `used`.
    outcomes: &'static [(u16, u16)],
}

const RACES: &[Race] = &[
    Race {
        used: "/v1/sources/u",
        user: "/v1/bundles/b",
        body: r#"{"requirements":[{"source":"u"}]}"#,
        outcomes: &[(200, 409), (422, 200)],
    },
    Race {
        used: "/v1/sources/u",
        user: "/v1/stacks/t",
        body: r#"{"requirements":[{"source":"u"}]}"#,
        outcomes: &[(200, 409), (422, 200)],
    },
    Race {
        used: "/v1/sources/u",
        user: "/v1/sources/s",
        body: r#"{"requirements":[{"source":"u"}]}"#,
        outcomes: &[(200, 409), (422, 200)],
    },
    Race {
        used: "/v1/secrets/k",
        user: "/v1/bundles/b",
        body: r#"{"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"k"}}}"#,
        outcomes: &[(200, 409), (422, 200)],
    },
    Race {
        used: "/v1/secrets/k",
        user: "/v1/sources/s",
        body: r#"{"git":{"credentials":"k"}}"#,
        // A repository may name credentials that do not exist yet.
        outcomes: &[(200, 409), (200, 200)],
    },
    Race {
        used: "/v1/sources/u",
        user: "/v1/sources/u/data/d",
        body: "1",
        // A source with data can be deleted.
        outcomes: &[(200, 200), (404, 200)],
    },
];

fn deletes_race_with_users(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        for race in RACES {
            for _ in 0..40 {
                one_race(&control, race).await?;
            }
        }
        Ok(())
    })
}

async fn one_race(control: &Arc<Control>, race: &'static Race) -> Result<(), Failed> {
    send(control, "admin", "PUT", race.used, r#"{"value":{}}"#).await?;
    let user = spawn(control, "PUT", race.user, race.body);
    let delete = spawn(control, "DELETE", race.used, "");
    let outcome = (user.await??, delete.await??);
    let Race { used, user, .. } = race;
    if !race.outcomes.contains(&outcome) {
        return Err(format!("{user} and deleting {used} answered {outcome:?}").into());
    }
    let left = send(control, "admin", "GET", used, "")
        .await?
        .status
        .as_u16();
    let expected = if outcome.1 == 200 { 404 } else { 200 };
    if left != expected {
        return Err(format!("{used} answers {left} after {outcome:?}").into());
    }
    for target in [user, used] {
        send(control, "admin", "DELETE", target, "").await?;
    }
    Ok(())
}

fn spawn(
    control: &Arc<Control>,
    method: &'static str,
    target: &'static str,
    body: &'static str,
) -> tokio::task::JoinHandle<Result<u16, Failed>> {
    let control = Arc::clone(control);
    tokio::spawn(async move {
        let reply = send(&control, "admin", method, target, body).await?;
        Ok(reply.status.as_u16())
    })
}

fn creators_race_for_a_name(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        for _ in 0..40 {
            let racers = ["owner", "owner2"].map(|who| {
                let control = Arc::clone(&control);
                tokio::spawn(async move {
                    let reply = send(&control, who, "PUT", "/v1/bundles/b", "{}").await?;
                    Ok::<u16, Failed>(reply.status.as_u16())
                })
            });
            let mut statuses = Vec::new();
            for racer in racers {
                statuses.push(racer.await??);
            }
            statuses.sort_unstable();
            if statuses != [200, 403] {
                return Err(format!("two creators got {statuses:?}").into());
            }
            run_script(&control, "admin DELETE /v1/bundles/b => 200 {}").await?;
        }
        Ok(())
    })
}

/// Two replicas concurrently write and delete sources that require each other.
fn a_crowd_of_sources(environment: Environment) -> Outcome {
    Box::pin(async move {
        let replicas = [environment.open("").await?, environment.open("").await?];
        let mut crowd = Vec::new();
        for member in 0..8_usize {
            for control in &replicas {
                let control = Arc::clone(control);
                crowd.push(tokio::spawn(member_of_the_crowd(control, member)));
            }
        }
        for member in crowd {
            member.await??;
        }
        let [control, _] = &replicas;
        let list = text(&send(control, "admin", "GET", "/v1/sources", "").await?);
        let list: serde_json::Value = serde_json::from_str(&list)?;
        let sources = list.get("result").and_then(serde_json::Value::as_array);
        let mut names = Vec::new();
        let mut required = Vec::new();
        for source in sources.into_iter().flatten() {
            names.extend(source.get("name").cloned());
            let requirements = source.get("requirements").and_then(|list| list.as_array());
            let requirements = requirements.into_iter().flatten();
            required.extend(requirements.filter_map(|one| one.get("source").cloned()));
        }
        match required.iter().find(|name| !names.contains(name)) {
            Some(lost) => Err(format!("{lost} is required and gone: {list}").into()),
            None => Ok(()),
        }
    })
}

async fn member_of_the_crowd(control: Arc<Control>, member: usize) -> Result<(), Failed> {
    for round in 0..30 {
        let own = format!("/v1/sources/s{}", (member * 3 + round) % 5);
        let (one, other) = ((member + round) % 5, (member * 2 + round * 3) % 5);
        let body = format!(
            r#"{{"requirements":[{{"source":"s{one}"}},{{"source":"s{other}"}}],"git":{{"credentials":"k{one}"}}}}"#
        );
        let secret = format!("/v1/secrets/k{other}");
        for (method, target, body) in [
            ("PUT", own.as_str(), "{}"),
            ("PUT", own.as_str(), body.as_str()),
            ("PUT", secret.as_str(), r#"{"value":{}}"#),
            ("DELETE", own.as_str(), ""),
            ("DELETE", secret.as_str(), ""),
        ] {
            let reply = send(&control, "admin", method, target, body.to_owned()).await?;
            if ![200, 404, 409, 422].contains(&reply.status.as_u16()) {
                return Err(format!("{method} {target}: {} {}", reply.status, text(&reply)).into());
            }
        }
    }
    Ok(())
}
