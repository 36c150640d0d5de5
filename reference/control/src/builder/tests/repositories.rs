//! Local repositories.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use gix::ObjectId;
use gix::actor::SignatureRef;
use gix::objs::tree::{Entry, EntryKind};
use gix::refs::transaction::PreviousValue;

use super::{TestFolders, dedent};

/// File of a commit: its path, kind and content (commit id for a submodule).
pub(super) type File<'f> = (&'f str, EntryKind, &'f str);

/// Opens a repository without the user's configuration; creates one if necessary.
pub(super) fn opened(folder: &Path) -> Result<gix::Repository, Box<dyn Error>> {
    let committer = ["committer.name=test", "committer.email=test@localhost"];
    let options = || gix::open::Options::isolated().config_overrides(committer);
    if let Ok(repository) = gix::open_opts(folder, options()) {
        return Ok(repository);
    }
    std::fs::create_dir_all(folder)?;
    let kind = gix::create::Kind::WithWorktree;
    let created =
        gix::ThreadSafeRepository::init_opts(folder, kind, Default::default(), options())?;
    Ok(created.to_thread_local())
}

/// Writes a tree of files.
fn tree(repository: &gix::Repository, files: &[File<'_>]) -> Result<ObjectId, Box<dyn Error>> {
    let mut entries = Vec::new();
    let mut folders: BTreeMap<&str, Vec<File<'_>>> = BTreeMap::new();
    for (path, kind, text) in files {
        if let Some((folder, rest)) = path.split_once('/') {
            let files = folders.entry(folder).or_default();
            files.push((rest, *kind, text));
            continue;
        }
        let oid = match kind {
            EntryKind::Commit => ObjectId::from_hex(text.as_bytes())?,
            _ => repository.write_blob(text)?.detach(),
        };
        entries.push((*path, *kind, oid));
    }
    for (name, files) in folders {
        entries.push((name, EntryKind::Tree, tree(repository, &files)?));
    }
    let entries = entries.into_iter().map(|(name, kind, oid)| Entry {
        mode: kind.into(),
        filename: name.into(),
        oid,
    });
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort();
    Ok(repository
        .write_object(gix::objs::Tree { entries })?
        .detach())
}

/// Commits exactly these files to `main`; returns the id of the commit.
pub(super) fn commit(folder: &Path, files: &[File<'_>]) -> Result<String, Box<dyn Error>> {
    let repository = opened(folder)?;
    let tree = tree(&repository, files)?;
    let parent = repository.find_reference("refs/heads/main").ok();
    let parent = parent.map(|parent| parent.id().detach());
    let id = repository.commit_as(
        signature(),
        signature(),
        "refs/heads/main",
        "test",
        tree,
        parent,
    )?;
    Ok(id.to_string())
}

/// Returns the committer and time.
fn signature() -> SignatureRef<'static> {
    SignatureRef {
        name: "test".into(),
        email: "test@localhost".into(),
        time: "0 +0000",
    }
}

/// Returns the files of a commit of [`repository`], with this policy.
pub(super) fn files(policy: &str) -> [File<'_>; 5] {
    [
        ("policy/a.rego", EntryKind::Blob, policy),
        ("policy/sub/data.json", EntryKind::Blob, r#"{"n":1}"#),
        ("policy/a_test.rego", EntryKind::Blob, "package a_test"),
        ("other.rego", EntryKind::Blob, "package other"),
        ("policy/link", EntryKind::Link, "/etc/passwd"),
    ]
}

/// Creates a repository with two commits on `main`, the first tagged `one`; returns their ids.
pub(super) fn repository(folder: &Path) -> Result<(String, String), Box<dyn Error>> {
    let first = commit(folder, &files("package a\n\np := 1\n"))?;
    let id = ObjectId::from_hex(first.as_bytes())?;
    let kind = gix::objs::Kind::Commit;
    opened(folder)?.tag(
        "one",
        id,
        kind,
        Some(signature()),
        "one",
        PreviousValue::Any,
    )?;
    Ok((first, commit(folder, &files("package a\n\np := 2\n"))?))
}

#[tokio::test]
async fn repositories_are_read_at_a_commit() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let (first, second) = repository(&fixture.root().join("repo"))?;
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
        for repo in [
            "ROOT/repo",
            "file://ROOT/repo",
            "ROOT/repo/.git",
            "./repo/",
            "repo",
        ] {
            let job = format!(
                "{{bundle: {{requirements: [{{source: a, git: {{commit: '{pin}'}}}}]}}, \
                 sources: {{a: {{git: {{repo: '{repo}', {git}}}}}}}}}"
            );
            let job = fixture.job(&job)?;
            let built = fixture.build(&job).await?;
            assert_eq!(super::listing(&built)?, dedent(expected), "{git} {pin}");
            assert_eq!(built.commits.get("a"), Some(commit), "{git} {pin}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn repositories_cannot_lead_elsewhere() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let inside = fixture.root().join("repo");
    repository(&inside)?;
    let outside = fixture.folder.path().join("outside");
    let (_, second) = repository(&outside)?;
    let link = fixture.root().join("link");
    std::fs::create_dir_all(&link)?;
    let target = format!("gitdir: {}\n", outside.join(".git").display());
    std::fs::write(link.join(".git"), target)?;
    // A repository that borrows the objects of another one.
    let shared = fixture.root().join("shared");
    opened(&shared)?;
    let objects = format!("{}\n", outside.join(".git/objects").display());
    std::fs::create_dir_all(shared.join(".git/objects/info"))?;
    std::fs::write(shared.join(".git/objects/info/alternates"), objects)?;
    std::fs::write(shared.join(".git/refs/heads/main"), format!("{second}\n"))?;
    // Repositories in which one part is a link to another one's.
    for part in ["objects/pack", "objects/info", "refs", "HEAD", "config"] {
        let folder = fixture
            .root()
            .join(format!("part-{}", part.replace('/', "-")));
        repository(&folder)?;
        let replaced = folder.join(".git").join(part);
        drop(std::fs::remove_dir_all(&replaced));
        drop(std::fs::remove_file(&replaced));
        std::os::unix::fs::symlink(outside.join(".git").join(part), replaced)?;
    }
    // Links that stay inside, and hooks, do no harm.
    let linked = fixture.root().join("linked");
    repository(&linked)?;
    let refs = linked.join(".git/refs");
    std::fs::rename(&refs, fixture.root().join("refs-of-linked"))?;
    std::os::unix::fs::symlink(fixture.root().join("refs-of-linked"), refs)?;
    std::fs::create_dir_all(linked.join(".git/hooks"))?;
    std::os::unix::fs::symlink("/bin/sh", linked.join(".git/hooks/pre-commit"))?;
    commit(&inside, &[("l.json", EntryKind::Link, "/etc/passwd")])?;
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
            "repo: ROOT/part-objects-pack, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/part-objects-info, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/part-refs, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/part-HEAD, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/part-config, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ROOT/linked, reference: main, path: none",
            "SYNC_FAILED: source `a`: git: the commit has no folder `none`",
        ),
        (
            "repo: ROOT/../outside, reference: main",
            "CONFIG_ERROR: source `a`: `",
        ),
        (
            "repo: ../outside, reference: main",
            "CONFIG_ERROR: source `a`: `../outside` is not there or lies outside",
        ),
        (
            "repo: ./linked/../../outside, reference: main",
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
        let found = fixture.listing(&job).await?;
        assert!(
            found.starts_with(&format!("SYNC {expected}")),
            "{git}: {found}"
        );
    }
    Ok(())
}
