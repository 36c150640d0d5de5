//! Hosts that a secret may be sent to.

use reqwest::Url;

use super::allowed_hosts::AllowedHosts;
use super::model::Secret;

/// Hosts that one secret may be sent to.
#[derive(Debug, Clone)]
pub(super) struct SecretAllowlist {
    name: String,
    /// Allowed hosts of the secret; `None` means every host that the operator allows.
    hosts: Option<AllowedHosts>,
    /// True if the operator allows secrets over plain http.
    over_http: bool,
}

impl SecretAllowlist {
    /// Creates the allowlist of a secret from its `allowed_hosts`.
    ///
    /// # Errors
    /// When its host patterns are invalid.
    pub(super) fn of(name: &str, secret: &Secret, over_http: bool) -> Result<Self, String> {
        let hosts = secret.allowed_hosts().map(AllowedHosts::read).transpose();
        let hosts = hosts.map_err(|error| format!("secret `{name}`: allowed_hosts: {error}"))?;
        Ok(Self {
            name: name.to_owned(),
            hosts,
            over_http,
        })
    }

    /// Checks whether the secret may be sent to a host.
    ///
    /// # Errors
    /// The reason for a refusal, without any part of the secret's value.
    pub(super) fn check(
        &self,
        is_private: bool,
        host: &str,
        port: Option<u16>,
    ) -> Result<(), String> {
        let name = &self.name;
        if !is_private && !self.over_http {
            return Err(format!(
                "secret `{name}` is not sent over plain http; use https, or have the operator \
                 start the server with --allow-secrets-over-http"
            ));
        }
        match &self.hosts {
            Some(hosts) if !hosts.allows(host, port) => Err(format!(
                "secret `{name}` is not sent to host `{host}`, which is not among its allowed_hosts"
            )),
            _ => Ok(()),
        }
    }

    /// Checks whether the secret may be sent to the host of a URL.
    ///
    /// # Errors
    /// The reason for a refusal, without any part of the secret's value.
    pub(super) fn check_url(&self, url: &Url) -> Result<(), String> {
        let host = url.host_str().unwrap_or_default();
        let is_private = url.scheme() == "https";
        self.check(is_private, host, url.port_or_known_default())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use zeroize::Zeroizing;

    use super::*;

    #[rstest]
    #[case::anywhere("", false, "https://a.example/x", "")]
    #[case::plain_http("", false, "http://a.example/x", "over plain http")]
    #[case::allowed_plain_http("", true, "http://a.example/x", "")]
    #[case::null(r#""allowed_hosts":null"#, false, "https://a.example", "")]
    #[case::no_host(
        r#""allowed_hosts":[]"#,
        true,
        "https://a.example",
        "to host `a.example`"
    )]
    #[case::pattern(r#""allowed_hosts":["*.example"]"#, false, "https://a.example", "")]
    #[case::pattern_over_plain_http(
        r#""allowed_hosts":["*.example"]"#,
        false,
        "http://a.example",
        "plain http"
    )]
    #[case::other_host(
        r#""allowed_hosts":["*.example"]"#,
        true,
        "https://a.example.org",
        "to host"
    )]
    #[case::port(
        r#""allowed_hosts":["a.example:8443"]"#,
        false,
        "https://a.example:8443",
        ""
    )]
    #[case::other_port(
        r#""allowed_hosts":["a.example:8443"]"#,
        false,
        "https://a.example",
        "to host"
    )]
    fn secrets_go_where_they_may(
        #[case] hosts: &str,
        #[case] over_http: bool,
        #[case] url: &str,
        #[case] expected: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let text = format!("{{{hosts}}}").into_bytes();
        let secret = Secret::opened(Zeroizing::new(text));
        let checked = SecretAllowlist::of("k", &secret, over_http)?.check_url(&Url::parse(url)?);
        let message = checked.err().unwrap_or_default();
        let is_expected = message.contains(expected) && message.is_empty() == expected.is_empty();
        assert!(is_expected, "{message}");
        Ok(())
    }
}
