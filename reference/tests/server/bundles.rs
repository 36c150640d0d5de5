//! Signed bundle on the command line: responses to clients of the server.

use std::fs;
use std::path::Path;

use reference::start;

use crate::wire::{engine, send_request};

/// Files of a signed bundle; the secret of its signature follows.
const FILES: &[(&str, &str)] = &[
    (
        ".signatures.json",
        include_str!("../engine/bundles/signed/HS256.json"),
    ),
    (
        ".manifest",
        include_str!("../engine/bundles/signed/files/.manifest"),
    ),
    (
        "README.md",
        include_str!("../engine/bundles/signed/files/README.md"),
    ),
    (
        "data.json",
        include_str!("../engine/bundles/signed/files/data.json"),
    ),
    (
        "a/w/data.yml",
        include_str!("../engine/bundles/signed/files/a/w/data.yml"),
    ),
    (
        "a/y/data.yaml",
        include_str!("../engine/bundles/signed/files/a/y/data.yaml"),
    ),
    (
        "deep/p.rego",
        include_str!("../engine/bundles/signed/files/deep/p.rego"),
    ),
];
const SECRET: &str = "secretsecret";

fn write(folder: &Path) {
    for (name, text) in FILES {
        let path = folder.join(name);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(failure) = parent.and_then(|()| fs::write(&path, text)) {
            panic!("{name}: {failure}");
        }
    }
}

#[tokio::test]
async fn a_signed_bundle_is_served_and_owned() {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the bundle");
    };
    write(folder.path());
    let path = folder.path().display().to_string();
    let flags = [
        "-b",
        "--signing-alg",
        "HS256",
        "--verification-key",
        SECRET,
        &path,
    ];
    let running = engine(&flags).await;
    for (request, status, part) in [
        ("GET /v1/data/a/y/k/1", "200", "{\"result\":2.5}"),
        ("GET /v1/data?provenance", "200", "{\"revision\":\"s1\"}"),
        ("PUT /v1/data/a/new", "400", "path a/new is owned by bundle"),
        ("PUT /v1/data/b", "204", ""),
        ("PUT /v1/data", "400", "can't write to document root"),
    ] {
        let headers = "Host: x\r\nConnection: close\r\nContent-Length: 2";
        let answer = send_request(
            &running,
            &format!("{request} HTTP/1.1\r\n{headers}\r\n\r\n{{}}"),
        )
        .await;
        let begin = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&begin), "{request}: {answer}");
        assert!(answer.contains(part), "{request}: {answer}");
    }
    running.shutdown().await;
}

#[tokio::test]
async fn bundles_that_no_key_vouches_for_stop_the_start() {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the bundle");
    };
    write(folder.path());
    let path = folder.path().display().to_string();
    let path = path.as_str();
    for (flags, part) in [
        (&["-b"][..], "no keys are configured"),
        (
            &["-b", "--verification-key", SECRET],
            "signed by `HS256`, not `RS256`",
        ),
        (
            &[
                "-b",
                "--verification-key",
                SECRET,
                "--signing-alg",
                "HS256",
                "--scope",
                "s",
            ],
            "the scope is ``, not `s`",
        ),
        (&["--verification-key", SECRET], "--bundle"),
    ] {
        let args = ["engine", "--addr", "127.0.0.1:0"];
        let args = args.iter().chain(flags).chain([&path]);
        let reason = match start(args.map(|arg| (*arg).to_owned())).await {
            Ok(_) => panic!("{flags:?}: the engine started"),
            Err(failure) => failure.to_string(),
        };
        assert!(reason.contains(part), "{flags:?}: {reason}");
    }
}
