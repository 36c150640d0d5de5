//! Causes of missing responses, and remedies.

use super::{Finding, Severity};
use crate::http_client::answer::Answer;

/// Substrings of an error in lower case, each list with its meaning and a remedy.
const CAUSES: &[(&[&str], &str, &str)] = &[
    (
        &["dns error", "failed to lookup"],
        "its name is not known",
        "check the spelling of the host, and that this machine can resolve it",
    ),
    (
        &["connection refused"],
        "nothing listens there",
        "start the server; check the port, and that the server does not listen on another interface",
    ),
    (
        &["network is unreachable", "no route to host"],
        "no way leads there",
        "check the network: the suite does not use HTTP_PROXY and HTTPS_PROXY",
    ),
    (
        &["no answer within", "timed out"],
        "it does not answer in time",
        "check that a firewall lets the port through; --timeout gives it more time",
    ),
    (
        &[
            "expired",
            "notvalidyet",
            "not valid yet",
            "certificatenotvalid",
        ],
        "its certificate is not valid at this time",
        "renew it, or set this machine's clock",
    ),
    (
        &["notvalidforname", "not valid for name"],
        "its certificate is for another name",
        "use the name that the certificate is for",
    ),
    (
        &["certificate"],
        "its certificate is not trusted",
        "name its authority with --cacert FILE; --insecure accepts any",
    ),
];

/// Prefix of causes that only a server with TLS can have.
const CERTIFICATE: &str = "its certificate";

/// Creates a finding that explains an error without a response, and quotes `redacted`.
pub(super) fn of(error: &str, redacted: &str, tls: bool) -> Finding {
    let small = error.to_ascii_lowercase();
    let contains_any = |words: &[&str]| words.iter().any(|word| small.contains(word));
    let about_tls = |what: &str| what.starts_with(CERTIFICATE);
    let known = CAUSES
        .iter()
        .find(|(words, what, _)| contains_any(words) && (tls || !about_tls(what)));
    let (what, advice) = match known {
        Some((_, what, advice)) => (*what, *advice),
        // Bytes arrived that are not of the protocol.
        None if tls
            && contains_any(&["invalidcontenttype", "corrupt message", "invalidmessage"]) =>
        {
            (
                "it does not speak TLS",
                "use an http address, or check the port",
            )
        }
        None if !tls && is_no_http(error) => (
            "it does not speak HTTP",
            "use an https address if the server speaks TLS; check the port",
        ),
        None => ("no answer came", "look into the server's log"),
    };
    Finding::new(Severity::Problem, "reach", format!("{what} ({redacted})")).advice(advice)
}

/// Whether an error means that the server sent bytes that are not HTTP, or no bytes.
pub(super) fn is_no_http(error: &str) -> bool {
    const WORDS: [&str; 5] = [
        "invalid http",
        "parse",
        "connection closed",
        "incomplete",
        "reset",
    ];
    let small = error.to_ascii_lowercase();
    WORDS.iter().any(|word| small.contains(word))
}

/// Whether only a server with TLS can cause an error.
pub(super) fn is_about_tls(error: &str) -> bool {
    error.to_ascii_lowercase().contains("certificate")
}

pub(super) fn speaks_tls() -> Finding {
    Finding::new(Severity::Problem, "reach", "it speaks TLS").advice("use an https address")
}

/// Messages of TLS servers that receive plain HTTP.
const PLAIN_AT_TLS: &[&str] = &[
    "http request to an https server",
    "plain http request was sent to https port",
    "speaking plain http to an ssl-enabled server",
];

/// Returns a finding if the response is that of a TLS server to plain HTTP.
pub(super) fn wrong_protocol(answer: &Answer, tls: bool) -> Option<Finding> {
    let text = answer.text().to_ascii_lowercase();
    let contains = |words: &&str| text.contains(words);
    let wrong = !tls && answer.status == 400 && PLAIN_AT_TLS.iter().any(contains);
    wrong.then(speaks_tls)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unknown_name("x: dns error: failed to lookup", false, "its name is not known")]
    #[case::refused(
        "tcp: Connection refused (os error 111)",
        false,
        "nothing listens there"
    )]
    #[case::time_out("no answer within 30 s", true, "it does not answer in time")]
    #[case::expired(
        "invalid peer certificate: Expired",
        true,
        "its certificate is not valid at this time"
    )]
    #[case::untrusted(
        "invalid peer certificate: UnknownIssuer",
        true,
        "its certificate is not trusted"
    )]
    #[case::another_name(
        "invalid peer certificate: certificate not valid for name \"x\"",
        true,
        "its certificate is for another name"
    )]
    #[case::no_tls(
        "received corrupt message of type InvalidContentType",
        true,
        "it does not speak TLS"
    )]
    #[case::no_http("invalid HTTP version parsed", false, "it does not speak HTTP")]
    #[case::anything_else("something else", false, "no answer came")]
    fn errors_are_told_apart(#[case] error: &str, #[case] tls: bool, #[case] what: &str) {
        let finding = of(error, error, tls);
        assert!(finding.what.starts_with(what), "{finding:?}");
        assert!(finding.advice.is_some(), "{finding:?}");
    }
}
