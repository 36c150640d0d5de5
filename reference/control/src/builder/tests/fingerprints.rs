//! Builds that are skipped because the files are unchanged.

use std::error::Error;

use rstest::rstest;

use super::TestFolders;

#[tokio::test]
async fn nothing_is_made_of_files_that_are_the_same() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let job = fixture.job(
        "{bundle: {requirements: [{source: a}, {source: b}]}, \
         sources: {a: {directory: ROOT/a}, b: {}}, data: {b: {y/data.json: '1'}}, \
         files: {a/x/data.json: '1', a/p.rego: package p}}",
    )?;
    let mut known = None;
    let path_of = |path: &str| fixture.root().join(path);
    for (change, rebuilds) in [
        ("a/x/data.json 1", true),
        ("a/x/data.json 1", false),
        ("a/x/data.json 2", true),
        ("a/q.rego package q", true),
        ("a/q.rego package q", false),
        ("a/README.md hello", false),
        ("a/q.rego", true),
    ] {
        match change.split_once(' ') {
            Some((path, text)) => std::fs::write(path_of(path), text)?,
            None => std::fs::remove_file(path_of(change))?,
        }
        let built = fixture.build_unless(&job, known.as_deref()).await?;
        assert_eq!(built.is_some(), rebuilds, "{change}");
        if let Some(built) = built {
            known = built.fingerprint;
            assert!(known.as_ref().is_some_and(|known| !known.is_empty()));
        }
    }
    Ok(())
}

/// A fingerprint is empty if the database has all files, and absent if the revision is computed.
#[rstest]
#[case::empty("", "", Some(true))]
#[case::embedded_files("", "files: {x/data.json: MQ==}", Some(true))]
#[case::folder("", "directory: ROOT/a", Some(false))]
#[case::library("", "builtin: lib", Some(false))]
#[case::paths("", "paths: ['*.rego']", Some(false))]
#[case::revision("revision: '\"r\"',", "", None)]
#[case::revision_and_folder("revision: '\"r\"',", "directory: ROOT/a", None)]
#[case::empty_revision("revision: '',", "", Some(true))]
#[tokio::test]
async fn not_every_bundle_has_a_fingerprint(
    #[case] bundle: &str,
    #[case] source: &str,
    #[case] expected: Option<bool>,
) -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let job = fixture.job(&format!(
        "{{bundle: {{{bundle} requirements: [{{source: s}}]}}, sources: {{s: {{{source}}}}}, \
         files: {{a/p.rego: package a, local-library/lib/l.rego: package l, \
         r.rego: package r}}}}"
    ))?;
    let fingerprint = fixture.build(&job).await?.fingerprint;
    let is_stored = fingerprint.map(|files| files.is_empty());
    assert_eq!(is_stored, expected);
    Ok(())
}
