//! Repositories on the disk, made with the `git` program.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use super::{World, plain};

/// Runs `git` without the configuration of whoever tests; gives what it says.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

/// A repository with two commits on `main`, of which the first has the tag `one`; gives their ids.
pub(super) fn repository(folder: &Path) -> Result<(String, String), Box<dyn Error>> {
    std::fs::create_dir_all(folder.join("policy/sub"))?;
    git(folder, &["init", "--quiet", "--initial-branch=main"])?;
    std::fs::write(folder.join("policy/a.rego"), "package a\n\np := 1\n")?;
    std::fs::write(folder.join("policy/sub/data.json"), r#"{"n":1}"#)?;
    std::fs::write(folder.join("policy/a_test.rego"), "package a_test")?;
    std::fs::write(folder.join("other.rego"), "package other")?;
    std::os::unix::fs::symlink("/etc/passwd", folder.join("policy/link"))?;
    git(folder, &["add", "."])?;
    git(folder, &["commit", "--quiet", "--message=one"])?;
    git(folder, &["tag", "--annotate", "--message=one", "one"])?;
    let first = git(folder, &["rev-parse", "HEAD"])?;
    std::fs::write(folder.join("policy/a.rego"), "package a\n\np := 2\n")?;
    git(folder, &["commit", "--quiet", "--all", "--message=two"])?;
    Ok((first, git(folder, &["rev-parse", "HEAD"])?))
}

#[tokio::test]
async fn repositories_are_read_at_a_commit() -> Result<(), Box<dyn Error>> {
    let world = World::new()?;
    let (first, second) = repository(&world.root().join("repo"))?;
    let one = r#"
        /data.json {"sub":{"n":1}}
        /a/a.rego package a

        p := 1
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","sub"]}
    "#;
    let two = &one.replace("p := 1", "p := 2");
    let all = r#"
        /data.json {}
        /a/other.rego package other
        /a/policy/a.rego package a

        p := 2
        /.manifest {"rego_version":1,"revision":"REV","roots":["a","other"]}
    "#;
    let policy = "path: /policy/, excluded_files: ['*_test.rego']";
    for (git, pin, commit, expected) in [
        (
            format!("reference: main, {policy}"),
            "",
            &second,
            two.as_str(),
        ),
        (
            format!("reference: refs/heads/main, {policy}"),
            "",
            &second,
            two,
        ),
        (
            format!("reference: refs/tags/one, {policy}"),
            "",
            &first,
            one,
        ),
        (format!("commit: {first}, {policy}"), "", &first, one),
        (
            format!("reference: main, commit: {first}, {policy}"),
            "",
            &first,
            one,
        ),
        (
            format!("reference: main, {policy}"),
            first.as_str(),
            &first,
            one,
        ),
        (
            "reference: main, included_files: ['*a.rego', 'o*']".to_owned(),
            "",
            &second,
            all,
        ),
    ] {
        for repo in ["ROOT/repo", "file://ROOT/repo", "ROOT/repo/.git"] {
            let job = format!(
                "{{bundle: {{requirements: [{{source: a, git: {{commit: '{pin}'}}}}]}}, \
                 sources: {{a: {{git: {{repo: '{repo}', {git}}}}}}}}}"
            );
            let job = world.job(&job)?;
            let built = world.build(&job).await?;
            assert_eq!(super::listing(&built)?, plain(expected), "{git} {pin}");
            assert_eq!(built.commits.get("a"), Some(commit), "{git} {pin}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn repositories_cannot_lead_elsewhere() -> Result<(), Box<dyn Error>> {
    let world = World::new()?;
    let inside = world.root().join("repo");
    repository(&inside)?;
    let outside = world.folder.path().join("outside");
    repository(&outside)?;
    let link = world.root().join("link");
    std::fs::create_dir_all(&link)?;
    let target = format!("gitdir: {}\n", outside.join(".git").display());
    std::fs::write(link.join(".git"), target)?;
    let shared = world.root().join("shared");
    let from = outside.to_string_lossy();
    git(
        world.folder.path(),
        &[
            "clone",
            "--quiet",
            "--shared",
            &from,
            &shared.to_string_lossy(),
        ],
    )?;
    std::os::unix::fs::symlink("/etc/passwd", inside.join("l.json"))?;
    git(&inside, &["add", "."])?;
    git(&inside, &["commit", "--quiet", "--message=link"])?;
    for (git, expected) in [
        (
            "repo: ROOT/link, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/shared, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/../outside, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/repo, reference: main",
            "SYNC_FAILED: source `a`: git: `l.json` is a link",
        ),
        (
            "repo: ROOT/repo, reference: main, path: none",
            "SYNC_FAILED: source `a`: git: the commit has no folder `none`",
        ),
        (
            "repo: ROOT/repo, reference: none",
            "SYNC_FAILED: source `a`: git: ",
        ),
        (
            "repo: ROOT/repo, commit: 0123456789012345678901234567890123456789",
            "SYNC_FAILED: source `a`: git: ",
        ),
        (
            "repo: ROOT/none, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT, reference: main",
            "SYNC_FAILED: source `a`: git: ",
        ),
    ] {
        let job = format!(
            "{{bundle: {{requirements: [{{source: a}}]}}, sources: {{a: {{git: {{{git}}}}}}}}}"
        );
        let found = world.listing(&job).await?;
        assert!(
            found.starts_with(&format!("SYNC {expected}")),
            "{git}: {found}"
        );
    }
    Ok(())
}
