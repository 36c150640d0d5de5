//! One configuration file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::ConfigError;
use super::token::{Token, expand};
use crate::control::model::{Bundle, Kind, Secret, Source, Stack, wipe};

/// What a configuration file may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) bundles: BTreeMap<String, Bundle>,
    pub(super) sources: BTreeMap<String, Source>,
    pub(super) stacks: BTreeMap<String, Stack>,
    #[serde(deserialize_with = "secrets")]
    pub(super) secrets: BTreeMap<String, Secret>,
}

impl File {
    /// Reads a file; an error has its line and column.
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|failure| ConfigError::in_file(path, failure))?;
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_yaml::from_str(&text).map_err(|failure| {
            let place = match failure.location() {
                Some(at) => format!("{}:{}:{}", path.display(), at.line(), at.column()),
                None => path.display().to_string(),
            };
            ConfigError::new(place, failure)
        })
    }

    /// Adds another file, whose things count where both have the same.
    pub(super) fn merge(&mut self, later: Self) {
        self.tokens.extend(later.tokens);
        self.bundles.extend(later.bundles);
        self.sources.extend(later.sources);
        self.stacks.extend(later.stacks);
        self.secrets.extend(later.secrets);
    }

    /// The names of everything in the file; a token has no kind.
    pub(super) fn names(&self) -> impl Iterator<Item = (Option<Kind>, &str)> {
        let tokens = self.tokens.keys().map(|name| (None, name));
        let bundles = self.bundles.keys().map(|name| (Some(Kind::Bundle), name));
        let sources = self.sources.keys().map(|name| (Some(Kind::Source), name));
        let stacks = self.stacks.keys().map(|name| (Some(Kind::Stack), name));
        let secrets = self.secrets.keys().map(|name| (Some(Kind::Secret), name));
        let all = tokens.chain(bundles).chain(sources).chain(stacks);
        all.chain(secrets).map(|(kind, name)| (kind, name.as_str()))
    }
}

/// Reads secrets, with environment variables in their strings put in. No message shows a value.
fn secrets<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Secret>, D::Error> {
    let read = BTreeMap::<String, Map<String, Value>>::deserialize(from);
    let read = read.map_err(|_| D::Error::custom("a secret must be a mapping of its fields"))?;
    let secrets = read.into_iter().map(|(name, members)| {
        let mut value = Value::Object(members);
        let failed = |problem: String| D::Error::custom(format!("secret `{name}`: {problem}"));
        expand_strings(&mut value).map_err(failed)?;
        let secret = match &value {
            Value::Object(members) => Secret::from_members(members),
            _ => Secret::from_members(&Map::new()),
        };
        wipe(&mut value);
        let secret = secret.map_err(|invalid| failed(invalid.to_string()))?;
        Ok((name.clone(), secret))
    });
    secrets.collect()
}

fn expand_strings(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) => *text = expand(text)?,
        Value::Array(items) => items.iter_mut().try_for_each(expand_strings)?,
        Value::Object(members) => members.values_mut().try_for_each(expand_strings)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}
