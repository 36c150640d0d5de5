//! Redaction: the one place that removes tokens and secrets from output.

/// Replacement for a secret.
pub(crate) const REDACTED: &str = "<redacted>";

/// Headers whose values are credentials.
const CREDENTIALS: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
];

/// Minimum length of secrets that are redacted everywhere. A shorter one may be a common word or a
/// letter: its removal would change paths and documents, so it is redacted only where expected.
const MIN_SECRET_LENGTH: usize = 8;

/// Redacts the secrets of a run in strings.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// The secrets, longest first, so that redacting one leaves no rest of a longer one.
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
    /// Adds a secret to redact wherever it occurs; a short one only if it is the whole string or
    /// follows the scheme `Bearer`.
    #[must_use]
    pub(crate) fn secret(mut self, secret: &str) -> Self {
        if !secret.is_empty() && !self.secrets.iter().any(|known| known == secret) {
            self.secrets.push(secret.to_owned());
            self.secrets
                .sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
        self
    }

    /// Adds a header whose value is never shown, and is redacted elsewhere if it is long enough not
    /// to be a common word.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(name.to_ascii_lowercase());
        let credential = value.rsplit(' ').next().unwrap_or(value);
        if credential.len() >= MIN_SECRET_LENGTH {
            self = self.secret(credential);
        }
        self
    }

    /// Whether the string contains a secret.
    pub(crate) fn reveals(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| reveals(text, secret))
    }

    /// Redacts every secret in the string.
    pub(crate) fn text(&self, text: &str) -> String {
        let found = self.secrets.iter().filter(|secret| reveals(text, secret));
        found.fold(text.to_owned(), |text, secret| {
            if secret.len() >= MIN_SECRET_LENGTH || text == **secret {
                text.replace(secret, REDACTED)
            } else {
                text.replace(&bearer(secret), &bearer(REDACTED))
            }
        })
    }

    /// Redacts the secrets and credential headers of a raw request.
    pub(crate) fn raw(&self, text: &str) -> String {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let lines = head.split("\r\n").map(|line| match line.split_once(": ") {
            Some((name, value)) => format!("{name}: {}", self.header_value(name, value)),
            None => line.to_owned(),
        });
        let lines: Vec<String> = lines.collect();
        let end = text.get(head.len()..).unwrap_or(body);
        self.text(&format!("{}{end}", lines.join("\r\n")))
    }

    /// Redacts the value of a header. For credentials, only the authentication scheme is shown.
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

/// Whether `redacted` is a redacted form of `text`: each mark replaces one word that is long enough
/// to be redacted everywhere, is not the whole string, and does not remain elsewhere.
pub(crate) fn is_redacted(redacted: &str, text: &str) -> bool {
    let pieces: Vec<&str> = redacted.split(REDACTED).collect();
    let Some((first, rest)) = pieces.split_first() else {
        return false;
    };
    let Some(mut remaining) = text.strip_prefix(first) else {
        return false;
    };
    let mut secrets = Vec::with_capacity(rest.len());
    for (piece, number) in rest.iter().zip(1..) {
        let end = match (number == rest.len(), piece.is_empty()) {
            (true, _) => remaining
                .ends_with(piece)
                .then(|| remaining.len() - piece.len()),
            (false, true) => None,
            (false, false) => {
                let mut positions = remaining.match_indices(piece).map(|(position, _)| position);
                positions.find(|position| *position >= MIN_SECRET_LENGTH)
            }
        };
        let Some((secret, tail)) = end.and_then(|end| remaining.split_at_checked(end)) else {
            return false;
        };
        secrets.push(secret);
        remaining = tail.get(piece.len()..).unwrap_or_default();
    }
    let is_one = |secret: &&str| {
        // The characters of tokens by RFC 6750, and those between a user name and a password.
        let is_token_char = |c: char| c.is_ascii_alphanumeric() || "-._~+/=:".contains(c);
        secret.len() >= MIN_SECRET_LENGTH
            && secret.chars().all(is_token_char)
            && *secret != text
            && !pieces.iter().any(|piece| piece.contains(secret))
    };
    !secrets.is_empty() && secrets.iter().all(is_one)
}

/// Whether the string contains the secret at a position where it would be redacted.
fn reveals(text: &str, secret: &str) -> bool {
    text == secret
        || text.contains(secret)
            && (secret.len() >= MIN_SECRET_LENGTH || text.contains(&bearer(secret)))
}

fn bearer(secret: &str) -> String {
    format!("Bearer {secret}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a <redacted> b", "a 0123456789 b", true)]
    #[case("<redacted>/b", "0123456789/b", true)]
    #[case("a.<redacted>", "a.0123456789", true)]
    #[case("<redacted>,<redacted>!", "0123456789,abcdefghij!", true)]
    // Nothing is redacted, or something else differs.
    #[case("a 0123456789", "a 0123456789", false)]
    #[case("b <redacted>", "a 0123456789", false)]
    #[case("a <redacted>!", "a 0123456789", false)]
    // The whole string, a short word, and more than one word.
    #[case("<redacted>", "0123456789", false)]
    #[case("a <redacted>", "a 0123456", false)]
    #[case("a <redacted>", "a 01234 56789", false)]
    #[case("{<redacted>}", "{\"a\":\"0123456789\"}", false)]
    #[case("a<redacted><redacted>", "a0123456789abcdefghij", false)]
    // A secret is redacted everywhere.
    #[case("0123456789 <redacted>", "0123456789 0123456789", false)]
    fn a_mark_stands_for_one_word(
        #[case] redacted: &str,
        #[case] text: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(is_redacted(redacted, text), expected);
    }

    #[rstest]
    #[case::longest_secret("a key-of-admin b", "a <redacted> b")]
    #[case::whole_text("key", "<redacted>")]
    #[case::header_value("at 0123456789", "at <redacted>")]
    #[case::short_header_value("a", "a")]
    #[case::within_a_path("/v1/data/monkey/key", "/v1/data/monkey/key")]
    #[case::within_a_command(
        "curl -H 'Authorization: Bearer key'",
        "curl -H 'Authorization: Bearer <redacted>'"
    )]
    fn secrets_leave_no_trace(#[case] text: &str, #[case] expected: &str) {
        let redactor = Redactor::default()
            .secret("key")
            .secret("key-of-admin")
            .header("X-Api-Key", "0123456789")
            .header("X-Short", "a");
        assert_eq!(redactor.text(text), expected);
    }

    #[rstest]
    #[case::bearer("Authorization", "Bearer other", "Bearer <redacted>")]
    #[case::authorization("Authorization", "other", "<redacted>")]
    #[case::cookie("Set-Cookie", "session=1; Path=/", "<redacted>")]
    #[case::secret_header("x-api-key", "whatever", "<redacted>")]
    #[case::short_secret_header("X-SHORT", "a", "<redacted>")]
    #[case::secret("Accept", "key", "<redacted>")]
    #[case::within_a_word("Accept", "monkey", "monkey")]
    #[case::nothing_secret("Accept", "text/plain", "text/plain")]
    fn secrets_of_headers_leave_no_trace(
        #[case] name: &str,
        #[case] value: &str,
        #[case] expected: &str,
    ) {
        let redactor = Redactor::default()
            .secret("key")
            .secret("key-of-admin")
            .header("X-Api-Key", "0123456789")
            .header("X-Short", "a");
        assert_eq!(redactor.header_value(name, value), expected);
    }

    #[test]
    fn secrets_of_raw_requests_leave_no_trace() {
        let redactor = Redactor::default()
            .secret("key")
            .secret("key-of-admin")
            .header("X-Api-Key", "0123456789")
            .header("X-Short", "a");
        let raw = redactor.raw(
            "GET / HTTP/1.1\r\nX-Short: a\r\nAuthorization: Bearer key\r\nAccept: a\r\n\r\nX-Short: a",
        );
        assert_eq!(
            raw,
            "GET / HTTP/1.1\r\nX-Short: <redacted>\r\nAuthorization: Bearer <redacted>\r\n\
             Accept: a\r\n\r\nX-Short: a"
        );
        assert_eq!(format!("{redactor:?}"), "Redactor(3 secrets)");
    }
}
