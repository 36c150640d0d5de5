//! Removes secrets from the messages of a build.

use serde_json::Value;

use crate::model::{Secret, wipe};

/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 2000;

/// Replacement for a secret.
const HIDDEN: &str = "***";

/// Replacement for a control character.
const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// Minimum length of a string that is masked, in bytes: shorter ones also occur in ordinary words.
const MIN_SECRET_LENGTH: usize = 4;

/// Members of a secret that are not confidential, such as its type.
const PUBLIC_MEMBERS: &[&str] = &[
    "type",
    "in",
    "issuer",
    "token_endpoint",
    "scopes",
    "fingerprints",
];

/// Masks the strings of the secrets in a message, and the parts of its URLs that may be secret,
/// because other owners may read the message.
pub(super) fn redact<'s>(mut message: String, secrets: impl Iterator<Item = &'s Secret>) -> String {
    for secret in secrets {
        if let Ok(mut value) = serde_json::from_slice::<Value>(secret.expose()) {
            if let Value::Object(members) = &value {
                let secret = members
                    .iter()
                    .filter(|(name, _)| !PUBLIC_MEMBERS.contains(&name.as_str()));
                secret.for_each(|(_, value)| hide(&mut message, value));
            }
            wipe(&mut value);
        }
    }
    without_address_secrets(&message)
}

/// Masks users, queries and fragments of the URLs in a message. The user of an ssh URL without a
/// password stays visible, because it is only a login name.
fn without_address_secrets(message: &str) -> String {
    const AFTER: &str = "://";
    let mut redacted = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, after_scheme)) = rest.split_once(AFTER) {
        let is_ssh = before.ends_with("ssh");
        redacted.push_str(before);
        redacted.push_str(AFTER);
        let end = after_scheme
            .find(char::is_whitespace)
            .unwrap_or(after_scheme.len());
        let (address, after) = after_scheme
            .split_at_checked(end)
            .unwrap_or((after_scheme, ""));
        let closed = address.trim_end_matches([')', ']', '>', '`', '"', '\'', ':', ';', ',', '.']);
        let authority = closed.find(['/', '?', '#']).unwrap_or(closed.len());
        let (authority, path_and_query) =
            closed.split_at_checked(authority).unwrap_or((closed, ""));
        match authority.rsplit_once('@') {
            Some((user, host)) if !is_ssh || user.contains(':') => {
                redacted.push_str(HIDDEN);
                redacted.push('@');
                redacted.push_str(host);
            }
            _ => redacted.push_str(authority),
        }
        match path_and_query.find(['?', '#']) {
            Some(query) => {
                redacted.push_str(path_and_query.get(..=query).unwrap_or_default());
                redacted.push_str(HIDDEN);
            }
            None => redacted.push_str(path_and_query),
        }
        redacted.push_str(address.get(closed.len()..).unwrap_or_default());
        rest = after;
    }
    redacted.push_str(rest);
    redacted
}

/// Truncates a message, and replaces control characters, which terminals interpret and PostgreSQL
/// cannot store.
pub(super) fn shorten(message: &str) -> String {
    let is_hidden = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    let replace_control = |character| {
        if is_hidden(character) {
            REPLACED
        } else {
            character
        }
    };
    let mut characters = message.chars().map(replace_control);
    let mut short: String = characters.by_ref().take(MAX_MESSAGE_CHARS).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

fn hide(message: &mut String, value: &Value) {
    match value {
        Value::String(text) => {
            // The lines of a multi-line key may appear separately in a message.
            let lines = text.lines().map(str::trim);
            for part in std::iter::once(text.trim()).chain(lines) {
                if part.len() >= MIN_SECRET_LENGTH && message.contains(part) {
                    *message = message.replace(part, HIDDEN);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| hide(message, item)),
        Value::Object(members) => members.values().for_each(|item| hide(message, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use zeroize::Zeroizing;

    use super::*;

    #[rstest]
    #[case::query(
        "git: error sending request for url (https://h:1/a/p.git?token=a)b/info/refs?x=y): no",
        "git: error sending request for url (https://h:1/a/p.git?***): no"
    )]
    #[case::user_and_password(
        "`https://TOKEN@h/x` and http://u:p@w@h",
        "`https://***@h/x` and http://***@h"
    )]
    #[case::user_of_ssh_and_fragment(
        "ssh://git@h/x or ssh://git:p@h/x#f",
        "ssh://git@h/x or ssh://***@h/x#***"
    )]
    #[case::short("https://h?a", "https://h?***")]
    #[case::line_break("https://h/a://b?c\nd?e", "https://h/a://b?***\nd?e")]
    #[case::no_address("is it? file:///a/b :// ?", "is it? file:///a/b :// ?")]
    fn addresses_have_no_secrets(#[case] message: &str, #[case] expected: &str) {
        assert_eq!(redact(message.to_owned(), std::iter::empty()), expected);
    }

    #[rstest]
    #[case::type_and_user("basic_auth of ann failed", "basic_auth of ann failed")]
    #[case::password("password `hush hush` is wrong", "password `***` is wrong")]
    #[case::line_of_a_header("at line two: no", "at ***: no")]
    #[case::empty("", "")]
    fn secrets_are_hidden(#[case] message: &str, #[case] expected: &str) {
        let secret = r#"{"type":"basic_auth","username":"ann","password":"hush hush",
            "headers":{"x":["line one\nline two"]}}"#;
        let secret = Secret::opened(Zeroizing::new(secret.into()));
        let redacted = redact(message.to_owned(), [&secret].into_iter());
        assert_eq!(redacted, expected);
    }

    #[test]
    fn messages_are_short() {
        let long = "ü".repeat(5000);
        let cut = shorten(&long);
        assert_eq!(cut.chars().count(), MAX_MESSAGE_CHARS + 1);
        let shortened = shorten("a\0b\u{1b}[2Jc\r\nd\te");
        assert_eq!(shortened, "a\u{fffd}b\u{fffd}[2Jc\u{fffd}\nd\te");
    }
}
