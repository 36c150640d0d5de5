//! Checks the site in a real browser: every type of page, light and dark, wide and narrow.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::report_page::{self, CHROMIUM, DRIVER, serve};
use crate::servers::{ExternalProcess, free_address};
use crate::{apt, report, root};

/// Pages to test: one of each type, if the site has one.
const KINDS: [&str; 9] = [
    "index.html",
    "sections.html",
    "sections/engine-endpoints-data-api.html",
    "history.html",
    "history/opa/engine-endpoints-data-api.html",
    "differences.html",
    "eopa/1.46.0/index.html",
    "eopa/1.46.0/engine-endpoints-data-api.html",
    "reference/current/index.html",
];

/// Tests the site's pages in a folder.
///
/// # Errors
/// Reports all errors of the pages, or a missing browser.
pub(super) fn capture(folder: &Path) -> Result<(), Box<dyn Error>> {
    apt::require(&[("chromium", CHROMIUM), ("chromium-driver", DRIVER)])?;
    let shots = root().join("target/site-pictures");
    fs::create_dir_all(&shots)?;
    let there = |path: &&&str| folder.join(path).is_file();
    let mut pages: Vec<String> = KINDS
        .iter()
        .filter(there)
        .map(ToString::to_string)
        .collect();
    let differences = fs::read_dir(folder.join("differences"))?;
    let first = differences.flatten().map(|entry| entry.file_name());
    let first = first.filter_map(|name| name.into_string().ok()).min();
    pages.extend(first.map(|name| format!("differences/{name}")));
    let served = folder.to_owned();
    let address = serve(move |path| {
        let media_type = match path.ends_with(".css") {
            true => "text/css; charset=utf-8",
            false => "text/html; charset=utf-8",
        };
        let file = served.join(path.trim_start_matches('/'));
        (fs::read_to_string(file).unwrap_or_default(), media_type)
    })?;
    let driver = free_address()?;
    let mut command = Command::new(DRIVER);
    command.arg(format!("--port={}", driver.port()));
    let _driver = ExternalProcess::start("chromedriver", &mut command, driver, &shots)?;
    report("trying", "the pages in a browser, in every look");
    let urls = [format!("http://{driver}"), format!("http://{address}")];
    let wrong = report_page::browser("site", &urls, &shots, &pages)?;
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}
