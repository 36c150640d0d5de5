//! The HTML report in a real browser: pages of the reference, of a server that breaks every rule
//! and answers with markup of its own, and of both side by side.
//!
//! Screenshots are left in `target/report-page`, for eyes.

mod pages;

use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};

use crate::cargo::cargo;
use crate::servers::{Foreign, free_address};
use crate::{apt, report, root};
use pages::Pages;

const CHROMIUM: &str = "/usr/bin/chromium";
const DRIVER: &str = "/usr/bin/chromedriver";

/// Builds the pages, opens each in every look, and tries what readers do. Where the machine has no
/// browser, Debian's packages are installed first.
///
/// # Errors
/// With everything that is wrong with a page, or when there is no browser.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    apt::require(&[("chromium", CHROMIUM), ("chromium-driver", DRIVER)])?;
    let shots = root().join("target/report-page");
    fs::create_dir_all(&shots)?;
    let pages = Pages::make(&shots)?;
    let address = free_address()?;
    let mut command = Command::new(DRIVER);
    command.arg(format!("--port={}", address.port()));
    let _driver = Foreign::start("chromedriver", &mut command, address, &shots)?;
    report("trying", "the pages in a browser, in every look");
    // A workspace of its own, whose crates would give those of this one other features.
    let tried = cargo()
        .current_dir(root().join("xtask/proofs/browser"))
        .args(["run", "--quiet", "--target-dir"])
        .arg(root().join("target/browser"))
        .args(["--", &format!("http://{address}")])
        .arg(format!("http://{}", pages.address))
        .arg(&shots)
        .stderr(Stdio::inherit())
        .output()?;
    let mut wrong: Vec<String> = String::from_utf8_lossy(&tried.stdout)
        .lines()
        .map(str::to_owned)
        .collect();
    wrong.extend(pages.asked_for_more());
    match (tried.status.success(), wrong.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(wrong.join("\n").into()),
        (false, _) => Err("the pages cannot be tried in the browser".into()),
    }
}
