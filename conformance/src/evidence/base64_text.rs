//! A string type for base64 in evidence.

use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// A valid base64 string. INVARIANT: it decodes; evidence with an invalid one is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Base64Text(String);

impl Base64Text {
    /// Encodes bytes in base64.
    pub fn of(bytes: &[u8]) -> Self {
        Self(STANDARD.encode(bytes))
    }

    /// Returns the decoded bytes.
    pub fn decode(&self) -> Vec<u8> {
        // It was validated when it was read.
        STANDARD.decode(&self.0).unwrap_or_default()
    }
}

impl Deref for Base64Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Base64Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match STANDARD.decode(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(D::Error::custom(format!("invalid base64: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::Base64Text;

    #[rstest]
    #[case::command(r#""$(touch /tmp/x)""#)]
    #[case::no_padding(r#""/2E""#)]
    #[case::behind_the_padding(r#""/2E=;ls""#)]
    #[case::line_feed(r#""/2E=\n""#)]
    #[case::number("1")]
    fn only_base64_is_read(#[case] text: &str) {
        assert!(serde_json::from_str::<Base64Text>(text).is_err());
    }

    #[test]
    fn base64_is_read() -> Result<(), serde_json::Error> {
        let read: Base64Text = serde_json::from_str(r#""/2E=""#)?;
        assert_eq!(read.decode(), b"\xffa");
        Ok(())
    }
}
