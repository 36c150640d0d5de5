//! Repositories over ssh, with stub programs.

use std::error::Error;
use std::time::{Duration, Instant};

use rstest::rstest;

use super::{Limits, TestFolders};
use crate::HANG_LIMIT;

/// Returns the result of a build over ssh.
async fn built(fixture: &TestFolders, secret: &str) -> Result<String, Box<dyn Error>> {
    let secret: serde_json::Value = serde_json::from_str(secret)?;
    let job = format!(
        "{{bundle: {{requirements: [{{source: a}}]}}, secrets: {{s: {secret}}}, sources: {{a: \
         {{git: {{repo: 'ssh://git@127.0.0.1/x', reference: main, credentials: s}}}}}}}}"
    );
    fixture.listing(&job).await
}

#[tokio::test]
async fn fetches_that_come_to_no_end_are_ended() -> Result<(), Box<dyn Error>> {
    for stuck in [
        r#"{"type":"ssh_key","key":"sleep 3600 &\nwait"}"#,
        r#"{"type":"ssh_key","key":"exit 1","fingerprints":["x"]}"#,
    ] {
        let mut fixture = TestFolders::new()?;
        fixture.access.limits.fetch = Duration::from_millis(500);
        let found = built(&fixture, stuck).await?;
        assert!(found.contains("not done within"), "{found}");
        fixture.access.limits = Limits::default();
        // The thread notices it a little later.
        let started = Instant::now();
        loop {
            let found = built(&fixture, r#"{"type":"ssh_key","key":"exit 1"}"#).await?;
            if !found.contains("an earlier fetch has not ended yet") {
                assert!(found.contains("SYNC_FAILED: source `a`: git: "), "{found}");
                break;
            }
            assert!(started.elapsed() < HANG_LIMIT, "{stuck}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let work = fixture.folder.path().join("work");
        let bundle = std::fs::read_dir(&work)?.next().ok_or("no folder")??;
        for entry in std::fs::read_dir(bundle.path())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            assert!(!name.starts_with("ssh-"), "{name}");
        }
    }
    Ok(())
}

/// Start of the result of a build whose key was opened; the server does not exist.
const OPENED: &str = "SYNC SYNC_FAILED: source `a`: git: ";

/// Start of the result of a build whose key was not opened.
const REFUSED: &str =
    "SYNC CONFIG_ERROR: source `a`: git: the key of the credentials cannot be opened";

#[rstest]
#[case::right(r#"it's $HOME \"quoted\" \\"#, OPENED)]
#[case::wrong("it's", REFUSED)]
#[case::none("", OPENED)]
#[tokio::test]
async fn keys_are_opened_with_their_passphrase(
    #[case] passphrase: &str,
    #[case] expected: &str,
) -> Result<(), Box<dyn Error>> {
    let key = r#""type":"ssh_key","key":"exit 1 # it's $HOME \"quoted\" \\""#;
    let fixture = TestFolders::new()?;
    let secret = format!(r#"{{{key},"passphrase":"{passphrase}"}}"#);
    let found = built(&fixture, &secret).await?;
    assert!(found.starts_with(expected), "{found}");
    Ok(())
}

#[tokio::test]
async fn keys_of_killed_servers_go() -> Result<(), Box<dyn Error>> {
    let fixture = TestFolders::new()?;
    built(&fixture, r#"{"type":"ssh_key","key":"exit 1"}"#).await?;
    let work = fixture.folder.path().join("work");
    let bundle = std::fs::read_dir(&work)?.next().ok_or("no folder")??.path();
    let leftover = bundle.join("ssh-left");
    for opened in [false, true] {
        std::fs::create_dir_all(&leftover)?;
        std::fs::write(leftover.join("key"), "hush")?;
        if opened {
            crate::builder::remove_keys(&work);
        } else {
            // Also when the build fails.
            let job = "{bundle: {requirements: [{source: a}]}, sources: {a: {directory: /none}}}";
            let found = fixture.listing(job).await?;
            assert!(found.contains("is not there"), "{found}");
        }
        assert!(!leftover.exists(), "{opened}");
    }
    Ok(())
}
