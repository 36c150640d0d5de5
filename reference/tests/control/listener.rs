//! HTTP server that responds to every request with an empty document, and records the requests.

use libtest_mimic::Failed;
use test_server::{TestServer, always, respond, text};

/// Server on the loopback interface; stops when it is dropped.
pub(crate) struct Listener {
    /// Address of the form `127.0.0.1:PORT`.
    pub(crate) address: String,
    server: TestServer,
}

impl Listener {
    pub(crate) async fn start() -> Result<Self, Failed> {
        let headers = [
            ("content-type", "application/json"),
            ("etag", "\"e\""),
            ("last-modified", "Sun, 01 Nov 2026 00:00:00 GMT"),
        ];
        let server = TestServer::start(always(respond(200, &headers, "{}"))).await?;
        let address = server.address().to_string();
        Ok(Self { address, server })
    }

    /// Returns the requests for a path, in lower case.
    pub(crate) fn requests(&self, path: &str) -> Vec<String> {
        self.requests_where(|target| target == path)
    }

    /// Returns the requests for paths with a prefix, in lower case.
    pub(crate) fn requests_below(&self, path: &str) -> Vec<String> {
        self.requests_where(|target| target.starts_with(path))
    }

    fn requests_where(&self, matches: impl Fn(&str) -> bool) -> Vec<String> {
        let requests = self.server.requests().into_iter();
        let matching = requests.filter(|request| matches(&request.uri().to_string()));
        matching
            .map(|request| text(&request).to_lowercase())
            .collect()
    }
}
