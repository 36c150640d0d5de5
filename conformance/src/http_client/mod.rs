//! HTTP client: sends exactly the bytes that a scenario specifies.

pub(crate) mod answer;
pub(crate) mod curl;
pub(crate) mod pagination;
mod raw;
pub(crate) mod redact;
pub(crate) mod request;
mod tls;
pub(crate) mod wire;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

#[cfg(test)]
pub(crate) use tls::tests::serve as serve_tls;

use crate::http_client::answer::{Answer, NoAnswer, within_limit};
use crate::http_client::wire::{Outgoing, Wire};

/// Settings of connections to targets.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Headers added to every request that does not set them itself.
    pub headers: Vec<(String, String)>,
    /// Trusted certificate authorities in PEM; by default, the system's.
    pub cacert: Option<Vec<u8>>,
    /// Whether any server certificate is accepted.
    pub insecure: bool,
    /// Timeout of one request.
    pub timeout: Duration,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            cacert: None,
            insecure: false,
            timeout: Duration::from_secs(30),
        }
    }
}

/// Error that prevents a connection from being set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The certificate authorities are not PEM certificates.
    #[error("the certificate authorities are not PEM certificates: {0}")]
    Certificates(String),
    /// The TLS library rejects the configuration.
    #[error("TLS: {0}")]
    Tls(String),
}

/// Base URL of an API: `http://host:port` with an optional path, without a trailing slash.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) url: String,
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Value of the Host header.
    pub(crate) authority: String,
    /// Path prefix of every request, without a trailing slash; empty for none.
    pub(crate) path: String,
}

impl Base {
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        if !url.contains("://") {
            return Err(format!(
                "invalid address `{url}`: expected http://{url} or https://{url}"
            ));
        }
        let parsed = reqwest::Url::parse(url)
            .map_err(|error| format!("invalid address `{url}`: {error}"))?;
        let tls = match parsed.scheme() {
            "http" => false,
            "https" => true,
            other => return Err(format!("`{url}`: scheme `{other}` is not http or https")),
        };
        let host = parsed
            .host_str()
            .ok_or_else(|| format!("`{url}` names no host"))?
            .to_owned();
        let port = parsed.port_or_known_default().unwrap_or(80);
        let authority = parsed
            .port()
            .map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        let path = parsed.path().trim_end_matches('/').to_owned();
        Ok(Self {
            url: format!("{}://{authority}{path}", parsed.scheme()),
            tls,
            host,
            port,
            authority,
            path,
        })
    }

    /// Whether the server runs on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost"
            || host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

/// Default User-Agent, unless the scenario or the user sets another.
const USER_AGENT: &str = concat!("conformance/", env!("CARGO_PKG_VERSION"));

/// Sends requests; shared by all scenarios of a run, so that connections are reused.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    tls: Arc<rustls::ClientConfig>,
    pub(crate) headers: Vec<(String, String)>,
    timeout: Duration,
}

impl Client {
    pub(crate) fn new(connection: &Connection) -> Result<Self, ConnectionError> {
        let tls = tls::config(connection)?;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(USER_AGENT)
            .timeout(connection.timeout)
            .tls_backend_preconfigured(tls.clone())
            .build()
            .map_err(|error| ConnectionError::Tls(causes(&error)))?;
        Ok(Self {
            http,
            tls: Arc::new(tls),
            headers: connection.headers.clone(),
            timeout: connection.timeout,
        })
    }

    /// Adds the user's headers that the request does not set itself, except Authorization, because
    /// the scenario chooses the identity (see `Server`).
    pub(crate) fn complete(&self, headers: &mut Vec<(String, String)>) {
        for (name, value) in &self.headers {
            if name.eq_ignore_ascii_case("authorization") {
                continue;
            }
            if !headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
            {
                headers.push((name.clone(), value.clone()));
            }
        }
    }

    /// Adds the user's headers to a raw request, after its first line.
    pub(crate) fn complete_raw(&self, bytes: &mut Vec<u8>) {
        let end_of_line = bytes.windows(2).position(|two| two == b"\r\n");
        let Some(place) = end_of_line.map(|place| place + 2) else {
            return;
        };
        let text = String::from_utf8_lossy(bytes);
        let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
        let named = lines.filter_map(|line| line.split_once(':'));
        let own: Vec<_> = named
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut all = own.clone();
        self.complete(&mut all);
        let added = all.iter().skip(own.len());
        let lines: String = added
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        bytes.splice(place..place, lines.into_bytes());
    }

    /// Sends a request, by HTTP or raw.
    pub(crate) async fn carry(&self, base: &Base, wire: &Wire) -> Result<Answer, NoAnswer> {
        match wire {
            Wire::Http(request) => self.send(base, request).await,
            Wire::Raw(bytes) => self.send_raw(base, bytes).await,
        }
    }

    /// Sends a request; directly to the socket if the HTTP library would change it.
    pub(crate) async fn send(&self, base: &Base, request: &Outgoing) -> Result<Answer, NoAnswer> {
        match self.client_request(base, request) {
            Some(ready) => {
                let mut response = self
                    .http
                    .execute(ready)
                    .await
                    .map_err(|error| self.no_answer(&error))?;
                let status = response.status().as_u16();
                let headers = response
                    .headers()
                    .iter()
                    .map(|(name, value)| {
                        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                        (name.as_str().to_owned(), value)
                    })
                    .collect();
                let body = self.body(&mut response).await?;
                Answer::new(status, headers, body).unpacked_within_limit()
            }
            None => {
                let bytes = raw::request_bytes(base, &base.path, request);
                self.send_raw(base, &bytes).await
            }
        }
    }

    /// Reads the whole body, up to the limit.
    async fn body(&self, response: &mut reqwest::Response) -> Result<Bytes, NoAnswer> {
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.no_answer(&error))?
        {
            body.extend_from_slice(&chunk);
            within_limit(body.len())?;
        }
        Ok(body.into())
    }

    /// Sends bytes on a separate socket and reads one response.
    pub(crate) async fn send_raw(&self, base: &Base, bytes: &[u8]) -> Result<Answer, NoAnswer> {
        tokio::time::timeout(self.timeout, raw::exchange(base, &self.tls, bytes))
            .await
            .unwrap_or_else(|_| Err(NoAnswer::slow(self.timeout)))?
            .unpacked_within_limit()
    }

    /// Builds the request for the HTTP library; none if the library would change or reject it (it
    /// rewrites dot segments, for example).
    fn client_request(&self, base: &Base, request: &Outgoing) -> Option<reqwest::Request> {
        if request.path.contains('#') {
            return None;
        }
        let whole = format!("{}{}", base.url, request.path);
        let url = reqwest::Url::parse(&whole).ok()?;
        if url.as_str() != whole {
            return None;
        }
        let method = http::Method::from_bytes(request.method.as_bytes()).ok()?;
        let mut ready = reqwest::Request::new(method, url);
        for (name, value) in &request.headers {
            ready.headers_mut().append(
                http::HeaderName::from_bytes(name.as_bytes()).ok()?,
                http::HeaderValue::from_bytes(value.as_bytes()).ok()?,
            );
        }
        if !request.body.is_empty() {
            *ready.body_mut() = Some(request.body.clone().into());
        }
        Some(ready)
    }

    fn no_answer(&self, error: &reqwest::Error) -> NoAnswer {
        if error.is_timeout() {
            NoAnswer::slow(self.timeout)
        } else {
            NoAnswer::new(causes(error))
        }
    }
}

/// Formats an error with its causes: the library's own message says only that something failed.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Timeout in tests for expected events, so that a hang ends.
#[cfg(test)]
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(120);

#[cfg(test)]
impl Connection {
    /// Creates connection settings with the long timeout of tests.
    pub(crate) fn patient() -> Self {
        Self {
            timeout: HANG_LIMIT,
            ..Self::default()
        }
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn what_the_library_would_change_goes_to_the_socket() {
        let client = Client::new(&Connection::default()).expect("a client");
        let base = Base::parse("http://127.0.0.1:1/prefix/").expect("an address");
        for (path, headers, as_it_stands) in [
            ("/v1/data/a%2Fb?q=a%20b", vec![], true),
            ("/", vec![], true),
            ("/v1/data/a?pretty", vec![], true),
            ("/v1/data/../a", vec![], false),
            ("/v1/data/%2e%2e/a", vec![], false),
            ("/v1/data/a b", vec![], false),
            ("/v1/data/é", vec![], false),
            ("/v1/data/a#b", vec![], false),
            ("/v1/data/\\a", vec![], false),
            ("/v1/data/a", vec![("X Y", "1")], false),
            ("/v1/data/a", vec![("X", "1\r\n2")], false),
        ] {
            let request = Outgoing {
                method: "GET",
                path: path.to_owned(),
                headers: headers
                    .iter()
                    .map(|(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                body: Bytes::new(),
            };
            let ready = client.client_request(&base, &request);
            assert_eq!(ready.is_some(), as_it_stands, "{path} {headers:?}");
        }
    }

    #[test]
    fn raw_requests_have_the_headers_of_the_user_too() {
        let headers = [
            ("X-Gateway", "1"),
            ("host", "other"),
            ("Authorization", "x"),
        ];
        let client = Client::new(&Connection {
            headers: headers
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            ..Connection::default()
        });
        let client = client.expect("a client");
        let mut bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nX-Gateway: body".to_vec();
        client.complete_raw(&mut bytes);
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "GET / HTTP/1.1\r\nX-Gateway: 1\r\nHost: a\r\n\r\nX-Gateway: body"
        );
    }

    #[rstest]
    #[case::loopback_name("http://localhost:8181/", "http://localhost:8181", true)]
    #[case::loopback_address("https://[::1]:8443/api/", "https://[::1]:8443/api", true)]
    #[case::remote("http://example.org", "http://example.org", false)]
    fn addresses_are_read_strictly(#[case] url: &str, #[case] whole: &str, #[case] loopback: bool) {
        let base = Base::parse(url).expect(url);
        assert_eq!((base.url.as_str(), base.is_loopback()), (whole, loopback));
    }

    #[rstest]
    #[case::no_scheme("localhost:8181")]
    #[case::another_scheme("ftp://example.org")]
    #[case::empty("")]
    fn what_is_no_address_is_refused(#[case] url: &str) {
        assert!(Base::parse(url).is_err());
    }
}
