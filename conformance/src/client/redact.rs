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

/// Secrets shorter than this may be a common word or a letter: taking them out wherever they stand
/// would change paths and documents, so they are looked for only where a secret is expected.
const LONG_ENOUGH: usize = 8;

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
    /// Takes this text out wherever it stands; a short one where it is the whole text, or follows
    /// the scheme `Bearer`.
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
        if credential.len() >= LONG_ENOUGH {
            self = self.secret(credential);
        }
        self
    }

    /// Whether any secret stands in the text.
    pub(crate) fn reveals(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| reveals(text, secret))
    }

    /// The text without any secret.
    pub(crate) fn text(&self, text: &str) -> String {
        let found = self.secrets.iter().filter(|secret| reveals(text, secret));
        found.fold(text.to_owned(), |text, secret| {
            if secret.len() >= LONG_ENOUGH || text == **secret {
                text.replace(secret, REDACTED)
            } else {
                text.replace(&bearer(secret), &bearer(REDACTED))
            }
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

/// Whether the secret stands in the text where it is looked for.
fn reveals(text: &str, secret: &str) -> bool {
    text == secret
        || text.contains(secret) && (secret.len() >= LONG_ENOUGH || text.contains(&bearer(secret)))
}

fn bearer(secret: &str) -> String {
    format!("Bearer {secret}")
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
            ("/v1/data/monkey/key", "/v1/data/monkey/key"),
            (
                "curl -H 'Authorization: Bearer key'",
                "curl -H 'Authorization: Bearer <redacted>'",
            ),
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
            ("Accept", "monkey", "monkey"),
            ("Accept", "text/plain", "text/plain"),
        ] {
            assert_eq!(redactor.header_value(name, value), expected, "{name}");
        }
        assert_eq!(format!("{redactor:?}"), "Redactor(3 secrets)");
    }
}
