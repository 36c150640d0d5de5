//! Revisions that definitions say how to make.

use std::error::Error;

use super::World;

/// Two sources, of which one has a document.
const SOURCES: &str = r#"
    requirements: [{source: a}, {source: "b-c"}]}
sources: {a: {directory: a, files: {y/data.json: Mg==}}, "b-c": {}}
data: {a: {z/data.json: "3"}, "b-c": {w/data.json: "1"}}
files: {a/x/data.json: "1"}
"#;

#[tokio::test]
async fn expressions_make_revisions() -> Result<(), Box<dyn Error>> {
    // The digests are those of `printf 'PATH\0CONTENT…' | sha256sum`.
    const ONE: &str = "c8a651e97b770084c2619ed627479b8630c986d254e05e54fc766c99b8b65b3d";
    for (expression, expected) in [
        (r#""REVISION-091""#, "REVISION-091"),
        (r#"$"bundle-{uuid.rfc4122("x") != ""}""#, "bundle-true"),
        ("opa.runtime().env.BUILD", "b-7"),
        ("count(input.sources)", "2"),
        ("[1, {\"a\": true}]", r#"[1,{"a":true}]"#),
        ("count(input.bundle.hash)", "64"),
        ("input.sources.a.sql.hash", ONE),
    ] {
        let world = World::new()?;
        let revision = serde_json::Value::from(expression);
        let job = world.job(&format!("bundle: {{revision: {revision},{SOURCES}"))?;
        let built = world.build(&job).await?;
        assert_eq!(built.revision, expected, "{expression}");
    }
    Ok(())
}

#[tokio::test]
async fn revisions_follow_what_they_are_made_of() -> Result<(), Box<dyn Error>> {
    let revision = |expression: &'static str, text: &'static str| async move {
        let world = World::new()?;
        let job = format!(
            "{{bundle: {{revision: '{expression}', requirements: [{{source: a}}, {{source: b}}]}}, \
             sources: {{a: {{}}, b: {{}}}}, data: {{a: {{x/data.json: '{text}'}}}}}}"
        );
        let built = world.build(&world.job(&job)?).await?;
        Ok::<_, Box<dyn Error>>(built.revision)
    };
    for (expression, changes) in [
        ("input.bundle.hash", true),
        ("input.sources.a.sql.hash", true),
        ("input.sources.b.sql.hash", false),
    ] {
        let (one, other) = (
            revision(expression, "1").await?,
            revision(expression, "2").await?,
        );
        assert_eq!(one != other, changes, "{expression}: {one} {other}");
    }
    Ok(())
}
