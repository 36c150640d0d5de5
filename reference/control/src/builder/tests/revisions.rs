//! Revisions computed by expressions in definitions.

use std::error::Error;

use rstest::rstest;

use super::TestFolders;

/// Two sources, one of them with a document.
const SOURCES: &str = r#"
    requirements: [{source: a}, {source: "b-c"}]}
sources: {a: {directory: a, files: {y/data.json: Mg==}}, "b-c": {}}
data: {a: {z/data.json: "3"}, "b-c": {w/data.json: "1"}}
files: {a/x/data.json: "1"}
"#;

/// Digest of the document of source `a`, that of `printf 'PATH\0CONTENT…' | sha256sum`.
const ONE: &str = "c8a651e97b770084c2619ed627479b8630c986d254e05e54fc766c99b8b65b3d";

#[rstest]
#[case::string(r#""REVISION-091""#, "REVISION-091")]
#[case::template(r#"$"bundle-{uuid.rfc4122("x") != ""}""#, "bundle-true")]
#[case::environment("opa.runtime().env.BUILD", "b-7")]
#[case::number("count(input.sources)", "2")]
#[case::array("[1, {\"a\": true}]", r#"[1,{"a":true}]"#)]
#[case::hash_of_the_bundle("count(input.bundle.hash)", "64")]
#[case::hash_of_documents("input.sources.a.sql.hash", ONE)]
#[tokio::test]
async fn expressions_make_revisions(
    #[case] expression: &str,
    #[case] expected: &str,
) -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let revision = serde_json::Value::from(expression);
    let job = fixture.job(&format!("bundle: {{revision: {revision},{SOURCES}"))?;
    let built = fixture.build(&job).await?;
    assert_eq!(built.revision, expected);
    Ok(())
}

#[rstest]
#[case::empty(r#""""#, "is empty")]
#[case::nul(r#""a\u0000b""#, "NUL")]
#[case::parsed_nul(r#"json.unmarshal("\"a\\u0000b\"")"#, "NUL")]
#[tokio::test]
async fn revisions_that_cannot_be_stored_are_refused(
    #[case] expression: &'static str,
    #[case] expected: &str,
) -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let revision = serde_json::Value::from(expression);
    let job = fixture.job(&format!("bundle: {{revision: {revision},{SOURCES}"))?;
    let failure = fixture.build(&job).await.err().ok_or(expression)?;
    assert!(failure.message.contains(expected), "{}", failure.message);
    Ok(())
}

#[rstest]
#[case::bundle("input.bundle.hash", true)]
#[case::changed_source("input.sources.a.sql.hash", true)]
#[case::other_source("input.sources.b.sql.hash", false)]
#[tokio::test]
async fn revisions_follow_what_they_are_made_of(
    #[case] expression: &'static str,
    #[case] changes: bool,
) -> Result<(), Box<dyn Error>> {
    let revision = |expression: &'static str, text: &'static str| async move {
        let fixture = TestFolders::new()?;
        let job = format!(
            "{{bundle: {{revision: '{expression}', requirements: [{{source: a}}, {{source: b}}]}}, \
             sources: {{a: {{}}, b: {{}}}}, data: {{a: {{x/data.json: '{text}'}}}}}}"
        );
        let built = fixture.build(&fixture.job(&job)?).await?;
        Ok::<_, Box<dyn Error>>(built.revision)
    };
    let (one, other) = (
        revision(expression, "1").await?,
        revision(expression, "2").await?,
    );
    assert_eq!(one != other, changes, "{one} {other}");
    Ok(())
}

/// Returns sixty values that share their parts, so that the last one has 2^60 nodes.
fn shared() -> String {
    let steps = (1..60).map(|index| format!("; x{index} := [x{0}, x{0}]", index - 1));
    steps.fold("x0 := [1]".to_owned(), |all, step| all + &step)
}

#[rstest]
#[case::time(
    "count([1 | some a in numbers.range(1, 9999); some b in numbers.range(1, 9999); \
     a + b == -1])",
    true,
    "query execution took too long; all evaluations of a build together may take 100ms \
     and make values of 128 MiB"
)]
#[case::schema(
    r#"[r | SHARED; r := json.match_schema({"a": x59}, SCHEMA)]"#,
    true,
    ""
)]
#[case::text(r#"sprintf("%v", [[r | SHARED; r := x59]])"#, true, "")]
#[case::document("[r | SHARED; r := x59]", false, "the document takes more than")]
#[case::no_value("1 / 0", false, "the expression has no value")]
#[tokio::test]
async fn expressions_end_at_the_limits_of_their_build(
    #[case] expression: &str,
    #[case] exhausted: bool,
    #[case] message: &str,
) -> Result<(), Box<dyn Error>> {
    let schema = r#"{"properties":{"a":{"items":{"type":"array"}}}}"#;
    let expression = expression
        .replace("SHARED", &shared())
        .replace("SCHEMA", schema);
    let mut fixture = TestFolders::new()?;
    fixture.access.limits.evaluations.time = Some(std::time::Duration::from_millis(100));
    let revision = serde_json::Value::from(expression.as_str());
    let job = fixture.job(&format!("bundle: {{revision: {revision},{SOURCES}"))?;
    let failed = fixture
        .build(&job)
        .await
        .err()
        .ok_or("a bundle was built")?;
    assert_eq!(failed.exhausted, exhausted, "{failed}");
    assert!(failed.message.contains(message), "{failed}");
    Ok(())
}
