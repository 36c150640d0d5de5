//! Definitions that result in errors.

use std::error::Error;

use rstest::rstest;

use super::{Limits, TestFolders};

#[tokio::test]
async fn failures_say_what_and_where() -> Result<(), Box<dyn Error>> {
    for (job, expected) in CASES {
        let fixture = TestFolders::new()?;
        std::fs::write(fixture.folder.path().join("secret.json"), "{}")?;
        for folder in ["", "library/", "library/linked/"] {
            std::fs::create_dir_all(fixture.root().join(folder))?;
            let link = fixture.root().join(folder).join("out");
            std::os::unix::fs::symlink(fixture.folder.path(), link)?;
        }
        let found = fixture.listing(job).await?;
        let found = found.replace(&*fixture.root().to_string_lossy(), "ROOT");
        assert!(found.starts_with(expected), "{job}\n{found}");
    }
    Ok(())
}

#[rstest]
#[case::none(Limits::default(), "")]
#[case::parts(Limits { parts: 4, ..Limits::default() }, "SYNC CONFIG_ERROR")]
#[case::depth(Limits { depth: 1, ..Limits::default() }, "SYNC")]
#[case::entries(
    Limits { entries: 2, ..Limits::default() },
    "SYNC SYNC_FAILED: source `a`: there are too many files to look at"
)]
#[case::file(Limits { file: 6, ..Limits::default() }, "SYNC SYNC_FAILED")]
#[case::total_of_files(Limits { total: 15, ..Limits::default() }, "SYNC SYNC_FAILED")]
#[case::total_of_all(Limits { total: 22, ..Limits::default() }, "BUILD BUILD_FAILED")]
#[case::policies(
    Limits { policies: 8, ..Limits::default() },
    "BUILD BUILD_FAILED: source `a`: the policies up to `a/c/d/a.rego` have too many bytes"
)]
#[case::one_file(Limits { files: 1, ..Limits::default() }, "SYNC SYNC_FAILED")]
#[case::two_files(Limits { files: 2, ..Limits::default() }, "BUILD BUILD_FAILED")]
#[tokio::test]
async fn limits_end_builds(
    #[case] limits: Limits,
    #[case] expected: &str,
) -> Result<(), Box<dyn Error>> {
    const JOB: &str = r#"
        bundle: {requirements: [{source: a}, {source: a-more}]}
        sources:
          a: {directory: ROOT/a, requirements: [{source: b}, {source: b-more, prefix: other}]}
          a-more: {requirements: [{source: b, prefix: y}]}
          b: {}
          b-more: {}
        data: {b: {x/data.json: "[1,2,3]"}}
        files: {a/c/d/a.rego: package a}
    "#;
    let mut fixture = TestFolders::new()?;
    fixture.access.limits = limits;
    let found = fixture.listing(JOB).await?;
    match expected {
        "" => assert!(found.starts_with("/data.json"), "{found}"),
        expected => assert!(found.starts_with(expected), "{found}"),
    }
    Ok(())
}

const CASES: &[(&str, &str)] = &[
    // Requirements.
    (
        "bundle: {requirements: [{source: a}]}",
        "SYNC CONFIG_ERROR: source `a` is required and does not exist",
    ),
    (
        "{bundle: {requirements: [{source: a, path: a/b}]}, sources: {a: {}}}",
        "SYNC CONFIG_ERROR: requirement on source `a`: path `a/b` is not a reference such as data.a.b",
    ),
    (
        "{bundle: {requirements: [{source: a, prefix: 'x[1]'}]}, sources: {a: {}}}",
        "SYNC CONFIG_ERROR: requirement on source `a`: prefix `x[1]` is not a reference",
    ),
    (
        "{bundle: {requirements: [{source: a, git: {commit: '1'}}, {source: b}]}, sources: {a: {}, b: {requirements: [{source: a, git: {commit: '2'}}]}}}",
        "SYNC CONFIG_ERROR: requirements pin source `a` to two commits, 1 and 2",
    ),
    (
        "bundle: {excluded_files: ['[x']}",
        "SYNC CONFIG_ERROR: excluded_files: pattern `[x`",
    ),
    (
        "{bundle: {options: {target: wasm}}}",
        "SYNC CONFIG_ERROR: options.target: bundles are not compiled to `wasm` here",
    ),
    (
        "{bundle: {options: {target: plan}}}",
        "SYNC CONFIG_ERROR: options.target: bundles are not compiled to `plan` here",
    ),
    // Revisions.
    (
        "{bundle: {revision: 'a b'}}",
        "BUILD BUILD_FAILED: revision `a b`: ",
    ),
    (
        "{bundle: {revision: 'input.x; input.y'}}",
        "BUILD BUILD_FAILED: revision `input.x; input.y`: it must be one expression",
    ),
    (
        "{bundle: {revision: 'input.sources.a.git.commit', requirements: [{source: a}]}, sources: {a: {}}}",
        "BUILD BUILD_FAILED: revision `input.sources.a.git.commit`: the expression has no value",
    ),
    (
        "{bundle: {revision: 'opa.runtime().env.PATH'}}",
        "BUILD BUILD_FAILED: revision `opa.runtime().env.PATH`: the expression has no value",
    ),
    (
        "{bundle: {revision: '\"\"'}}",
        "BUILD BUILD_FAILED: revision `\"\"`: the revision is empty",
    ),
    (
        "{bundle: {revision: 'concat(\"-\", numbers.range(1000, 1100))'}}",
        "BUILD BUILD_FAILED: revision `concat(\"-\", numbers.range(1000, 1100))`: 1 error occurred: 1:1: rego_type_error: concat: invalid argument(s)",
    ),
    (
        "{bundle: {revision: 'numbers.range(1000, 1100)'}}",
        "BUILD BUILD_FAILED: revision `numbers.range(1000, 1100)`: the revision has 506 bytes, and at most 255 are allowed",
    ),
    (
        "{bundle: {revision: 'http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1:1/\"})'}}",
        "BUILD BUILD_FAILED: revision `http.send({",
    ),
    // Embedded files.
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {files: {../x.rego: ''}}}}",
        "SYNC CONFIG_ERROR: source `a`: files.../x.rego: a path is relative",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {files: {x.rego: '*'}}}}",
        "SYNC CONFIG_ERROR: source `a`: files.x.rego: no base64",
    ),
    // Conflicts.
    (
        "{bundle: {requirements: [{source: a}, {source: b}]}, sources: {a: {directory: ROOT/a}, b: {directory: ROOT/b}}, files: {a/x.rego: package p.x, b/x.rego: package p.x.y}}",
        "BUILD BUILD_FAILED: requirement \"b\" contains conflicting package p.x.y\n- package p.x from \"a\"",
    ),
    (
        "{bundle: {requirements: [{source: a}, {source: b}]}, sources: {a: {directory: ROOT/a}, b: {}}, files: {a/x.rego: package p.x}, data: {b: {p/data.json: '{}'}}}",
        "BUILD BUILD_FAILED: requirement \"b\" contains conflicting package p\n- package p.x from \"a\"",
    ),
    (
        "{bundle: {requirements: [{source: a}, {source: b}]}, sources: {a: {}, b: {}}, data: {a: {data.json: '{}'}, b: {p/data.json: '{}'}}}",
        "BUILD BUILD_FAILED: requirement \"b\" contains conflicting package p\n- package data from \"a\"",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {}}, data: {a: {p/data.json: '{\"q\":1}', p/q/data.json: '2'}}}",
        "BUILD BUILD_FAILED: source `a`: `p/q/data.json`: conflicts with the document of another file at `p/q`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {}}, data: {a: {data.json: '[]'}}}",
        "BUILD BUILD_FAILED: source `a`: `data.json`: the document at the root must be an object",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/a.rego: 'package a\n\np := 1', a/a/data.json: '{\"p\":2}'}}",
        "BUILD BUILD_FAILED: 1 error occurred: a/a.rego:2: rego_compile_error",
    ),
    // Files.
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/a.rego: 'package a\n\np if'}}",
        "BUILD BUILD_FAILED: source `a`: 1 error occurred: a/a.rego:2: rego_parse_error",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/a.rego: 'package a\n\np := x'}}",
        "BUILD BUILD_FAILED: 1 error occurred: a/a.rego:2: rego_unsafe_var_error",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/b/c.json: '{'}}",
        "BUILD BUILD_FAILED: source `a`: `b/c.json`: invalid JSON at line 1",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/b/c.yml: 'a: {'}}",
        "BUILD BUILD_FAILED: source `a`: `b/c.yml`: ",
    ),
    (
        "{bundle: {requirements: [{source: a, path: p}]}, sources: {a: {directory: ROOT/a}}, files: {a/a.rego: 'package p'}}",
        "BUILD BUILD_FAILED: source `a`: a/a.rego: the package cannot be called `data`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/.manifest: '{\"roots\":5}'}}",
        "BUILD BUILD_FAILED: source `a`: `.manifest`: ",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a}}, files: {a/.manifest: '{\"rego_version\":2}'}}",
        "BUILD BUILD_FAILED: source `a`: `.manifest`: `rego_version`: the version of Rego must be 0 or 1, found 2",
    ),
    (
        "{bundle: {requirements: [{source: a}, {source: b}]}, sources: {a: {directory: ROOT/a}, b: {}}, files: {a/.manifest: '{\"roots\":[\"a\"]}', a/a.rego: package a}, data: {b: {b/data.json: '{}'}}}",
        "BUILD BUILD_FAILED: `b` of source `b` lies outside of the roots in the manifest of source `a`: a",
    ),
    // Folders.
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: /etc}}}",
        "SYNC CONFIG_ERROR: source `a`: `/etc` is not there or lies outside of the source roots",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/../}}}",
        "SYNC CONFIG_ERROR: source `a`: `ROOT/../` is not there or lies outside of the source roots",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/out}}}",
        "SYNC CONFIG_ERROR: source `a`: `ROOT/out` is not there or lies outside of the source roots",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT}}}",
        "SYNC CONFIG_ERROR: source `a`: link `out` leads nowhere or out of the operator's folders",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/missing}}}",
        "SYNC CONFIG_ERROR: source `a`: `ROOT/missing` is not there",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: root}}}",
        "SYNC CONFIG_ERROR: source `a`: `root` is not there or lies outside of the source roots; it was looked for at `ROOT/root`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ../}}}",
        "SYNC CONFIG_ERROR: source `a`: `../` is not there or lies outside of the source roots; it was looked for at `ROOT/../`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: out}}}",
        "SYNC CONFIG_ERROR: source `a`: `out` is not there or lies outside",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: a/../out}}, files: {a/x.rego: package x}}",
        "SYNC CONFIG_ERROR: source `a`: `a/../out` is not there or lies outside",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {paths: [out/secret.json]}}}",
        "SYNC CONFIG_ERROR: source `a`: link `out` leads nowhere or out of the operator's folders",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {paths: [../secret.json]}}}",
        "SYNC CONFIG_ERROR: source `a`: paths: no file matches `../secret.json`",
    ),
    // Patterns that no file matches.
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a, paths: [x.rego, y.rego]}}, files: {a/x.rego: package x}}",
        "SYNC CONFIG_ERROR: source `a`: paths: no file matches `y.rego`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a, paths: [../b/data.json]}}, files: {a/x.rego: package x, b/data.json: '{}'}}",
        "SYNC CONFIG_ERROR: source `a`: paths: no file matches `../b/data.json`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: ROOT/a, paths: [b]}}, files: {a/b/x.rego: package x}}",
        "SYNC CONFIG_ERROR: source `a`: paths: no file matches `b`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {paths: [/etc/passwd]}}}",
        "SYNC CONFIG_ERROR: source `a`: paths: no file matches `/etc/passwd`",
    ),
    // Libraries.
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: x}}}",
        "SYNC CONFIG_ERROR: source `a`: there is no built-in source `x`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: ../a}}, files: {a/x.rego: package p}}",
        "SYNC CONFIG_ERROR: source `a`: there is no built-in source `../a`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: .}}, files: {library/x.rego: package p}}",
        "SYNC CONFIG_ERROR: source `a`: there is no built-in source `.`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: ROOT/library/x}}, files: {library/x/x.rego: package p}}",
        "SYNC CONFIG_ERROR: source `a`: there is no built-in source `ROOT/library/x`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: x.rego}}, files: {library/x.rego: package p}}",
        "SYNC CONFIG_ERROR: source `a`: there is no built-in source `x.rego`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: out}}}",
        "SYNC CONFIG_ERROR: source `a`: there is no built-in source `out`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {builtin: linked}}}",
        "SYNC CONFIG_ERROR: source `a`: built-in source `linked`: link `out` leads nowhere or out of",
    ),
    // References of sources.
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, type: x}]}}}",
        "SYNC CONFIG_ERROR: source `a`: datasource `d`: type `x` is neither http nor s3",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, path: ../x, type: http}]}}}",
        "SYNC CONFIG_ERROR: source `a`: datasource `d`: a path cannot hold the segment `..`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, type: http}]}}}",
        "SYNC CONFIG_ERROR: source `a`: datasource `d`: config.url is required",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, type: http, config: {url: 'http://elsewhere.example/'}}]}}}",
        "SYNC CONFIG_ERROR: source `a`: datasource `d`: host `elsewhere.example` is not among the allowed hosts",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, type: http, config: {url: 'file:///etc/passwd'}}]}}}",
        "SYNC CONFIG_ERROR: source `a`: datasource `d`: config.url must begin with http",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, type: s3, config: {bucket: b, key: k}}]}}}",
        "SYNC CONFIG_ERROR: source `a`: datasource `d`: host `s3.us-east-1.amazonaws.com` is not among",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {datasources: [{name: d, type: http, credentials: s, config: {url: 'http://127.0.0.1/'}}]}}}",
        "SYNC CONFIG_ERROR: source `a`: secret `s` does not exist",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'ssh://elsewhere.example/x', commit: abc}}}}",
        "SYNC CONFIG_ERROR: source `a`: commit `abc` is not 40 hexadecimal digits",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'https://elsewhere.example/x'}}}}",
        "SYNC CONFIG_ERROR: source `a`: git: either a reference or a commit must be given",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'git@elsewhere.example:x', reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: host `elsewhere.example` is not among the allowed hosts",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'ssh://-oProxyCommand=x/y', reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: git.repo is not an address",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'https://ann:hush-hush@127.0.0.1/x', reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: git.repo holds a password, which everybody can read; secrets are for that",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'https://127.0.0.1/x?token=hush-hush', reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: git.repo: an address of a repository has no query",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'ext::sh -c x', reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: git.repo is not an address",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: /etc, reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: `/etc` is not there or lies outside",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'ssh://127.0.0.1/x', reference: main}}}}",
        "SYNC CONFIG_ERROR: source `a`: git: ssh needs credentials of type ssh_key",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'ssh://127.0.0.1/x', reference: 'a:b'}}}}",
        "SYNC CONFIG_ERROR: source `a`: invalid reference `a:b`",
    ),
    (
        "{bundle: {requirements: [{source: a}]}, sources: {a: {git: {repo: 'ssh://127.0.0.1/x', reference: main, path: a/../b}}}}",
        "SYNC CONFIG_ERROR: source `a`: git.path cannot hold the segment `..`",
    ),
];
