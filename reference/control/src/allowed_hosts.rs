//! Allowlist of hosts that definitions may refer to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Host names of the loopback interface; names that end in `.localhost` belong to it, too.
const LOOPBACK: &[&str] = &[
    "localhost",
    "localhost.localdomain",
    "localhost4",
    "localhost4.localdomain4",
    "localhost6",
    "localhost6.localdomain6",
    "ip6-localhost",
    "ip6-loopback",
];

/// Parses a host as an IP address; `None` if the host is a name. An IPv4 address that is embedded
/// in an IPv6 address, as with NAT64, is returned as IPv4. An unspecified address (`0.0.0.0` or
/// `::`) is returned as the loopback address, to which systems connect instead.
fn address(host: &str) -> Option<IpAddr> {
    let unbracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address = match unbracketed.unwrap_or(host).parse().ok()? {
        IpAddr::V6(v6) => embedded_ipv4(v6).map_or(IpAddr::V6(v6), IpAddr::V4),
        v4 => v4,
    };
    Some(match address {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    })
}

/// Extracts the IPv4 address embedded in an IPv6 address: mapped, translated, compatible or NAT64.
fn embedded_ipv4(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let from_halves =
        |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match v6.segments() {
        // `::` and `::1` embed no IPv4 address.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low] => Some(from_halves(high, low)),
        _ => None,
    }
}

/// Returns the canonical form of a host: a name in lower case, an address as [`address`] returns
/// it, and `localhost` for everything that leads to the loopback interface.
pub(super) fn canonical(host: &str) -> String {
    let host = host.trim_end_matches('.').to_lowercase();
    let address = address(&host);
    let is_loopback = address.is_some_and(|address| address.is_loopback())
        || LOOPBACK.contains(&host.as_str())
        || host.ends_with(".localhost");
    match (is_loopback, address) {
        (true, _) => "localhost".to_owned(),
        (false, Some(address)) => in_brackets(address),
        (false, None) => host,
    }
}

/// Formats an address for a URL: IPv6 in brackets.
fn in_brackets(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => format!("[{v6}]"),
    }
}

/// Glob patterns for allowed hosts.
#[derive(Debug, Clone)]
pub(super) struct AllowedHosts(GlobSet);

impl AllowedHosts {
    /// Parses patterns of the forms `HOST` and `HOST:PORT`.
    ///
    /// # Errors
    /// When a pattern is not a valid glob; the error names it.
    pub(super) fn read(texts: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for text in texts {
            let glob = GlobBuilder::new(&literal(text))
                .case_insensitive(true)
                .build();
            set.add(glob.map_err(|failure| format!("`{text}`: {}", failure.kind()))?);
        }
        let set = set.build();
        set.map(Self).map_err(|failure| failure.to_string())
    }

    /// Returns true if a pattern matches the host, alone or with its port. An address is first
    /// converted by [`address`]. An IPv6 address is in brackets, to separate its colons from that
    /// of the port.
    pub(super) fn allows(&self, host: &str, port: Option<u16>) -> bool {
        let mut host = host.trim_end_matches('.').to_ascii_lowercase();
        if let Some(address) = address(&host) {
            host = in_brackets(address);
        } else if host.contains(':') && !host.starts_with('[') {
            host = format!("[{host}]");
        }
        let with_port = port.map(|port| format!("{host}:{port}"));
        let mut forms = [Some(&host), with_port.as_ref()].into_iter().flatten();
        !host.is_empty() && forms.any(|form| self.0.is_match(form))
    }
}

/// Converts a pattern to a glob: addresses become canonical, and the brackets of an IPv6 address
/// match literally.
fn literal(text: &str) -> String {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') && address(text).is_none() => (host, Some(port)),
        _ => (text, None),
    };
    let text = match (address(host), port) {
        (Some(address), Some(port)) => format!("{}:{port}", in_brackets(address)),
        (Some(address), None) => in_brackets(address),
        (None, _) => text.to_owned(),
    };
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match bracketed {
        Some((address, rest)) if address.contains(':') => format!("[[]{address}[]]{rest}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn hosts_are_allowed_by_patterns() {
        for (patterns, host, port, expected) in [
            (&[] as &[&str], "a.example", Some(443), false),
            (&["*"], "a.example", Some(443), true),
            (&["*"], "", None, false),
            (&["a.example"], "A.Example.", Some(443), true),
            (&["A.example"], "a.example", None, true),
            (&["*.example"], "a.example", None, true),
            (&["*.example"], "example", None, false),
            (&["*.example"], "a.example.org", None, false),
            (&["127.0.0.1:8080"], "127.0.0.1", Some(8080), true),
            (&["127.0.0.1:8080"], "127.0.0.1", Some(8081), false),
            (&["b.example", "c.example"], "c.example", None, true),
            (&["[::1]"], "[::1]", Some(443), true),
            (&["[::1]"], "::1", Some(22), true),
            (&["[::1]"], "1", Some(443), false),
            (&["[::1]:8080"], "[::1]", Some(8080), true),
            (&["[::1]:8080"], "[::1]", Some(8081), false),
            (&["[FD00::*]"], "[fd00::1:2]", Some(443), true),
            (&["*:443"], "fe80::443", Some(22), false),
            (&["[ab].example"], "b.example", None, true),
            (&["127.0.0.1:8080"], "0.0.0.0", Some(8080), true),
            (&["0.0.0.0"], "127.0.0.1", None, true),
            (
                &["[::ffff:127.0.0.1]:80"],
                "[::ffff:7f00:1]",
                Some(80),
                true,
            ),
            (&["[64:ff9b::*]"], "[64:ff9b::7f00:1]", None, false),
            (&["[[]*"], "[::ffff:7f00:1]", None, false),
            (&["[[]*"], "[::]", None, true),
            (&["10.0.0.1"], "[64:ff9b::a00:1]", None, true),
            (&["::1"], "::", None, true),
        ] {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            let allowed = AllowedHosts::read(&patterns)
                .map(|hosts| hosts.allows(host, port))
                .unwrap_or_default();
            assert_eq!(allowed, expected, "{patterns:?} {host} {port:?}");
        }
    }
    #[rstest]
    #[case::name("A.example.", "a.example")]
    #[case::loopback_network("127.9.9.9", "localhost")]
    #[case::unspecified_v4("0.0.0.0", "localhost")]
    #[case::unspecified_v6("[::]", "localhost")]
    #[case::loopback_v6("::1", "localhost")]
    #[case::mapped("[::ffff:0:0]", "localhost")]
    #[case::translated("[64:ff9b::7f00:1]", "localhost")]
    #[case::local_translated("[64:ff9b:1::7f00:1]", "localhost")]
    #[case::translated_by_the_network("[::ffff:0:7f00:1]", "localhost")]
    #[case::compatible("[::7f00:1]", "localhost")]
    #[case::localhost_name("ip6-localhost", "localhost")]
    #[case::below_localhost("x.localhost", "localhost")]
    #[case::translated_public("[64:ff9b::808:808]", "8.8.8.8")]
    #[case::address_v6("[FD00::1]", "[fd00::1]")]
    #[case::localhost_as_a_label("localhost.example", "localhost.example")]
    fn hosts_have_one_form(#[case] host: &str, #[case] expected: &str) {
        assert_eq!(canonical(host), expected);
    }
}
