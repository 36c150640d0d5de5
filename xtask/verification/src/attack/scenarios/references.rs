//! References of tenants to other tenants' sources, in bundles, sources and stacks; and the
//! permissions of each role on definitions of the administrator.

use std::os::unix::fs::symlink;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::tenancy::{self, User, built, in_file};
use crate::servers::Failure;

/// Secret of the administrator.
const SECRET: &str = "S3CR3T-of-the-administrator";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let mut plane = tenancy::plane(harness, &[]).await?;
    let admin = plane.person("admin");
    references(harness, &mut findings, admin, plane.person("first")).await?;
    stacks(harness, &mut findings, admin, plane.person("stacker")).await?;
    roles(&mut findings, |name| plane.person(name)).await?;
    outside(harness, &mut findings, admin).await?;
    findings.check_memory(&plane.process, 256)?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Checks that a requirement neither reaches nor discloses a source that its author must not see.
async fn references(
    harness: &Harness,
    findings: &mut Findings,
    admin: User,
    first: User,
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
        answers.push([direct, through].map(|(status, response)| {
            // Responses for hidden and missing sources must differ only in the name.
            (status, response.to_string().replace(source, "NAME"))
        }));
    }
    findings.check(
        format!("a source of others differs from one that is not there: {answers:?}"),
        answers.first() == answers.get(1),
    );
    first.put("/v1/sources/carrier", json!({})).await?;
    let body = in_file("carried.tgz", &json!([{"source": "carrier"}]));
    first.put("/v1/bundles/carried", body).await?;
    sleep(Duration::from_secs(2)).await;
    for file in ["stolen.tgz", "carried.tgz"] {
        let text = built(harness, file).unwrap_or_default().to_string();
        findings.check(format!("{file} holds {text}"), !text.contains("ADMIN"));
    }
    Ok(())
}

/// Checks that a stack mounts only sources that its author may see.
async fn stacks(
    harness: &Harness,
    findings: &mut Findings,
    admin: User,
    stacker: User,
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
    findings.check(
        format!("a stack with a source that its author does not see: {status}"),
        matches!(status, 403 | 404 | 422),
    );
    sleep(Duration::from_secs(2)).await;
    let text = built(harness, "labelled.tgz")
        .unwrap_or_default()
        .to_string();
    findings.check(
        format!("labelled.tgz holds {text}"),
        !text.contains("ADMIN"),
    );
    Ok(())
}

/// Checks that other roles cannot access the administrator's definitions by any method.
async fn roles(
    findings: &mut Findings,
    person: impl Fn(&'static str) -> User,
) -> Result<(), Failure> {
    let admin = person("admin");
    let secret = json!({"value": {"type": "token_auth", "token": SECRET}});
    admin.put("/v1/secrets/private", secret).await?;
    admin.bundle("good", "good.tgz", json!("right")).await?;
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
                let (status, response) = person(name).send(method, thing, &body).await?;
                let reads = name == "looker" && method == "GET";
                findings.check(
                    format!("{name}: {method} {thing}: {status}"),
                    if reads {
                        status == 200
                    } else {
                        matches!(status, 403 | 404)
                    },
                );
                findings.check(
                    format!("{name}: {method} {thing} tells the secret"),
                    !response.to_string().contains(SECRET),
                );
            }
        }
    }
    Ok(())
}

/// Checks that no definition, by whichever author, reaches a folder outside the configured roots,
/// by its path or through links.
async fn outside(harness: &Harness, findings: &mut Findings, admin: User) -> Result<(), Failure> {
    harness.file("outside/data.json", "{\"outside\": \"ADMIN\"}")?;
    let outside = harness.inner("outside")?;
    let linking = harness.inner("sources/linking")?;
    symlink(&outside, format!("{linking}/link"))?;
    symlink(&outside, harness.inner("sources")? + "/linked")?;
    let sources = harness.inner("sources")?;
    for (number, folder) in [
        outside.clone(),
        format!("{sources}/../outside"),
        format!("{sources}/linked"),
        linking,
    ]
    .iter()
    .enumerate()
    {
        let name = format!("outside-{number}");
        // The write may be rejected.
        let path = format!("/v1/sources/{name}");
        admin
            .send("PUT", &path, &json!({"directory": folder}))
            .await?;
        let body = in_file(&format!("{name}.tgz"), &json!([{"source": name}]));
        let path = format!("/v1/bundles/{name}");
        admin.send("PUT", &path, &body).await?;
    }
    for path in ["../escaped.tgz", "../../escaped.tgz", "/tmp/escaped.tgz"] {
        let body = in_file(path, &json!([{"source": "private"}]));
        let (status, _) = admin.send("PUT", "/v1/bundles/escaped", &body).await?;
        findings.check(format!("a bundle at {path}: {status}"), status != 500);
    }
    sleep(Duration::from_secs(2)).await;
    for number in 0..4 {
        let bundle_data = built(harness, &format!("outside-{number}.tgz"));
        findings.check(
            format!("a bundle of a folder that nobody allows holds {bundle_data:?}"),
            bundle_data.is_none(),
        );
    }
    let escaped = harness.folder.join("escaped.tgz").exists();
    findings.check("a bundle was written outside of its folder", !escaped);
    Ok(())
}
