//! `cargo xtask site`: static pages about everything that evidence is kept of, and about the
//! reference, which is judged for it.

mod look;
mod sources;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use conformance::report::site;

use crate::{report, root};

/// How long making the pages may take.
const WITHIN: Duration = Duration::from_secs(60);

/// The command line.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder that the pages are written to, in the place of what it holds; `target/site`, unless
    /// said
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Also test the pages in Chromium; pictures are left in `target/site-pictures`
    #[arg(long)]
    look: bool,
}

/// Makes the pages, and with `look` tries them in a browser.
///
/// # Errors
/// Evidence that cannot be read; pages that take too long; what is wrong with a page.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| root().join("target/site"));
    let implementations = sources::all()?;
    let pages = site(&implementations);
    if folder.exists() {
        // Only what looks like a site is thrown away.
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
    let took = start.elapsed();
    let (count, versions) = (pages.len(), implementations.len());
    report(
        &folder.display().to_string(),
        &format!(
            "{count} files of {} kB about {versions} versions, in {:.1} s",
            bytes / 1000,
            took.as_secs_f64()
        ),
    );
    if took > WITHIN {
        return Err(format!(
            "the pages took {} s, more than {}",
            took.as_secs(),
            WITHIN.as_secs()
        )
        .into());
    }
    match options.look {
        true => look::look(&folder),
        false => Ok(()),
    }
}
