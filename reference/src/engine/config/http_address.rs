//! HTTP addresses.

/// Whether a text is an address that a client of HTTP takes.
pub(super) fn is_http(url: &str) -> bool {
    let url = reqwest::Url::parse(url);
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}
