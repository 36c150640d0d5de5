//! Bounds of the work of checking a document by a JSON schema. The library that checks it cannot be
//! interrupted, and subschemas that refer to others several times multiply the work.

use serde_json::Value as Json;

use super::pattern::{compiled_bytes, search_steps};
use super::{Call, Failure};
use crate::hash::HashMap;
use crate::meter::VALUE_BYTES;

/// The library checks at most this many subschemas against parts of a document.
const MAX_CHECKS: u64 = 10_000_000;

/// References are followed so deep.
const MAX_DEPTH: usize = 2000;

/// Keywords whose subschemas apply to the same part of the document.
const HERE: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords whose subschemas apply to all items or members of a part of the document.
const BELOW: &[&str] = &[
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
];

/// Patterns of a schema take so much memory together.
const MAX_PATTERNS: usize = 64 << 20;

/// The library resolves each reference of a schema in time that grows with their number.
const MAX_REFERENCES: usize = 10_000;

/// Fails when a schema should not be compiled, and charges its compilation. The bytes of its patterns
/// once they are compiled, about.
///
/// # Errors
/// When the evaluation has to end, or the schema is too large.
pub(super) fn afford_compilation(call: &Call<'_>, schema: &Json) -> Result<usize, Failure> {
    let (mut bytes, mut references, mut open) = (0usize, 0, vec![schema]);
    while let Some(part) = open.pop() {
        call.spend(1)?;
        match part {
            Json::Array(items) => open.extend(items),
            Json::Object(members) => {
                for (name, value) in members {
                    let large = match (name.as_str(), value) {
                        ("pattern", Json::String(pattern)) => compiled_bytes(pattern),
                        ("patternProperties", Json::Object(schemas)) => {
                            schemas.keys().map(|pattern| compiled_bytes(pattern)).sum()
                        }
                        _ => 0,
                    };
                    bytes = bytes.saturating_add(large);
                    references += usize::from(name == "$ref");
                    open.push(value);
                }
            }
            _ => {}
        }
        if bytes > MAX_PATTERNS || references > MAX_REFERENCES {
            return Err(Failure::Halt("the JSON schema is too large".to_owned()));
        }
    }
    call.make(bytes / VALUE_BYTES as usize)?;
    Ok(bytes)
}

/// Fails when checking the document could take too many steps, and charges those that it takes.
///
/// # Errors
/// When the evaluation has to end.
pub(super) fn afford(call: &Call<'_>, schema: &Json, document: &Json) -> Result<(), Failure> {
    let mut places = HashMap::default();
    name_places(schema, &mut places);
    let mut counter = Counter {
        call,
        root: schema,
        places,
        known: HashMap::default(),
    };
    let checks = counter.checks(schema, document, 0)?;
    if checks > MAX_CHECKS {
        return Err(too_many());
    }
    call.spend(usize::try_from(checks).unwrap_or(usize::MAX))
}

fn too_many() -> Failure {
    Failure::Halt("json.match_schema: the schema takes too many steps".to_owned())
}

/// Counts checks without making them. Each pair of a subschema and a part of the document is counted
/// once, and multiplied wherever it occurs.
struct Counter<'s> {
    call: &'s Call<'s>,
    root: &'s Json,
    /// Subschemas that have an identifier or an anchor.
    places: HashMap<&'s str, &'s Json>,
    /// The checks of a pair, by addresses; nothing while they are counted.
    known: HashMap<(usize, usize), Option<u64>>,
}

impl<'s> Counter<'s> {
    /// The checks of a subschema, or of several in an array, for a part of the document.
    fn checks(&mut self, schema: &'s Json, part: &'s Json, depth: usize) -> Result<u64, Failure> {
        if depth > MAX_DEPTH {
            return Err(too_many());
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || match schema {
            Json::Object(members) => members.iter().try_fold(1, |sum: u64, (keyword, value)| {
                self.call.check()?;
                let checks = self.keyword(keyword, value, part, depth + 1)?;
                Ok(sum.saturating_add(checks))
            }),
            Json::Array(schemas) => self.sum(schemas.iter().map(|schema| (schema, part)), depth),
            _ => Ok(1),
        })
    }

    fn sum(
        &mut self,
        mut pairs: impl Iterator<Item = (&'s Json, &'s Json)>,
        depth: usize,
    ) -> Result<u64, Failure> {
        pairs.try_fold(1, |sum: u64, (schema, part)| {
            Ok(sum.saturating_add(self.checks(schema, part, depth)?))
        })
    }

    /// The checks of a subschema that is referred to.
    fn referred(&mut self, schema: &'s Json, part: &'s Json, depth: usize) -> Result<u64, Failure> {
        let pair = (
            std::ptr::from_ref(schema).addr(),
            std::ptr::from_ref(part).addr(),
        );
        match self.known.get(&pair) {
            Some(Some(checks)) => return Ok(*checks),
            // The subschema refers to itself at the same part.
            Some(None) => return Err(too_many()),
            None => {}
        }
        self.call.make(2)?;
        self.known.insert(pair, None);
        let checks = self.checks(schema, part, depth)?;
        self.known.insert(pair, Some(checks));
        Ok(checks)
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'s Json,
        part: &'s Json,
        depth: usize,
    ) -> Result<u64, Failure> {
        match (keyword, value, part) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Json::String(reference), _) => {
                let targets = self.resolve(reference).into_iter();
                targets.into_iter().try_fold(1, |sum: u64, schema| {
                    Ok(sum.saturating_add(self.referred(schema, part, depth)?))
                })
            }
            ("pattern", Json::String(pattern), Json::String(text)) => {
                Ok(search_checks(pattern, text))
            }
            ("properties", Json::Object(schemas), Json::Object(members)) => {
                let pairs = schemas.iter();
                let pairs = pairs.filter_map(|(name, schema)| Some((schema, members.get(name)?)));
                self.sum(pairs, depth)
            }
            ("prefixItems" | "items", Json::Array(schemas), Json::Array(items)) => {
                self.sum(schemas.iter().zip(items), depth)
            }
            ("enum", Json::Array(values), _) => Ok(values.len() as u64),
            ("dependentSchemas" | "dependencies", Json::Object(schemas), _) => {
                self.sum(schemas.values().map(|schema| (schema, part)), depth)
            }
            ("patternProperties", Json::Object(schemas), Json::Object(members)) => {
                let schemas = schemas.values();
                let pairs =
                    schemas.flat_map(|schema| members.values().map(move |member| (schema, member)));
                self.sum(pairs, depth)
            }
            ("propertyNames", schema, Json::Object(members)) => {
                let checks = self.checks(schema, &Json::Null, depth)?;
                Ok(checks.saturating_mul(members.len() as u64))
            }
            (keyword, schema, _) if HERE.contains(&keyword) => self.checks(schema, part, depth),
            (keyword, schema, Json::Array(items)) if BELOW.contains(&keyword) => {
                self.sum(items.iter().map(|item| (schema, item)), depth)
            }
            (keyword, schema, Json::Object(members)) if BELOW.contains(&keyword) => {
                self.sum(members.values().map(|member| (schema, member)), depth)
            }
            _ => Ok(1),
        }
    }

    /// The subschemas that a reference may mean.
    fn resolve(&self, reference: &str) -> Vec<&'s Json> {
        let (place, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let bases = match place {
            "" => vec![self.root],
            place => self.named(place),
        };
        match pointer {
            "" => bases,
            pointer if pointer.starts_with('/') => {
                let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
                bases
                    .into_iter()
                    .filter_map(|base| base.pointer(&decoded))
                    .collect()
            }
            anchor => self.named(anchor),
        }
    }

    /// The subschemas of a name, which may be relative to that of another one.
    fn named(&self, name: &str) -> Vec<&'s Json> {
        let relative = name.strip_prefix("./").unwrap_or(name);
        let is_meant = |place: &str| match place.strip_suffix(relative) {
            Some(before) => before.is_empty() || (!name.contains("://") && before.ends_with('/')),
            None => false,
        };
        let places = self.places.iter();
        let named = places.filter(|(place, _)| is_meant(place));
        named.map(|(_, schema)| *schema).collect()
    }
}

/// The checks that a search costs as much as. A long search with a large pattern goes through all states of
/// an automaton for each character, others do not.
fn search_checks(pattern: &str, text: &str) -> u64 {
    let steps = search_steps(pattern, text) as u64;
    match steps < 1 << 18 {
        true => text.len() as u64 / 64,
        false => steps,
    }
}

/// Finds the subschemas that have an identifier or an anchor.
fn name_places<'s>(schema: &'s Json, places: &mut HashMap<&'s str, &'s Json>) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        match schema {
            Json::Array(items) => open.extend(items),
            Json::Object(members) => {
                for (name, value) in members {
                    let is_name = matches!(
                        name.as_str(),
                        "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor"
                    );
                    if let (true, Json::String(place)) = (is_name, value) {
                        let place = place.strip_suffix('#').unwrap_or(place);
                        places.insert(place.strip_prefix('#').unwrap_or(place), schema);
                    }
                    open.push(value);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::{Call, Failure, Outside, Session};
    use super::{afford, too_many};
    use crate::eval::no_location;
    use crate::meter::Meter;

    fn checked(schema: &Json, document: &Json) -> Result<(), Failure> {
        let (location, mut session) = (no_location(), Session::default());
        let meter = Meter::default();
        let call = Call {
            location: &location,
            session: &mut session,
            meter: &meter,
            outside: Outside::default(),
        };
        afford(&call, schema, document)
    }

    /// Definitions of which each refers to the next one twice, by its pointer or its name.
    fn doubling(keyword: &str, reference: fn(usize) -> String) -> Json {
        let mut definitions = serde_json::Map::new();
        for at in 0..40 {
            let next = json!({"$ref": reference(at + 1)});
            let name = format!("d{at}");
            definitions.insert(name.clone(), json!({"$id": name, keyword: [next, next]}));
        }
        definitions.insert("d40".to_owned(), json!({"$id": "d40"}));
        json!({"$id": "https://a.example/s/root", "$ref": reference(0), "definitions": definitions})
    }

    #[test]
    fn schemas_that_multiply_are_refused() {
        let tree = json!({
            "$id": "https://a.example/schema",
            "properties": {"children": {"items": {"$ref": "#"}}, "meta": {"$ref": "http://json-schema.org/draft-07/schema#"}},
        });
        let document = json!({"children": [{"children": [{}, {}]}, {"meta": {}}]});
        let wide = json!({"items": {"allOf": [{"type": "object"}, {"required": ["a"]}]}});
        for (shown, schema, document, refused) in [
            ("a tree", tree, document, false),
            ("all items", wide, json!(vec![json!({}); 10_000]), false),
            ("itself", json!({"allOf": [{"$ref": "#"}]}), json!({}), true),
            (
                "itself by its name",
                json!({"$id": "a", "not": {"$ref": "a"}}),
                json!({}),
                true,
            ),
            (
                "pointers",
                doubling("allOf", |at| format!("#/definitions/d{at}")),
                json!({}),
                true,
            ),
            (
                "names",
                doubling("oneOf", |at| format!("d{at}")),
                json!({}),
                true,
            ),
            (
                "names in items",
                doubling("items", |at| format!("d{at}")),
                json!([[]]),
                false,
            ),
            (
                "a large pattern",
                json!({"pattern": "((a{1,90}){1,90})c"}),
                json!("a".repeat(4000)),
                true,
            ),
            (
                "a usual pattern",
                json!({"pattern": "^\\w+$"}),
                json!("a".repeat(4000)),
                false,
            ),
        ] {
            let found = checked(&schema, &document);
            let expected = if refused { Err(too_many()) } else { Ok(()) };
            assert_eq!(found, expected, "{shown}");
        }
    }
}
