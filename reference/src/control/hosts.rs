//! Which hosts the server may be sent to by definitions.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of allowed hosts.
#[derive(Debug, Clone)]
pub(super) struct Hosts(GlobSet);

impl Hosts {
    /// Reads patterns of `HOST` or `HOST:PORT`.
    ///
    /// # Errors
    /// Which pattern is no glob.
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

    /// Whether a pattern matches a host, alone or with its port. An IPv6 address stands in
    /// brackets, so that no part of it can be taken for a port.
    pub(super) fn allows(&self, host: &str, port: Option<u16>) -> bool {
        let mut host = host.trim_end_matches('.').to_ascii_lowercase();
        if host.contains(':') && !host.starts_with('[') {
            host = format!("[{host}]");
        }
        let with_port = port.map(|port| format!("{host}:{port}"));
        let mut forms = [Some(&host), with_port.as_ref()].into_iter().flatten();
        !host.is_empty() && forms.any(|form| self.0.is_match(form))
    }
}

/// A pattern in which the brackets of an IPv6 address stand for themselves.
fn literal(text: &str) -> Cow<'_, str> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match inner {
        Some((address, rest)) if address.contains(':') => {
            Cow::Owned(format!("[[]{address}[]]{rest}"))
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
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
        ] {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            let allowed = Hosts::read(&patterns)
                .map(|hosts| hosts.allows(host, port))
                .unwrap_or_default();
            assert_eq!(allowed, expected, "{patterns:?} {host} {port:?}");
        }
    }
}
