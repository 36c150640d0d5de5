//! Checks the HTML report in a real browser: pages of the reference, of a server that fails every
//! rule and injects markup, and of both side by side.
//!
//! Screenshots are saved in `target/report-page` for visual inspection.

mod pages;
mod serve;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo::cargo;
use crate::servers::{ExternalProcess, free_address};
use crate::{apt, report, root};
use pages::Pages;
pub(crate) use serve::serve;

pub(crate) const CHROMIUM: &str = "/usr/bin/chromium";
pub(crate) const DRIVER: &str = "/usr/bin/chromedriver";

/// Builds the pages, opens each in every viewport, and simulates a reader. If the machine has no
/// browser, the Debian packages are installed first.
///
/// # Errors
/// Reports all errors of the pages, or a missing browser.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    apt::require(&[("chromium", CHROMIUM), ("chromium-driver", DRIVER)])?;
    let shots = root().join("target/report-page");
    fs::create_dir_all(&shots)?;
    let pages = Pages::make(&shots)?;
    let address = free_address()?;
    let mut command = Command::new(DRIVER);
    command.arg(format!("--port={}", address.port()));
    let _driver = ExternalProcess::start("chromedriver", &mut command, address, &shots)?;
    report("trying", "the pages in a browser, in every look");
    let urls = [
        format!("http://{address}"),
        format!("http://{}", pages.address),
    ];
    let mut wrong = browser("report", &urls, &shots, &[])?;
    wrong.extend(pages.unexpected_requests());
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

/// Runs the program that checks pages in a browser: `urls` are the addresses of the browser's
/// driver and of the pages.
///
/// # Errors
/// When the program fails.
pub(crate) fn browser(
    what: &str,
    urls: &[String; 2],
    shots: &Path,
    pages: &[String],
) -> Result<Vec<String>, Box<dyn Error>> {
    // A separate workspace, whose crates would change the features of this one's dependencies.
    let tried = cargo()
        .current_dir(root().join("xtask/verification/browser"))
        .args(["run", "--quiet", "--target-dir"])
        .arg(root().join("target/browser"))
        .args(["--", what])
        .args(urls)
        .arg(shots)
        .args(pages)
        .stderr(Stdio::inherit())
        .output()?;
    let wrong = String::from_utf8_lossy(&tried.stdout);
    match tried.status.success() {
        true => Ok(wrong.lines().map(str::to_owned).collect()),
        false => Err("the pages cannot be tried in the browser".into()),
    }
}
