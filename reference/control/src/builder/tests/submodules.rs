//! Repositories within repositories.

use std::error::Error;

use gix::objs::tree::EntryKind::{Blob, Commit};

use super::TestFolders;
use super::remotes::{ANN, server};
use super::repositories::commit;

/// Returns the `.gitmodules` entry of one submodule.
fn module(path: &str, url: &str) -> String {
    format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = {url}\n")
}

#[tokio::test]
async fn submodules_are_read_where_they_may_be() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    // The same repositories on the disk and on two servers.
    let root = fixture.root();
    let (serving, elsewhere) = (server(&root).await?, server(&root).await?);
    let (address, other) = (serving.url(), elsewhere.url());
    let inmost = commit(&root.join("inmost"), &[("data.json", Blob, r#"{"n":1}"#)])?;
    commit(&root.join("inmost"), &[("data.json", Blob, r#"{"n":2}"#)])?;
    let modules = module("in", "../../inmost/.git");
    let inner = [
        ("i.rego", Blob, "package i"),
        ("i_test.rego", Blob, "package i_test"),
        (".gitmodules", Blob, modules.as_str()),
        ("in", Commit, inmost.as_str()),
        ("unsaid", Commit, inmost.as_str()),
    ];
    let inner = commit(&root.join("inner"), &inner)?;
    let on_disk = root.join("inner/.git").display().to_string();
    let open = format!("repo: {address}/open/outer/.git");
    let closed = format!("repo: {address}/closed/outer/.git, credentials: s");
    let local = format!("repo: {}", root.join("outer/.git").display());
    let listed = "/data.json {\"lib\":{\"in\":{\"n\":1}}}\n/a/lib/i.rego package i\n/.manifest";
    let config = "SYNC CONFIG_ERROR: source `a`: submodule `lib`: ";
    let sync = "SYNC SYNC_FAILED: source `a`: submodule `lib/`: git: ";
    for (repo, url, expected) in [
        (&open, "../../inner/.git", listed.to_owned()),
        (&local, "../../inner/.git", listed.to_owned()),
        (&local, on_disk.as_str(), listed.to_owned()),
        (&closed, "../../inner/.git", listed.to_owned()),
        // The credentials are for one server.
        (
            &closed,
            &format!("{other}/open/inner/.git"),
            listed.to_owned(),
        ),
        (
            &closed,
            &format!("{other}/closed/inner/.git"),
            sync.to_owned(),
        ),
        (
            &open,
            &format!("{address}/closed/inner/.git"),
            sync.to_owned(),
        ),
        (
            &open,
            "https://elsewhere.example/x",
            format!("{config}host `elsewhere.example`"),
        ),
        (
            &open,
            &on_disk,
            format!("{config}git: a repository of another host has none on"),
        ),
        (&local, "/etc", format!("{config}`/etc` is not there")),
        (
            &open,
            "ext::sh -c x",
            format!("{config}git.repo is not an address"),
        ),
    ] {
        let modules = module("policy/lib", url);
        let files = [
            (".gitmodules", Blob, modules.as_str()),
            ("policy/lib", Commit, &inner),
        ];
        commit(&root.join("outer"), &files)?;
        let job = format!(
            "{{bundle: {{requirements: [{{source: a}}]}}, sources: {{a: {{git: {{{repo}, \
             reference: main, path: policy, excluded_files: ['*_test.rego']}}}}}}, secrets: {{s: \
             {{type: basic_auth, username: '', password: '', headers: ['Authorization: {ANN}']}}}}}}"
        );
        let found = fixture.listing(&job).await?;
        assert!(found.starts_with(&expected), "{repo} {url}: {found}");
    }
    Ok(())
}

#[tokio::test]
async fn submodules_end() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let folder = fixture.root().join("deep");
    let modules = module("d", "./");
    let mut last = commit(&folder, &[("data.json", Blob, "{}")])?;
    for (depth, expected) in (1..=11).map(|depth| (depth, depth <= 10)) {
        let files = [
            (".gitmodules", Blob, modules.as_str()),
            ("d", Commit, &last),
        ];
        last = commit(&folder, &files)?;
        let found = fixture
            .listing(
                "{bundle: {requirements: [{source: a}]}, \
                 sources: {a: {git: {repo: ROOT/deep, reference: main}}}}",
            )
            .await?;
        let is_read = found.starts_with("/data.json {\"d\":{");
        assert_eq!(is_read, expected, "{depth}: {found}");
        assert!(is_read || found.contains("too many submodules"), "{found}");
    }
    Ok(())
}

#[tokio::test]
async fn excluded_submodules_are_not_asked_for() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    let id = "0123456789012345678901234567890123456789";
    let modules = module("vendor", "https://elsewhere.example/x");
    let files = [
        (".gitmodules", Blob, modules.as_str()),
        ("vendor", Commit, id),
        ("q/a.rego", Blob, "package q"),
    ];
    commit(&fixture.root().join("outer"), &files)?;
    let refusal = "SYNC CONFIG_ERROR: source `a`: submodule `vendor`: host `elsewhere.example`";
    for (selection, expected) in [
        ("included_files: ['q/*']", "/data.json"),
        ("excluded_files: ['vendor/*']", "/data.json"),
        (
            "included_files: ['q/*'], excluded_files: ['vendor/*']",
            "/data.json",
        ),
        ("included_files: ['*.rego']", refusal),
        ("excluded_files: ['vendor/x/*']", refusal),
    ] {
        let job = format!(
            "{{bundle: {{requirements: [{{source: a}}]}}, sources: {{a: {{git: \
             {{repo: ROOT/outer, reference: main, {selection}}}}}}}}}"
        );
        let found = fixture.listing(&job).await?;
        assert!(found.starts_with(expected), "{selection}: {found}");
    }
    Ok(())
}

#[tokio::test]
async fn submodules_in_many_places_count_once() -> Result<(), Box<dyn Error>> {
    let mut fixture = TestFolders::new()?;
    let root = fixture.root();
    let server = server(&root).await?;
    let address = server.url();
    // The repository of the submodule is far larger than the outer one.
    let words = (0..20_000_u64).map(|n| format!("{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let text: String = words.collect();
    let inner = [("data.json", Blob, &*format!("{{\"n\":\"{text}\"}}"))];
    let inner = commit(&root.join("inner"), &inner)?;
    let places = ["one", "two", "three"];
    let url = "../../inner/.git";
    let modules: String = places.iter().map(|place| module(place, url)).collect();
    let mut files = vec![(".gitmodules", Blob, modules.as_str())];
    files.extend(places.iter().map(|place| (*place, Commit, inner.as_str())));
    commit(&root.join("outer"), &files)?;
    let job = format!(
        "{{bundle: {{requirements: [{{source: a}}]}}, sources: {{a: {{git: \
         {{repo: '{address}/open/outer/.git', reference: main}}}}}}}}"
    );
    let text_bytes = text.len() as u64;
    for (repository, expected) in [
        (text_bytes * 3 / 2, "/data.json"),
        (text_bytes / 4, "SYNC SYNC_FAILED"),
    ] {
        fixture.access.limits.repository = repository;
        let found = fixture.listing(&job).await?;
        let excerpt: String = found.chars().take(200).collect();
        assert!(found.starts_with(expected), "{repository}: {excerpt}");
    }
    Ok(())
}
