//! `cargo xtask site`: static pages about all stored evidence and the reference.

mod screenshots;
mod sources;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use conformance::report::site;
use rustix::time::{ClockId, clock_gettime};

use crate::{report, root, stored_evidence, submissions};

/// The command line.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder that the pages are written to, in the place of what it holds; `target/site`, unless
    /// said
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Folder of the submissions; `results`, unless said
    #[arg(long, value_name = "FOLDER")]
    submissions: Option<PathBuf>,
    /// Also test the pages in Chromium; pictures are left in `target/site-pictures`
    #[arg(long)]
    look: bool,
}

/// Builds the pages, and with `look` tests them in a browser.
///
/// # Errors
/// When evidence cannot be read, pages are too slow to build, or pages have errors. Also when
/// submissions are rejected: they have no pages, but all other pages are written first.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| root().join("target/site"));
    let start = processor_time();
    let results = root().join(stored_evidence::FOLDER);
    let submitted = submissions::all(options.submissions.as_ref().unwrap_or(&results));
    let (implementations, refused) = sources::all(submitted)?;
    let read_time = processor_time().saturating_sub(start);
    let pages = site(&implementations);
    if folder.exists() {
        // Only a folder that contains a site is deleted.
        if !folder.join("style.css").is_file() {
            return Err(format!("{}: is there and holds no site", folder.display()).into());
        }
        fs::remove_dir_all(&folder)?;
    }
    let mut bytes = 0;
    for (path, text) in &pages {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        bytes += text.len();
        fs::write(file, text)?;
    }
    let build_time = processor_time().saturating_sub(start + read_time);
    let (count, versions) = (pages.len(), implementations.len());
    report(
        &folder.display().to_string(),
        &format!(
            "{count} files of {} kB about {versions} versions: {read_time:.1?} of the processors to read, \
             {build_time:.1?} to make",
            bytes / 1000,
        ),
    );
    // The time for reading includes judging the reference.
    if build_time > read_time {
        return Err("making the pages costs more than reading what they tell of".into());
    }
    if options.look {
        screenshots::capture(&folder)?;
    }
    submissions::fail_if_refused(refused)
}

/// CPU time of this process.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::from_secs(now.tv_sec.unsigned_abs())
        + Duration::from_nanos(now.tv_nsec.unsigned_abs())
}
