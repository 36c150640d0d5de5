//! Configuration files.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Map;

use super::token::{Token, expand_strings};
use super::{ConfigError, database, service, source};
use crate::model::{Bundle, GivenSecret, Kind, Secret, Stack, wipe};

/// Sections of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a configuration")]
pub(super) struct File {
    #[serde(deserialize_with = "unique_names")]
    pub(super) tokens: BTreeMap<String, Token>,
    #[serde(deserialize_with = "unique_names")]
    pub(super) bundles: BTreeMap<String, Bundle>,
    #[serde(deserialize_with = "unique_names")]
    pub(super) sources: BTreeMap<String, source::Declared>,
    #[serde(deserialize_with = "unique_names")]
    pub(super) stacks: BTreeMap<String, Stack>,
    #[serde(deserialize_with = "unique_names")]
    pub(super) secrets: BTreeMap<String, Declared>,
    pub(super) database: Option<database::Section>,
    pub(super) service: Option<service::Section>,
    /// Section `metrics` of OPA Control Plane, which has no effect: this server collects all
    /// metrics.
    metrics: Option<IgnoredAny>,
    /// Section `metadata` of OPA Control Plane, which has no effect.
    metadata: Option<IgnoredAny>,
}

impl File {
    /// Parses a file; an error contains its line and column.
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|failure| ConfigError::in_file(path, failure))?;
        let file = serde_yaml::from_str::<Option<Self>>(&text).map_err(|failure| {
            let place = match failure.location() {
                Some(location) => format!(
                    "{}:{}:{}",
                    path.display(),
                    location.line(),
                    location.column()
                ),
                None => path.display().to_string(),
            };
            ConfigError::new(place, without_value(&failure.to_string()))
        })?;
        Ok(file.unwrap_or_default())
    }

    /// Merges a later file; its entries take precedence.
    pub(super) fn merge(&mut self, later: Self) {
        self.tokens.extend(later.tokens);
        self.bundles.extend(later.bundles);
        self.sources.extend(later.sources);
        self.stacks.extend(later.stacks);
        self.secrets.extend(later.secrets);
        self.database = later.database.or(self.database.take());
        self.service = later.service.or(self.service.take());
    }

    /// Returns the names of the sections in the file that have no effect.
    pub(super) fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        let sections = [("metrics", &self.metrics), ("metadata", &self.metadata)];
        let present = sections
            .into_iter()
            .filter(|(_, section)| section.is_some());
        present.map(|(name, _)| name)
    }

    /// Returns the kind and name of each definition and token in the file; a token has no kind.
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

/// Removes the invalid value from an error message: it may be a misplaced key or secret.
fn without_value(message: &str) -> String {
    let parts = message
        .split_once("invalid type: ")
        .and_then(|(path, rest)| {
            let (found, expected) = rest.rsplit_once(", expected ")?;
            // The position is already at the beginning of the message.
            let expected = expected.split(" at line ").next()?;
            Some((path, found.split(['"', '`']).next()?.trim_end(), expected))
        });
    match parts {
        Some((path, kind, expected)) => format!("{path}expected {expected}, not {kind}"),
        None => message.to_owned(),
    }
}

/// Deserializes a mapping from names, and refuses a name that occurs twice.
fn unique_names<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    deserializer.deserialize_map(UniqueNames(PhantomData))
}

struct UniqueNames<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for UniqueNames<T> {
    type Value = BTreeMap<String, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if entries.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is declared twice")));
            }
            entries.insert(name, map.next_value()?);
        }
        Ok(entries)
    }
}

/// Declared secret, with environment variables in its strings expanded.
#[derive(Debug)]
pub(super) struct Declared(pub(super) GivenSecret);

impl<'de> Deserialize<'de> for Declared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

/// Deserializer for one secret, so that an error contains the position of the secret.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Declared;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of the secret's fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Declared, A::Error> {
        let mut members = Map::deserialize(MapAccessDeserializer::new(map))?;
        let expanded = members.values_mut().try_for_each(expand_strings);
        let result = expanded.map(|()| Secret::from_members(&mut members));
        members.values_mut().for_each(wipe);
        let secret = result.map_err(A::Error::custom)?;
        secret.map(Declared).map_err(A::Error::custom)
    }
}
