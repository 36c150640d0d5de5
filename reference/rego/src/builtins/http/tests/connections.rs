//! Connection options of requests.

use rstest::rstest;

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

fn system(names: &[&str]) -> Trust {
    Trust::System(der(names))
}

fn authorities(names: &[&str]) -> Trust {
    Trust::Authorities(der(names))
}

#[rstest]
#[case::nothing_said("", None)]
#[case::other_members(r#","headers":{"host":"a.test"}"#, None)]
#[case::any(r#","tls_insecure_skip_verify":true"#, Some(Trust::Any))]
#[case::any_despite_authorities(
    r#","tls_insecure_skip_verify":true,"tls_ca_cert":"CERTIFICATE""#,
    Some(Trust::Any)
)]
#[case::system(r#","tls_use_system_certs":true"#, Some(system(&[])))]
#[case::system_for_a_server_name(r#","tls_server_name":"a.test""#, Some(system(&[])))]
#[case::no_authorities(r#","tls_ca_cert":"""#, Some(authorities(&[])))]
#[case::authorities_in_the_text(r#","tls_ca_cert":"CERTIFICATE""#, Some(authorities(&["text"])))]
#[case::system_and_text(
    r#","tls_ca_cert":"CERTIFICATECERTIFICATE","tls_use_system_certs":true"#,
    Some(system(&["text", "text"]))
)]
#[case::text_file_and_variable(
    r#","tls_ca_cert":"CERTIFICATE","tls_ca_cert_file":"/cert","tls_ca_cert_env_variable":"CERT""#,
    Some(authorities(&["text", "file", "variable"]))
)]
fn certificates_that_are_trusted_come_from_where_the_request_says(
    #[case] members: &str,
    #[case] trust: Option<Trust>,
) {
    let found = read_tls(members).map(|found| found.map(|(tls, _)| tls.trust));
    assert_eq!(found, Ok(trust));
}

const TEXT: &str = r#","tls_client_cert":"CERTIFICATE","tls_client_key":"KEY_TEXT""#;
const FILE: &str = r#","tls_client_cert_file":"/cert","tls_client_key_file":"/key""#;
const VARIABLE: &str =
    r#","tls_client_cert_env_variable":"CERT","tls_client_key_env_variable":"KEY""#;
const MIXED: &str = r#","tls_client_cert":"CERTIFICATE","tls_client_key_file":"/key""#;

#[rstest]
#[case::text(&[TEXT], Some("text"))]
#[case::text_and_file(&[TEXT, FILE], Some("file"))]
#[case::variable_and_file(&[VARIABLE, FILE], Some("variable"))]
#[case::certificate_in_the_text_and_key_in_a_file(&[MIXED], None)]
fn the_last_certificate_that_is_given_is_shown(
    #[case] members: &[&str],
    #[case] name: Option<&str>,
) {
    let found = read_tls(&members.concat());
    let found = found.expect("an answer").expect("demands");
    let expected = name.map(|name| Identity {
        chain: der(&[name]),
        key: name.as_bytes().to_vec(),
    });
    assert_eq!(found.0.identity, expected);
}

#[rstest]
#[case::nothing_said("", None)]
#[case::host(r#","headers":{"Host":"a.test:1"}"#, Some("a.test:1"))]
#[case::server_name(
    r#","headers":{"Host":"a.test:1"},"tls_server_name":"b.test""#,
    Some("b.test")
)]
fn the_name_of_the_server_is_the_host_that_is_asked_for(
    #[case] members: &str,
    #[case] name: Option<&str>,
) {
    let members = format!(r#","tls_insecure_skip_verify":true{members}"#);
    let found = read_tls(&members).expect("an answer").expect("demands");
    assert_eq!(found.1.as_deref(), name);
}

#[rstest]
#[case::no_authorities(r#""tls_ca_cert":"x""#, "could not append certificates")]
#[case::key_as_authority(r#""tls_ca_cert":"KEY_TEXT""#, "could not append certificates")]
#[case::no_file(
    r#""tls_ca_cert_file":"/none""#,
    "open /none: no such file or directory"
)]
#[case::folder(r#""tls_ca_cert_file":"/folder""#, "read /folder: is a directory")]
#[case::closed_file(r#""tls_ca_cert_file":"/closed""#, "open /closed: permission denied")]
#[case::file_of_a_key(
    r#""tls_ca_cert_file":"/key""#,
    "could not append CA certificates from \"/key\""
)]
#[case::no_variable(
    r#""tls_ca_cert_env_variable":"NONE""#,
    "could not add CA certificates from envvar \"NONE\": could not append certificates"
)]
#[case::key_as_client_certificate(
    r#""tls_client_cert":"KEY_TEXT","tls_client_key":"KEY_TEXT""#,
    "tls: failed to find any PEM data in certificate input"
)]
#[case::certificate_as_client_key(
    r#""tls_client_cert":"CERTIFICATE","tls_client_key":"CERTIFICATE""#,
    "tls: failed to find any PEM data in key input"
)]
fn what_holds_no_certificate_is_refused(#[case] members: &str, #[case] message: &str) {
    let failure = read_tls(&format!(",{members}"));
    assert_eq!(failure, Err(Failure::Value(message.to_owned())));
}
