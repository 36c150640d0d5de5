//! Admin API of the mock: received requests, fault injection and reset.
//!
//! | request | response |
//! |---|---|
//! | `GET /` | the addresses, as the program prints them |
//! | `GET /requests` | the received requests; parameters `api`, `method`, `path`, `after` |
//! | `DELETE /requests` | 204; deletes them |
//! | `GET /faults` | enabled and known faults |
//! | `POST /faults` | 204; enables all faults of the body, a fault file |
//! | `PUT /faults/NAME` | 204; enables one: the body defines it, or it is known by its name; parameter `times` |
//! | `DELETE /faults`, `DELETE /faults/NAME` | 204; disables all, or one |
//! | `POST /reset` | 204; restarts the servers, and deletes requests and faults |
//!
//! Requests of web pages are rejected, whatever host name they use for the address.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::time::timeout;

use super::Shared;
use super::answers::{MockBody, done, json, refused};
use super::recorded::Filter;
use crate::fixture_server::listener::ARRIVES_WITHIN;
use crate::sync::lock;

/// Maximum length of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Status of a rejected admin request, and the reason.
struct Refused(StatusCode, String);

impl Shared {
    /// Handles a request to the admin address.
    pub(super) async fn administer(&self, request: Request<Incoming>) -> Response<MockBody> {
        let (head, body) = request.into_parts();
        let read = timeout(ARRIVES_WITHIN, Limited::new(body, MAX_BODY_BYTES).collect()).await;
        let Ok(Ok(body)) = read else {
            let reason = "the body cannot be read, or is longer than 1 MiB";
            return refused(StatusCode::BAD_REQUEST, reason);
        };
        let response = self.route(&head, &body.to_bytes()).await;
        response.unwrap_or_else(|Refused(status, reason)| refused(status, &reason))
    }

    async fn route(&self, head: &Parts, body: &[u8]) -> Result<Response<MockBody>, Refused> {
        if is_of_page(head, self.options.host) {
            let reason =
                "web pages are not answered, nor names of other hosts on the loopback interface";
            return Err(Refused(StatusCode::FORBIDDEN, reason.to_owned()));
        }
        let path = decoded(head.uri.path().trim_start_matches('/'))?;
        let (first, name) = path.split_once('/').unwrap_or((&path, ""));
        let parameters = Parameters::read(head.uri.query().unwrap_or_default())?;
        match (&head.method, first, name) {
            (&Method::GET, "", "") => {
                parameters.end()?;
                let addresses = self.addresses.get().cloned();
                Ok(json(StatusCode::OK, &addresses.unwrap_or_default()))
            }
            (&Method::GET, "requests", "") => {
                let filter = parameters.filter()?;
                let recorded = lock(&self.recordings).to_json(&filter);
                Ok(json(StatusCode::OK, &recorded))
            }
            (&Method::DELETE, "requests", "") => {
                parameters.end()?;
                lock(&self.recordings).forget();
                Ok(done())
            }
            (&Method::POST, "reset", "") => {
                parameters.end()?;
                let reset = self.reset().await;
                reset.map_err(|reason| Refused(StatusCode::INTERNAL_SERVER_ERROR, reason))?;
                Ok(done())
            }
            (method, "faults", name) => self.switch(method, name, parameters, body),
            (_, "" | "requests" | "reset", "") => Err(method_not_allowed(&path)),
            _ => Err(not_found(&path)),
        }
    }

    /// Handles requests that list, enable or disable faults.
    fn switch(
        &self,
        method: &Method,
        name: &str,
        mut parameters: Parameters,
        body: &[u8],
    ) -> Result<Response<MockBody>, Refused> {
        let mut faults = lock(&self.faults);
        match (method, name) {
            (&Method::GET, "") => {
                parameters.end()?;
                return Ok(json(StatusCode::OK, &faults.to_json()));
            }
            (&Method::POST, "") => {
                parameters.end()?;
                faults.define_all(text(body)?).map_err(bad_request)?;
            }
            (&Method::DELETE, "") => {
                parameters.end()?;
                faults.switch_all_off();
                self.released.send_replace(());
            }
            (_, "") => return Err(method_not_allowed("faults")),
            (&Method::PUT, name) => {
                let times = parameters.number("times")?;
                parameters.end()?;
                match text(body)?.trim() {
                    "" => faults.switch_on(name, times).map_err(bad_request)?,
                    definition => {
                        let written = serde_yaml::from_str(definition);
                        let written =
                            written.map_err(|error| bad_request(format!("{name}: {error}")))?;
                        faults.define(name, written, times).map_err(bad_request)?;
                    }
                }
            }
            (&Method::DELETE, name) => {
                parameters.end()?;
                if !faults.switch_off(name) {
                    let reason = format!("no fault that is on is named `{name}`");
                    return Err(Refused(StatusCode::NOT_FOUND, reason));
                }
                self.released.send_replace(());
            }
            (_, name) => return Err(method_not_allowed(&format!("faults/{name}"))),
        }
        Ok(done())
    }
}

/// Whether a request comes from a web page: it has an Origin header, or a host name that only an
/// attacker would resolve to the loopback interface.
fn is_of_page(head: &Parts, listens_at: IpAddr) -> bool {
    if head.headers.contains_key(ORIGIN) {
        return true;
    }
    let is_named = head.headers.get(HOST).is_some_and(|host| {
        let host = Authority::try_from(host.as_bytes());
        // An invalid host is not a name of this machine.
        host.map_or(true, |host| {
            let name = host.host().trim_matches(['[', ']']);
            !name.eq_ignore_ascii_case("localhost") && name.parse::<IpAddr>().is_err()
        })
    });
    is_named && listens_at.is_loopback()
}

fn bad_request(reason: impl Into<String>) -> Refused {
    Refused(StatusCode::BAD_REQUEST, reason.into())
}

fn not_found(path: &str) -> Refused {
    let reason =
        format!("there is nothing at /{path}; the admin address has /requests, /faults and /reset");
    Refused(StatusCode::NOT_FOUND, reason)
}

fn method_not_allowed(path: &str) -> Refused {
    let reason = format!("/{path} is not asked with this method");
    Refused(StatusCode::METHOD_NOT_ALLOWED, reason)
}

fn text(body: &[u8]) -> Result<&str, Refused> {
    std::str::from_utf8(body).map_err(|_| bad_request("invalid body: expected UTF-8"))
}

fn decoded(text: &str) -> Result<String, Refused> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded =
        decoded.map_err(|_| bad_request(format!("invalid escapes in `{text}`: expected UTF-8")))?;
    Ok(decoded.into_owned())
}

/// Query parameters of a request that are not consumed yet.
#[derive(Debug)]
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn read(query: &str) -> Result<Self, Refused> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let index = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(index).1)
    }

    fn number(&mut self, name: &str) -> Result<Option<u64>, Refused> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse();
        number.map(Some).map_err(|_| {
            let text = Value::from(text);
            bad_request(format!("the parameter `{name}` is a number, not {text}"))
        })
    }

    fn filter(mut self) -> Result<Filter, Refused> {
        // A path is compared in its encoded form; encoded once more in a query, it has been decoded
        // to that.
        let filter = Filter {
            api: self.text("api"),
            method: self.text("method"),
            path: self.text("path"),
            after: self.number("after")?,
        };
        self.end()?;
        Ok(filter)
    }

    /// Rejects parameters that no handler consumed: a misspelt filter would match everything.
    fn end(&self) -> Result<(), Refused> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(bad_request(format!("there is no parameter `{name}` here"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use rstest::rstest;

    use super::is_of_page;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const EVERYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

    #[rstest]
    #[case::address("127.0.0.1:8080", None, LOOPBACK, false)]
    #[case::ipv6_address("[::1]:8080", None, LOOPBACK, false)]
    #[case::name("localhost:8080", None, LOOPBACK, false)]
    #[case::another_host("evil.example:8080", None, LOOPBACK, true)]
    #[case::two_ports("evil.example:99:98", None, LOOPBACK, true)]
    #[case::host_of_a_network("mock:8080", None, EVERYWHERE, false)]
    #[case::origin("127.0.0.1:8080", Some("http://evil.example"), LOOPBACK, true)]
    #[case::no_origin("mock:8080", Some("null"), EVERYWHERE, true)]
    fn web_pages_are_told_from_programs(
        #[case] host: &str,
        #[case] origin: Option<&str>,
        #[case] listens_at: IpAddr,
        #[case] expected: bool,
    ) -> Result<(), http::Error> {
        let mut request = http::Request::get("/requests").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let (head, ()) = request.body(())?.into_parts();
        assert_eq!(is_of_page(&head, listens_at), expected);
        Ok(())
    }
}
