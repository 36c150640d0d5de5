//! The one place that keeps tokens and secrets out of what is shown.

/// What stands in the place of a secret.
pub(crate) const REDACTED: &str = "<redacted>";

/// Headers whose values are credentials.
const CREDENTIALS: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
];

/// Knows the secrets of a run and takes them out of texts.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// Longest first, so that no secret leaves the tail of a longer one behind.
    secrets: Vec<String>,
    /// Further headers whose values are never shown, in lower case.
    headers: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Takes this text out wherever it stands.
    #[must_use]
    pub(crate) fn secret(mut self, secret: &str) -> Self {
        if !secret.is_empty() && !self.secrets.iter().any(|known| known == secret) {
            self.secrets.push(secret.to_owned());
            self.secrets
                .sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
        self
    }

    /// Never shows the value of this header, and takes it out elsewhere when it is long
    /// enough not to be a common word.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(name.to_ascii_lowercase());
        let credential = value.rsplit(' ').next().unwrap_or(value);
        if credential.len() >= 8 {
            self = self.secret(credential);
        }
        self
    }

    /// Whether any secret stands in the text.
    pub(crate) fn reveals(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret))
    }

    /// The text without any secret.
    pub(crate) fn text(&self, text: &str) -> String {
        let found = self.secrets.iter().filter(|secret| text.contains(*secret));
        found.fold(text.to_owned(), |text, secret| {
            text.replace(secret, REDACTED)
        })
    }

    /// The value of a header as it may be shown: of credentials the scheme alone.
    pub(crate) fn header_value(&self, name: &str, value: &str) -> String {
        let name = name.to_ascii_lowercase();
        if CREDENTIALS.contains(&name.as_str()) {
            match value.split_once(' ') {
                Some((scheme, _)) if name.ends_with("authorization") => {
                    format!("{scheme} {REDACTED}")
                }
                _ => REDACTED.to_owned(),
            }
        } else if self.headers.contains(&name) {
            REDACTED.to_owned()
        } else {
            self.text(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_leave_no_trace() {
        let redactor = Redactor::default()
            .secret("key")
            .secret("key-of-admin")
            .header("X-Api-Key", "0123456789")
            .header("X-Short", "a");
        for (text, expected) in [
            ("a key-of-admin b", "a <redacted> b"),
            ("key", "<redacted>"),
            ("at 0123456789", "at <redacted>"),
            ("a", "a"),
        ] {
            assert_eq!(redactor.text(text), expected);
        }
        for (name, value, expected) in [
            ("Authorization", "Bearer other", "Bearer <redacted>"),
            ("Authorization", "other", "<redacted>"),
            ("Set-Cookie", "session=1; Path=/", "<redacted>"),
            ("x-api-key", "whatever", "<redacted>"),
            ("X-SHORT", "a", "<redacted>"),
            ("Accept", "key", "<redacted>"),
            ("Accept", "text/plain", "text/plain"),
        ] {
            assert_eq!(redactor.header_value(name, value), expected, "{name}");
        }
        assert_eq!(format!("{redactor:?}"), "Redactor(3 secrets)");
    }
}
