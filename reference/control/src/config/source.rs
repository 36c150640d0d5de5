//! Sources in the configuration.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tracing::warn;

use super::token::expand_strings;
use crate::model::Source;

/// Declared source; all fields are optional. Environment variables in the config of its datasources
/// are expanded. Members with a dot in their names belong to other products; they are ignored and
/// logged, as in OPA Control Plane.
#[derive(Debug)]
pub(super) struct Declared(pub(super) Source);

impl<'de> Deserialize<'de> for Declared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Declared;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of the source's fields")
    }

    fn visit_unit<E: Error>(self) -> Result<Declared, E> {
        Ok(Declared(Source::default()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Declared, A::Error> {
        let mut source = Source::deserialize(MapAccessDeserializer::new(OwnMembers(map)))?;
        let datasources = source.datasources.iter_mut().flatten();
        let mut configs = datasources.filter_map(|datasource| datasource.config.as_mut());
        let expanded =
            configs.try_for_each(|config| config.values_mut().try_for_each(expand_strings));
        expanded.map_err(A::Error::custom)?;
        Ok(Declared(source))
    }
}

/// Map access that skips the members of other products.
struct OwnMembers<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OwnMembers<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        while let Some(name) = self.0.next_key::<String>()? {
            if !name.contains('.') {
                let name = StringDeserializer::<A::Error>::new(name);
                return seed.deserialize(name).map(Some);
            }
            self.0.next_value::<IgnoredAny>()?;
            warn!(member = name, "a member of a declared source has no effect");
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}
