//! Report pages under test, and their web server.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::serve;
use crate::program::conformance;

/// Response that tries to run scripts in the reader's browser.
const HOSTILE: &str = r#"{"result": "</pre></script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \u202e\u001b[31m", "a": {"b": [1, 2, 3]}}"#;

/// Running web server of the pages.
pub(super) struct Pages {
    pub(super) address: SocketAddr,
    /// Paths of all requests to the web server.
    requested: Arc<Mutex<BTreeSet<String>>>,
}

impl Pages {
    /// Judges the reference and a broken server, and serves their reports.
    pub(super) fn make(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let broken = format!(
            "http://{}",
            serve(|_| (HOSTILE.to_owned(), "application/json"))?
        );
        let path = |name: &str| folder.join(name).display().to_string();
        let report = |format: &str, name: &str| format!("--report={format}={}", path(name));
        conformance(&[
            "run",
            &report("ndjson", "reference.ndjson"),
            &report("html", "reference.html"),
        ])?;
        let url = format!("--engine-url={broken}");
        conformance(&[
            "run",
            &url,
            &report("ndjson", "broken.ndjson"),
            &report("html", "broken.html"),
        ])?;
        let evidence = [path("reference.ndjson"), path("broken.ndjson")];
        conformance(&[
            "report",
            &report("html", "both.html"),
            &evidence[0],
            &evidence[1],
        ])?;
        let requested: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let seen = Arc::clone(&requested);
        let folder: PathBuf = folder.to_owned();
        let page = move |path: &str| {
            seen.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(path.to_owned());
            let text = match path.strip_prefix("/without-scripts/") {
                Some(name) => frame(name),
                None => fs::read_to_string(folder.join(path.trim_start_matches('/')))
                    .unwrap_or_default(),
            };
            (text, "text/html; charset=utf-8")
        };
        Ok(Self {
            address: serve(page)?,
            requested,
        })
    }

    /// Returns messages about requests for anything other than the pages.
    pub(super) fn unexpected_requests(&self) -> Vec<String> {
        let requested = self
            .requested
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let more = requested.iter().filter(|path| !path.ends_with(".html"));
        more.map(|path| format!("a page asks for {path}")).collect()
    }
}

/// Returns a page that shows another page without its scripts.
fn frame(name: &str) -> String {
    format!(
        "<!doctype html><title>frame</title><link rel=icon href='data:,'>\
         <style>body {{ margin: 0 }} iframe {{ border: 0; width: 100%; height: 100vh }}</style>\
         <iframe sandbox='allow-same-origin' src='/{name}'></iframe>"
    )
}
