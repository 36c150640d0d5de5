//! Writes submissions.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{EVIDENCE, README, REPORT, TARGET, digest, names};
use crate::evidence::Event;
use crate::report;

/// A run to publish, and information on how to repeat it.
#[derive(Debug)]
pub struct Submission<'a> {
    /// Every event of the run, redacted.
    pub events: &'a [Event],
    /// The command line that repeats the run.
    pub command: &'a str,
    /// How to get, build and start the implementation, in Markdown.
    pub instructions: &'a str,
    /// Target file, if the target is not a built-in one.
    pub target: Option<&'a str>,
}

impl Submission<'_> {
    /// Writes the folder `PROFILE/NAME/VERSION` below this one, replacing an earlier one, and
    /// returns its path. Writing is atomic.
    ///
    /// # Errors
    /// The events contain no run or profile, or the folder cannot be written.
    pub fn write(&self, below: &Path) -> io::Result<PathBuf> {
        let digest = digest(self.events.to_vec());
        let missing = || io::Error::other("the run was not by a profile that this program knows");
        let (Some(started), Some(standing)) = (&digest.started, digest.standing()) else {
            return Err(missing());
        };
        let (name, version) = names(&started.target);
        let place = below.join(&standing.profile.name).join(name);
        fs::create_dir_all(&place)?;
        let new = tempfile::Builder::new()
            .prefix(".new-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(&place)?;
        let mut packed = GzEncoder::new(
            fs::File::create(new.path().join(EVIDENCE))?,
            Compression::best(),
        );
        for event in self.events {
            packed.write_all(event.line()?.as_bytes())?;
            packed.write_all(b"\n")?;
        }
        packed.finish()?.sync_all()?;
        fs::write(new.path().join(REPORT), report::json(&digest)?)?;
        fs::write(new.path().join(README), self.readme(&digest, name, version))?;
        if let Some(target) = self.target {
            fs::write(new.path().join(TARGET), target)?;
        }
        let folder = place.join(version);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::rename(new.keep(), &folder)?;
        Ok(folder)
    }

    fn readme(&self, digest: &report::Digest, name: &str, version: &str) -> String {
        let mut text = format!("# {name} {version}\n\n");
        let standing = digest.standing().map(|standing| standing.to_string());
        let suite = digest.started.as_ref().map_or("", |run| &run.suite);
        let seed = digest.started.as_ref().map_or(0, |run| run.seed);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{}.\n\nJudged by the conformance suite {suite}, seed {seed}. `{EVIDENCE}` holds every \
             request and every answer; `{REPORT}` is what follows from them.\n\n## Repeat it\n\n",
            standing.unwrap_or_default(),
        );
        let instructions = self.instructions.trim();
        if !instructions.is_empty() {
            let _ = write!(text, "{instructions}\n\n");
        }
        let _ = write!(text, "```\n{}\n```\n", self.command);
        text
    }
}

/// Whether a name or a version is valid as a folder: letters, digits, `.`, `_`, `+` and `-`, at
/// least one letter or digit, and no leading dot.
pub fn is_plain(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let has_alphanumeric = text.contains(|c: char| c.is_ascii_alphanumeric());
    has_alphanumeric && text.len() <= 64 && text.chars().all(is_allowed) && !text.starts_with('.')
}
