//! Substitution of placeholders in the steps of a scenario.

use std::collections::BTreeMap;
use std::io::Write as _;

use bytes::Bytes;
use serde_json::Value;

use crate::http_client::wire::{Outgoing, Wire};
use crate::scenario::resource_names::{encode, fill, fill_json};
use crate::scenario::{Body, Identity, Send, Step};
use crate::target::server::Server;

/// Values for the placeholders of a step.
#[derive(Debug)]
pub(crate) struct Placeholders<'a> {
    pub(crate) ns: &'a str,
    pub(crate) repetition: u32,
    pub(crate) captures: &'a BTreeMap<&'static str, String>,
    pub(crate) server: &'a Server,
    pub(crate) vendor: &'a str,
}

impl Placeholders<'_> {
    fn lookup(&self, name: &str) -> Option<String> {
        match name {
            "ns" => Some(self.ns.to_owned()),
            "i" => Some(format!("{:03}", self.repetition)),
            "depot" => Some(self.server.mock.as_ref()?.url.clone()),
            name => self.captures.get(name).cloned(),
        }
    }

    fn text(&self, text: &str) -> String {
        fill(text, &|name| self.lookup(name))
    }

    /// Fills the placeholders of a path. A captured value is percent-encoded, because it is data.
    pub(crate) fn path(&self, path: &str) -> String {
        fill(path, &|name| match name {
            "ns" | "i" => self.lookup(name),
            name => self.captures.get(name).map(|value| encode(value)),
        })
    }

    pub(crate) fn json(&self, value: &Value) -> Value {
        fill_json(value, &|name| self.lookup(name))
    }

    /// Builds the request of a step.
    ///
    /// # Errors
    /// The target has no token for a role; contains the role.
    pub(crate) fn wire(&self, step: &Step) -> Result<Wire, String> {
        let server = self.server.server_for(step);
        let authorization =
            server
                .authorization(&step.identity)?
                .map(|value| match step.identity {
                    Identity::Authorization(_) => fill(&value, &|name| {
                        let key = server.administrator_key();
                        match name {
                            "token" => Some(key.to_owned()),
                            "token-in-other-case" => Some(in_other_case(key)),
                            "token-shortened" => Some(shortened(key)),
                            "token-changed" => Some(changed(key)),
                            name => self.lookup(name),
                        }
                    }),
                    _ => value,
                });
        match &step.request {
            Send::Raw(text) => Ok(Wire::Raw(self.raw(text, authorization.as_deref()))),
            Send::Http {
                method,
                path,
                headers,
                body,
            } => {
                let mut sent: Vec<(String, String)> = Vec::with_capacity(headers.len() + 3);
                sent.extend(authorization.map(|value| ("authorization".to_owned(), value)));
                let body = self.body(body, &mut sent);
                for (name, _) in headers {
                    sent.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                }
                for (name, value) in headers {
                    sent.push(((*name).to_owned(), self.header(value)));
                }
                Ok(Wire::Http(Outgoing {
                    method,
                    path: self.path(path),
                    headers: sent,
                    body,
                }))
            }
        }
    }

    /// Fills the placeholders of a header's value, and inserts the target's vendor.
    fn header(&self, value: &str) -> String {
        let vendor = format!("/vnd.{}.", self.vendor);
        self.text(value).replace("/vnd.engine.", &vendor)
    }

    fn raw(&self, text: &str, authorization: Option<&str>) -> Vec<u8> {
        fill(text, &|name| match name {
            "host" => Some(self.server.base.authority.clone()),
            "prefix" => Some(self.server.base.path.clone()),
            "authorization" => Some(
                authorization
                    .map_or_else(String::new, |value| format!("Authorization: {value}\r\n")),
            ),
            name => self.lookup(name),
        })
        .replace("/vnd.engine.", &format!("/vnd.{}.", self.vendor))
        .into_bytes()
    }

    fn body(&self, body: &Body, headers: &mut Vec<(String, String)>) -> Bytes {
        let mut content_type = |media_type: &str| {
            if !media_type.is_empty() {
                headers.push(("content-type".to_owned(), media_type.to_owned()));
            }
        };
        match body {
            Body::Empty => Bytes::new(),
            Body::Json(value) => {
                content_type("application/json");
                Bytes::from(self.json(value).to_string())
            }
            Body::Text(media_type, text) => {
                content_type(media_type);
                Bytes::from(self.text(text))
            }
            Body::Bytes(media_type, bytes) => {
                content_type(media_type);
                Bytes::from(bytes.clone())
            }
            Body::Gzip(inner) => {
                let unencoded = self.body(inner, headers);
                headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                // Writing to memory cannot fail.
                let _ = encoder.write_all(&unencoded);
                Bytes::from(encoder.finish().unwrap_or_default())
            }
        }
    }
}

/// Swaps the case of every letter; a key without letters is changed otherwise.
fn in_other_case(key: &str) -> String {
    let swap = |c: char| match c.is_ascii_lowercase() {
        true => c.to_ascii_uppercase(),
        false => c.to_ascii_lowercase(),
    };
    let swapped: String = key.chars().map(swap).collect();
    if swapped == key {
        changed(key)
    } else {
        swapped
    }
}

/// Removes the last character.
fn shortened(key: &str) -> String {
    let mut shortened = key.to_owned();
    shortened.pop();
    shortened
}

/// Replaces the last character by another.
fn changed(key: &str) -> String {
    let other = if key.ends_with('x') { 'y' } else { 'x' };
    shortened(key) + &other.to_string()
}

#[cfg(test)]
#[expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::*;
    use crate::http_client::Base;
    use crate::scenario::*;
    use crate::target::Token;

    #[test]
    fn steps_are_filled_as_they_go_on_the_wire() {
        let base = Base::parse("http://127.0.0.1:1/below").expect("an address");
        let tokens = BTreeMap::from([("administrator".to_owned(), Token::new("key"))]);
        let server = Server::new(base, tokens, &[]);
        let captures = BTreeMap::from([("next", "a/b=".to_owned())]);
        let placeholders = Placeholders {
            ns: "N",
            repetition: 7,
            captures: &captures,
            server: &server,
            vendor: "opa",
        };
        let bearer = ("authorization", "Bearer key");
        type Case<'a> = (Step, &'a str, Vec<(&'a str, &'a str)>, &'a str);
        let cases: Vec<Case<'_>> = vec![
            (
                put("/v1/data/{ns}/{i}?c={next}").json(json!({"{ns}": "{next}{i}"})),
                "/v1/data/N/007?c=a%2Fb%3D",
                vec![bearer, ("content-type", "application/json")],
                r#"{"N":"a/b=007"}"#,
            ),
            (
                get("/x")
                    .anonymous()
                    .header("Accept", "application/vnd.engine.sql+json"),
                "/x",
                vec![("Accept", "application/vnd.opa.sql+json")],
                "",
            ),
            (
                get("/x").authorization("Basic {token}-{ns}"),
                "/x",
                vec![("authorization", "Basic key-N")],
                "",
            ),
            (
                get("/x").authorization("Bearer {token-in-other-case} {token-shortened}"),
                "/x",
                vec![("authorization", "Bearer KEY ke")],
                "",
            ),
            (
                get("/x").authorization("Bearer {token-changed}"),
                "/x",
                vec![("authorization", "Bearer kex")],
                "",
            ),
            (
                post("/x")
                    .anonymous()
                    .text("text/plain", "{ns} {x}")
                    .header("Content-Type", "a/b"),
                "/x",
                vec![("Content-Type", "a/b")],
                "N {x}",
            ),
        ];
        for (step, path, headers, body) in cases {
            let Ok(Wire::Http(sent)) = placeholders.wire(&step) else {
                panic!("{step:?}");
            };
            let found: Vec<_> = sent
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            assert_eq!((sent.path.as_str(), found), (path, headers));
            assert_eq!(sent.body, body.as_bytes());
        }
        let Ok(Wire::Raw(bytes)) = placeholders.wire(&raw(
            "GET {prefix}/{ns} HTTP/1.1\r\nHost: {host}\r\n{authorization}\r\n",
        )) else {
            panic!("raw");
        };
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "GET /below/N HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: Bearer key\r\n\r\n"
        );
        assert_eq!(
            placeholders.wire(&get("/x").role("viewer")).map(|_| ()),
            Err("viewer".to_owned())
        );
    }
}
