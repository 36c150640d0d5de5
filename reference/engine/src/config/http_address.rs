//! HTTP addresses.

/// Whether a string is a URL that an HTTP client accepts.
pub(super) fn is_http(url: &str) -> bool {
    let url = reqwest::Url::parse(url);
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}
