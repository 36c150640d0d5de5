//! The shell command that repeats an exchange.

use base64::Engine as _;

use crate::client::Base;
use crate::outgoing::Wire;
use crate::redact::REDACTED;

/// Longest body that a command line holds.
const BODY_SHOWN: usize = 4000;

/// A `curl` command line (or for raw bytes one that pipes them to the socket).
pub(crate) fn command(base: &Base, wire: &Wire) -> String {
    match wire {
        Wire::Raw(bytes) => {
            let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
            let open = if base.tls {
                format!(
                    "openssl s_client -quiet -connect {}:{}",
                    base.host, base.port
                )
            } else {
                format!("nc {} {}", base.host, base.port)
            };
            format!("echo {encoded} | base64 -d | {open}")
        }
        Wire::Http(request) => {
            let mut line = "curl -i".to_owned();
            match request.method {
                "GET" if request.body.is_empty() => {}
                "HEAD" => line.push_str(" -I"),
                method => line.push_str(&format!(" -X {method}")),
            }
            if request.path.contains("/.") {
                line.push_str(" --path-as-is");
            }
            for (name, value) in &request.headers {
                line.push_str(&format!(" -H {}", word(&format!("{name}: {value}"))));
            }
            let mut input = String::new();
            if !request.body.is_empty() {
                match std::str::from_utf8(&request.body) {
                    Ok(text) if text.len() <= BODY_SHOWN => {
                        line.push_str(&format!(" --data-binary {}", word(text)));
                    }
                    Ok(_) => line.push_str(" --data-binary @BODY"),
                    Err(_) if request.body.len() <= BODY_SHOWN => {
                        let encoded =
                            base64::engine::general_purpose::STANDARD.encode(&request.body);
                        input = format!("echo {encoded} | base64 -d | ");
                        line.push_str(" --data-binary @-");
                    }
                    Err(_) => line.push_str(" --data-binary @BODY"),
                }
            }
            let url = format!("{}{}", base.url, request.path);
            format!("{input}{line} {}", word(&url))
        }
    }
}

/// A word of the shell; a redacted token is a variable that the user sets.
fn word(text: &str) -> String {
    let quoted = text.replace('\'', "'\\''");
    format!("'{}'", quoted.replace(REDACTED, "'\"$CONFORMANCE_TOKEN\"'"))
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::client::Outgoing;
    use bytes::Bytes;

    #[test]
    fn commands_repeat_what_was_sent() {
        let base = Base::parse("http://127.0.0.1:1").expect("an address");
        let cases = [
            (
                "PUT",
                "/v1/data/a%20b",
                vec![("authorization", "Bearer <redacted>")],
                "it's",
                "curl -i -X PUT -H 'authorization: Bearer '\"$CONFORMANCE_TOKEN\"'' \
                 --data-binary 'it'\\''s' 'http://127.0.0.1:1/v1/data/a%20b'",
            ),
            ("GET", "/a", vec![], "", "curl -i 'http://127.0.0.1:1/a'"),
            (
                "HEAD",
                "/../a",
                vec![],
                "",
                "curl -i -I --path-as-is 'http://127.0.0.1:1/../a'",
            ),
        ];
        for (method, path, headers, body, expected) in cases {
            let wire = Wire::Http(Outgoing {
                method,
                path: path.to_owned(),
                headers: headers
                    .iter()
                    .map(|(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                body: Bytes::from(body),
            });
            assert_eq!(command(&base, &wire), expected);
        }
    }
}
