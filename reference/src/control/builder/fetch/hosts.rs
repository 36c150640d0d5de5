//! Which hosts sources may be fetched from.

use super::Trouble;
use crate::control::builder::files::Patterns;

/// Patterns of allowed hosts.
#[derive(Debug, Clone)]
pub(super) struct Hosts(Patterns);

impl Hosts {
    /// Reads patterns of `HOST` or `HOST:PORT`.
    ///
    /// # Errors
    /// Which pattern is no glob.
    pub(super) fn read(texts: &[String]) -> Result<Self, String> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        let patterns = Patterns::read(&texts);
        patterns
            .map(Self)
            .map_err(|why| format!("allowed hosts: {why}"))
    }

    /// Refuses a host that no pattern matches.
    pub(super) fn check(&self, host: &str, port: Option<u16>) -> Result<(), Trouble> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let with_port = port.map(|port| format!("{host}:{port}"));
        let mut forms = [Some(&host), with_port.as_ref()].into_iter().flatten();
        match !host.is_empty() && forms.any(|form| self.0.matches(form)) {
            true => Ok(()),
            false => Err(Trouble::config(format!(
                "host `{host}` is not among the allowed hosts"
            ))),
        }
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
                .map(|hosts| hosts.check(host, port).is_ok())
                .unwrap_or_default();
            assert_eq!(allowed, expected, "{patterns:?} {host} {port:?}");
        }
    }
}
