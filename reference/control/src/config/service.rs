//! Section `service` of the configuration.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Settings of the API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a service")]
pub(super) struct Section {
    /// Prefix of all paths: empty, or with a slash at its beginning and none at its end.
    #[serde(deserialize_with = "prefix")]
    pub(super) api_prefix: String,
}

fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let Some(path) = text.strip_prefix('/') else {
        let message = format!("api_prefix `{text}` does not begin with a slash");
        return Err(D::Error::custom(message));
    };
    // Request paths are compared without decoding, so the prefix may only contain characters that
    // URLs never escape.
    let is_valid_segment = |segment: &str| {
        let is_punctuation = |c: char| "-._~!$&'()*+,;=:@%".contains(c);
        !matches!(segment, "" | "." | "..")
            && segment
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || is_punctuation(c))
    };
    match path {
        "" => Ok(String::new()),
        path if path.split('/').all(is_valid_segment) => Ok(text),
        _ => {
            let message = format!("invalid api_prefix `{text}`: expected a path such as /my/api");
            Err(D::Error::custom(message))
        }
    }
}
