//! Which hosts the server may be sent to by definitions.

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
            let glob = GlobBuilder::new(text).case_insensitive(true).build();
            set.add(glob.map_err(|failure| format!("`{text}`: {}", failure.kind()))?);
        }
        let set = set.build();
        set.map(Self).map_err(|failure| failure.to_string())
    }

    /// Whether a pattern matches a host, alone or with its port.
    pub(super) fn allows(&self, host: &str, port: Option<u16>) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let with_port = port.map(|port| format!("{host}:{port}"));
        let mut forms = [Some(&host), with_port.as_ref()].into_iter().flatten();
        !host.is_empty() && forms.any(|form| self.0.is_match(form))
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
        ] {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            let allowed = Hosts::read(&patterns)
                .map(|hosts| hosts.allows(host, port))
                .unwrap_or_default();
            assert_eq!(allowed, expected, "{patterns:?} {host} {port:?}");
        }
    }
}
