//! Connection options of requests.

use super::{SERVER, Shared};
use crate::builtins::Failure;
use crate::builtins::pem::encode;
use crate::host::{Identity, Tls, Trust};

/// Placeholder for a certificate.
pub(super) fn certificate(name: &str) -> String {
    block("CERTIFICATE", name)
}

/// Placeholder for a private key.
pub(super) fn key(name: &str) -> String {
    block("EC PRIVATE KEY", name)
}

fn block(label: &str, name: &str) -> String {
    let bytes = encode(name.as_bytes());
    format!("-----BEGIN {label}-----\n{bytes}\n-----END {label}-----\n")
}

/// Returns the connection options that the host receives for a request with these members.
fn read_tls(members: &str) -> Result<Option<(Tls, Option<String>)>, Failure> {
    let shared = Shared::default();
    let text = |text: String| text.replace('\n', "\\n");
    let members = members.replace("CERTIFICATE", &text(certificate("text")));
    let members = members.replace("KEY_TEXT", &text(key("text")));
    let url = SERVER.replace("http:", "https:");
    shared.send(&format!(r#"{{"method":"get","url":"{url}"{members}}}"#))?;
    let sent = shared.host.last();
    Ok(sent.tls.map(|tls| (tls, sent.server_name)))
}

fn der(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}

#[test]
fn certificates_that_are_trusted_come_from_where_the_request_says() {
    let system = |names| Trust::System(der(names));
    let authorities = |names| Trust::Authorities(der(names));
    for (members, trust) in [
        ("", None),
        (r#","headers":{"host":"a.test"}"#, None),
        (r#","tls_insecure_skip_verify":true"#, Some(Trust::Any)),
        (
            r#","tls_insecure_skip_verify":true,"tls_ca_cert":"CERTIFICATE""#,
            Some(Trust::Any),
        ),
        (r#","tls_use_system_certs":true"#, Some(system(&[]))),
        (r#","tls_server_name":"a.test""#, Some(system(&[]))),
        (r#","tls_ca_cert":"""#, Some(authorities(&[]))),
        (
            r#","tls_ca_cert":"CERTIFICATE""#,
            Some(authorities(&["text"])),
        ),
        (
            r#","tls_ca_cert":"CERTIFICATECERTIFICATE","tls_use_system_certs":true"#,
            Some(system(&["text", "text"])),
        ),
        (
            r#","tls_ca_cert":"CERTIFICATE","tls_ca_cert_file":"/cert","tls_ca_cert_env_variable":"CERT""#,
            Some(authorities(&["text", "file", "variable"])),
        ),
    ] {
        let found = read_tls(members).map(|found| found.map(|(tls, _)| tls.trust));
        assert_eq!(found, Ok(trust), "{members}");
    }
}

#[test]
fn the_last_certificate_that_is_given_is_shown() {
    let text = r#","tls_client_cert":"CERTIFICATE","tls_client_key":"KEY_TEXT""#;
    let file = r#","tls_client_cert_file":"/cert","tls_client_key_file":"/key""#;
    let variable = r#","tls_client_cert_env_variable":"CERT","tls_client_key_env_variable":"KEY""#;
    let mixed = r#","tls_client_cert":"CERTIFICATE","tls_client_key_file":"/key""#;
    for (members, name) in [
        (text.to_owned(), Some("text")),
        (format!("{text}{file}"), Some("file")),
        (format!("{variable}{file}"), Some("variable")),
        (mixed.to_owned(), None),
    ] {
        let found = read_tls(&members).expect("an answer").expect("demands");
        let expected = name.map(|name| Identity {
            chain: der(&[name]),
            key: name.as_bytes().to_vec(),
        });
        assert_eq!(found.0.identity, expected, "{members}");
    }
}

#[test]
fn the_name_of_the_server_is_the_host_that_is_asked_for() {
    for (members, name) in [
        ("", None),
        (r#","headers":{"Host":"a.test:1"}"#, Some("a.test:1")),
        (
            r#","headers":{"Host":"a.test:1"},"tls_server_name":"b.test""#,
            Some("b.test"),
        ),
    ] {
        let members = format!(r#","tls_insecure_skip_verify":true{members}"#);
        let found = read_tls(&members).expect("an answer").expect("demands");
        assert_eq!(found.1.as_deref(), name, "{members}");
    }
}

#[test]
fn what_holds_no_certificate_is_refused() {
    for (members, message) in [
        (r#""tls_ca_cert":"x""#, "could not append certificates"),
        (
            r#""tls_ca_cert":"KEY_TEXT""#,
            "could not append certificates",
        ),
        (
            r#""tls_ca_cert_file":"/none""#,
            "open /none: no such file or directory",
        ),
        (
            r#""tls_ca_cert_file":"/folder""#,
            "read /folder: is a directory",
        ),
        (
            r#""tls_ca_cert_file":"/closed""#,
            "open /closed: permission denied",
        ),
        (
            r#""tls_ca_cert_file":"/key""#,
            "could not append CA certificates from \"/key\"",
        ),
        (
            r#""tls_ca_cert_env_variable":"NONE""#,
            "could not add CA certificates from envvar \"NONE\": could not append certificates",
        ),
        (
            r#""tls_client_cert":"KEY_TEXT","tls_client_key":"KEY_TEXT""#,
            "tls: failed to find any PEM data in certificate input",
        ),
        (
            r#""tls_client_cert":"CERTIFICATE","tls_client_key":"CERTIFICATE""#,
            "tls: failed to find any PEM data in key input",
        ),
    ] {
        let failure = read_tls(&format!(",{members}"));
        assert_eq!(
            failure,
            Err(Failure::Value(message.to_owned())),
            "{members}"
        );
    }
}
