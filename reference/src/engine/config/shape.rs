//! The sections and keys that a configuration may have.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

const DEFAULT_MAX_BODY: usize = 256 << 20;
const DEFAULT_MAX_DECODED_BODY: usize = 512 << 20;
const DEFAULT_GZIP_THRESHOLD: usize = 1024;
const DEFAULT_GZIP_LEVEL: u32 = 9;

/// A whole configuration. Sections that have no effect yet are taken as they are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct Shape {
    #[serde(rename = "services")]
    _services: Option<IgnoredAny>,
    #[serde(rename = "labels")]
    _labels: Option<BTreeMap<String, String>>,
    #[serde(rename = "keys")]
    _keys: Option<BTreeMap<String, IgnoredAny>>,
    pub(super) decision_logs: Option<DecisionLogs>,
    pub(super) status: Option<IgnoredAny>,
    pub(super) bundles: Option<BTreeMap<String, IgnoredAny>>,
    pub(super) discovery: Option<IgnoredAny>,
    #[serde(rename = "plugins")]
    _plugins: Option<BTreeMap<String, IgnoredAny>>,
    #[serde(rename = "caching")]
    _caching: Option<IgnoredAny>,
    server: Option<Server>,
    pub(super) default_decision: Option<String>,
    pub(super) default_authorization_decision: Option<String>,
}

/// Where decisions are logged; keys for other places than the console have no effect yet.
#[derive(Debug, Default, Deserialize)]
pub(super) struct DecisionLogs {
    #[serde(default)]
    pub(super) console: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    encoding: Option<Encoding>,
    decoding: Option<Decoding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoding {
    gzip: Option<GzipEncoding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GzipEncoding {
    min_length: Option<usize>,
    compression_level: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decoding {
    max_length: Option<usize>,
    gzip: Option<GzipDecoding>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GzipDecoding {
    max_length: Option<usize>,
}

impl Shape {
    /// The shape of a configuration in JSON.
    pub(super) fn of(json: &[u8]) -> Result<Self, String> {
        let shape: Self = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        shape.checked()
    }

    fn checked(self) -> Result<Self, String> {
        for (name, value) in [
            ("server.decoding.max_length", self.max_body()),
            ("server.decoding.gzip.max_length", self.max_decoded_body()),
            ("server.encoding.gzip.min_length", self.gzip_threshold()),
        ] {
            if value == 0 {
                return Err(format!("{name} must be greater than 0"));
            }
        }
        if self.gzip_level() > 9 {
            return Err("server.encoding.gzip.compression_level must be 0 to 9".to_owned());
        }
        Ok(self)
    }

    fn decoding(&self) -> Option<&Decoding> {
        self.server.as_ref()?.decoding.as_ref()
    }

    fn gzip_encoding(&self) -> Option<&GzipEncoding> {
        self.server.as_ref()?.encoding.as_ref()?.gzip.as_ref()
    }

    pub(super) fn max_body(&self) -> usize {
        let given = self.decoding().and_then(|decoding| decoding.max_length);
        given.unwrap_or(DEFAULT_MAX_BODY)
    }

    pub(super) fn max_decoded_body(&self) -> usize {
        let gzip = self.decoding().and_then(|decoding| decoding.gzip.as_ref());
        let given = gzip.and_then(|gzip| gzip.max_length);
        given.unwrap_or(DEFAULT_MAX_DECODED_BODY)
    }

    pub(super) fn gzip_threshold(&self) -> usize {
        let given = self.gzip_encoding().and_then(|gzip| gzip.min_length);
        given.unwrap_or(DEFAULT_GZIP_THRESHOLD)
    }

    pub(super) fn gzip_level(&self) -> u32 {
        let given = self.gzip_encoding().and_then(|gzip| gzip.compression_level);
        given.unwrap_or(DEFAULT_GZIP_LEVEL)
    }
}

/// Says with line and column what a JSON configuration has that is not known.
pub(super) fn check(json: &[u8]) -> Result<(), String> {
    Shape::of(json).map(drop)
}

/// Says with line and column what a YAML configuration has that is not known.
pub(super) fn check_yaml(text: &str) -> Result<(), String> {
    let shape: Option<Shape> = serde_yaml::from_str(text).map_err(|error| {
        let message = error.to_string();
        // The library leaves out the place when it is the start of the text.
        match message.contains(" at line ") {
            true => message,
            false => format!("{message} at line 1 column 1"),
        }
    })?;
    shape.unwrap_or_default().checked().map(drop)
}
