//! Host name verification of certificates.

use std::net::IpAddr;

use super::extensions::Names;

/// Whether the names of a certificate include a host, which may be an IP address, in brackets or
/// not.
pub(super) fn matches(names: &Names, host: &str) -> bool {
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    if let Ok(address) = inner.unwrap_or(host).parse::<IpAddr>() {
        let address = address.to_canonical();
        return names
            .addresses
            .iter()
            .any(|listed| listed.to_canonical() == address);
    }
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    if !is_valid(host, false) {
        return false;
    }
    names
        .dns
        .iter()
        .any(|pattern| covers(&pattern.to_ascii_lowercase(), host))
}

/// Whether a pattern equals the host, or does so except for a wildcard as first label.
fn covers(pattern: &str, host: &str) -> bool {
    if !is_valid(pattern, true) {
        return false;
    }
    match (pattern.strip_prefix("*."), host.split_once('.')) {
        (Some(pattern), Some((_, rest))) => pattern == rest,
        (Some(_), None) => false,
        (None, _) => pattern == host,
    }
}

fn is_valid(host: &str, pattern: bool) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let mut labels = host.split('.').enumerate();
    labels.all(|(at, label)| {
        let star = pattern && at == 0 && label == "*" && host.contains('.');
        let is_label = !label.is_empty() && !label.starts_with('-') && label.bytes().all(allowed);
        star || is_label
    })
}
