//! Curl commands of exchanges.

use std::borrow::Cow;

use crate::http_client::Base;
use crate::http_client::redact::REDACTED;
use crate::http_client::request::{Body, Request, base64};
use crate::http_client::wire::Wire;

/// Method of stored requests that were written directly to the socket.
pub(crate) const RAW: &str = "raw";

/// Returns a `curl` command line; for raw bytes, one that pipes them to the socket.
pub(crate) fn command(base: &Base, wire: &Wire) -> String {
    match wire {
        Wire::Raw(bytes) => raw(base, &base64(bytes)),
        Wire::Http(request) => http(Request {
            base: &base.url,
            ..Request::of(request)
        }),
    }
}

/// Returns a command that pipes base64-encoded bytes to the socket.
pub(crate) fn raw(base: &Base, bytes: &str) -> String {
    let Base { host, port, .. } = base;
    let open = if base.tls {
        let address = argument(&format!("{host}:{port}"));
        format!("openssl s_client -quiet -connect {address}")
    } else {
        format!("nc {} {port}", argument(host))
    };
    format!("echo {} | base64 -d | {open}", argument(bytes))
}

/// Returns a `curl` command that sends a request.
pub(crate) fn http(request: Request<'_>) -> String {
    let url = format!("{}{}", request.base, request.path);
    let as_is = match url.contains("/.") {
        true => " --path-as-is",
        false => "",
    };
    let body = request.body.for_line();
    Request { body, ..request }.curl(["-i", as_is], &word(&url), word)
}

impl Request<'_> {
    /// Writes a `curl` command with options before and after the method, and a quoted URL; `word`
    /// quotes a word for the shell.
    pub(crate) fn curl(
        &self,
        [options, after_method]: [&str; 2],
        url: &str,
        word: impl Fn(&str) -> String,
    ) -> String {
        let method = match self.method {
            "GET" if matches!(self.body, Body::Empty) => String::new(),
            "HEAD" => " -I".to_owned(),
            method if method.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                format!(" -X {method}")
            }
            method => format!(" -X {}", word(method)),
        };
        let mut line = format!("curl {options}{method}{after_method}");
        for (name, value) in self.headers {
            line.push_str(&format!(" -H {}", word(&format!("{name}: {value}"))));
        }
        match &self.body {
            Body::Empty => {}
            Body::Text(text) => line.push_str(&format!(" --data-binary {}", word(text))),
            Body::Encoded(text) => {
                let bytes = argument(text);
                line = format!("echo {bytes} | base64 -d | {line} --data-binary @-");
            }
            Body::Omitted => line.push_str(" --data-binary @BODY"),
        }
        format!("{line} {url}")
    }
}

/// Returns the command if it has at most `most` characters, otherwise a comment. Truncating it
/// would leave a quote open, so the shell would execute the end of the next command.
pub(crate) fn whole(command: &str, most: usize) -> Cow<'_, str> {
    match command.chars().count() {
        count if count > most => Cow::Owned(format!("# command of {count} characters omitted")),
        _ => Cow::Borrowed(command),
    }
}

/// Quotes a word for the shell; a redacted token becomes a variable that the user sets.
pub(crate) fn word(text: &str) -> String {
    let quoted = text.replace('\'', "'\\''");
    format!("'{}'", quoted.replace(REDACTED, "'\"$CONFORMANCE_TOKEN\"'"))
}

/// Quotes a word only where the shell would interpret it.
pub(crate) fn argument(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-._:/=,+".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) && !text.starts_with('=') {
        text.to_owned()
    } else {
        word(text)
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::http_client::wire::Outgoing;
    use bytes::Bytes;
    use rstest::rstest;

    #[rstest]
    #[case::secret_and_quote(
        "PUT",
        "/v1/data/a%20b",
        vec![("authorization", "Bearer <redacted>")],
        "it's",
        "curl -i -X PUT -H 'authorization: Bearer '\"$CONFORMANCE_TOKEN\"'' \
         --data-binary 'it'\\''s' 'http://127.0.0.1:1/v1/data/a%20b'"
    )]
    #[case::get("GET", "/a", vec![], "", "curl -i 'http://127.0.0.1:1/a'")]
    #[case::body_like_a_file(
        "POST",
        "/a",
        vec![],
        "@file",
        "echo QGZpbGU= | base64 -d | curl -i -X POST --data-binary @- 'http://127.0.0.1:1/a'"
    )]
    #[case::head("HEAD", "/../a", vec![], "", "curl -i -I --path-as-is 'http://127.0.0.1:1/../a'")]
    fn commands_repeat_what_was_sent(
        #[case] method: &'static str,
        #[case] path: &str,
        #[case] headers: Vec<(&str, &str)>,
        #[case] body: &'static str,
        #[case] expected: &str,
    ) {
        let base = Base::parse("http://127.0.0.1:1").expect("an address");
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

    /// Command injection: hostile strings wherever evidence has strings.
    #[test]
    fn no_text_of_evidence_runs_anything_in_a_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        let marker = folder.path().join("made");
        let touch = format!("touch {}", marker.display());
        let hostile = [
            format!("$({touch})"),
            format!("`{touch}`"),
            format!("';{touch};'"),
            format!("\";{touch};\""),
            format!("\n{touch}\n"),
            format!("a;{touch}"),
            format!("a&{touch}&"),
            format!("\\';{touch};#"),
            format!("<redacted>';{touch};'"),
            format!("{{{},x}}", touch.replace(' ', ",")),
        ];
        for text in &hostile {
            let base = Base {
                host: text.clone(),
                ..Base::parse("http://127.0.0.1:1").expect("an address")
            };
            let lines = [
                raw(&base, text),
                http(Request {
                    method: text,
                    base: "",
                    path: text,
                    headers: &[(text.clone(), text.clone())],
                    body: Body::Text(text),
                }),
                http(Request {
                    method: "PUT",
                    base: "",
                    path: text,
                    headers: &[],
                    body: Body::Encoded(text.clone()),
                }),
                argument(text),
            ];
            let cut = lines.iter().map(|line| {
                let most = line.chars().count() - 3;
                // The following would end the quoted string.
                format!("{}\necho 'a;{touch};b'", whole(line, most))
            });
            let cut: Vec<String> = cut.collect();
            for line in lines.into_iter().chain(cut) {
                let shell = std::process::Command::new("/bin/sh")
                    .args([
                        "-c",
                        &format!("nc() {{ :; }}; curl() {{ :; }}; openssl() {{ :; }}; {line}"),
                    ])
                    .stdin(std::process::Stdio::null())
                    .output();
                shell.expect("a shell");
                assert!(!marker.exists(), "{line}");
            }
        }
    }
}
