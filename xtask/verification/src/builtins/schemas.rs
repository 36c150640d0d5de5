//! JSON schemas and documents, for functions that validate: generated from the grammars of drafts
//! 4, 6 and 7.

use std::collections::BTreeMap;

use rego_generate::Choices;
use serde_json::Value;

use super::schema_words::{
    BAD, FORMATS, IDENTIFIERS, LIMITS, METASCHEMAS, NAMES, NUMBERS, PATTERNS, TEXTS, TYPES,
};

/// Maximum nesting depth of schemas and documents.
const DEPTH: usize = 3;

/// Generates the operands of a call; `None` if the function has no operand that is a schema.
pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    if !name.starts_with("json.") || !name.ends_with("_schema") || choices.rarely(50) {
        return None;
    }
    let takes_document = name == "json.match_schema";
    if takes_document && choices.rarely(6) {
        let (text, format) = (Value::from(choices.of(&TEXTS)), choices.of(&FORMATS));
        return Some(vec![
            format!("{{\"a\": {text}}}"),
            format!("{{\"properties\": {{\"a\": {{\"format\": \"{format}\"}}}}}}"),
        ]);
    }
    let mut maker = Maker {
        draft: choices.below(5),
        is_sound: !choices.rarely(3),
        choices,
    };
    let mut operands = Vec::new();
    if takes_document {
        let document = match maker.choices.rarely(8) {
            true => maker.list(DEPTH, |maker| maker.document(DEPTH)),
            false => maker.object(DEPTH),
        };
        operands.push(maker.written(document));
    }
    let schema = maker.root();
    operands.push(maker.written(schema));
    Some(operands)
}

/// Returns true if two results have the same errors in another order.
pub(super) fn is_reordered(ours: &str, theirs: &str) -> bool {
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    ours.starts_with("[[false") && sorted(ours) == sorted(theirs)
}

/// Generator of schemas and documents.
struct Maker<'m, 'b> {
    /// Index of the draft in [`METASCHEMAS`].
    draft: usize,
    /// True if no further defect may be inserted.
    is_sound: bool,
    choices: &'m mut Choices<'b>,
}

/// Position of a subschema, which determines its possible references: none may cause a cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPosition {
    /// Applies to the whole document.
    Root,
    /// Applies to the same value as the definition that contains it.
    Definition,
    /// Applies to a part of the value, such as a member or an item.
    Inner,
    /// Has an identifier, or is within a schema that has one.
    Named,
}

type Members = BTreeMap<String, String>;

fn object(members: Members) -> String {
    let members = members
        .into_iter()
        .map(|(name, value)| format!("{}: {value}", Value::from(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

impl Maker<'_, '_> {
    /// Returns an operand with a JSON value: the value, or a string that contains the JSON. If the
    /// value is not an object, the expression hides its type from the type checker.
    fn written(&mut self, text: String) -> String {
        match self.choices.rarely(6) {
            true => Value::from(text).to_string(),
            false if text.starts_with('{') => text,
            false => format!("json.unmarshal({})", Value::from(text)),
        }
    }

    fn is_old(&self) -> bool {
        self.draft == 1
    }

    fn is_hybrid(&self) -> bool {
        !matches!(self.draft, 1..=3)
    }

    /// Decides at random if a defect is inserted here; at most one is inserted.
    fn makes_invalid(&mut self) -> bool {
        let is_invalid = !self.is_sound && self.choices.rarely(7);
        self.is_sound |= is_invalid;
        is_invalid
    }

    fn list(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> String) -> String {
        let count = match self.choices.rarely(6) {
            true => 0,
            false => 1 + self.choices.below(most),
        };
        let items: Vec<String> = (0..count).map(|_| item(self)).collect();
        format!("[{}]", items.join(", "))
    }

    fn object(&mut self, depth: usize) -> String {
        let mut members = Members::new();
        for _ in 0..1 + self.choices.below(5) {
            let name = self.choices.of(&NAMES).to_owned();
            members.insert(name, self.document(depth.saturating_sub(1)));
        }
        object(members)
    }

    fn document(&mut self, depth: usize) -> String {
        match self.choices.below(if depth == 0 { 6 } else { 10 }) {
            0 => "null".to_owned(),
            1 => self.choices.of(&["true", "false"]).to_owned(),
            2 | 3 => self.choices.of(&NUMBERS).to_owned(),
            4 | 5 => self.text(),
            6 | 7 => self.list(4, |maker| maker.document(depth - 1)),
            _ => self.object(depth),
        }
    }

    fn text(&mut self) -> String {
        match self.choices.rarely(3) {
            true => Value::from(self.choices.of(&TEXTS)).to_string(),
            false => Value::from(self.choices.of(&NAMES)).to_string(),
        }
    }

    /// Generates a schema with definitions; the schema and the definitions may have identifiers.
    fn root(&mut self) -> String {
        let mut members = Members::new();
        if self.choices.rarely(60) {
            return self.choices.of(&BAD).to_owned();
        }
        if let Some(name) = METASCHEMAS.get(self.draft).filter(|name| !name.is_empty()) {
            members.insert("$schema".to_owned(), Value::from(*name).to_string());
        }
        self.keywords(DEPTH, SchemaPosition::Root, &mut members);
        if !self.choices.rarely(4) {
            let properties = self.by_names(&NAMES, |maker| {
                maker.schema(DEPTH - 1, SchemaPosition::Inner)
            });
            members.insert("properties".to_owned(), properties);
        }
        let keyword = if self.is_old() { "id" } else { "$id" };
        if self.choices.rarely(3) {
            let name = self
                .choices
                .of(&["http://example.com/root.json", "root.json", "#", "a b"]);
            members.insert(keyword.to_owned(), format!("\"{name}\""));
        }
        for (at, place) in ["definitions", "$defs", "other"].into_iter().enumerate() {
            if at > 0 && !self.choices.rarely(5) {
                continue;
            }
            let mut definitions = Members::new();
            for (at, (name, identifier)) in ["a", "b", "c"].iter().zip(IDENTIFIERS).enumerate() {
                let mut definition = Members::new();
                let is_named = place == "definitions" && self.choices.rarely(4);
                let place = match (is_named, at) {
                    (true, _) | (_, 2) => SchemaPosition::Named,
                    _ => SchemaPosition::Definition,
                };
                self.keywords(1, place, &mut definition);
                if is_named {
                    definition.insert(keyword.to_owned(), format!("\"{identifier}\""));
                }
                definitions.insert((*name).to_owned(), object(definition));
            }
            members.insert(place.to_owned(), object(definitions));
        }
        if self.makes_invalid() {
            let (name, value) = (
                self.choices.of(&["definitions", "$schema", "$id", "id"]),
                self.choices.of(&BAD),
            );
            members.insert(name.to_owned(), value.to_owned());
        }
        object(members)
    }

    fn schema(&mut self, depth: usize, place: SchemaPosition) -> String {
        if !self.is_old() && self.choices.rarely(12) {
            return self.choices.of(&["true", "false"]).to_owned();
        }
        if self.makes_invalid() {
            return self.choices.of(&BAD).to_owned();
        }
        let mut members = Members::new();
        self.keywords(depth, place, &mut members);
        object(members)
    }

    fn keywords(&mut self, depth: usize, place: SchemaPosition, members: &mut Members) {
        if self.choices.rarely(5) {
            let reference = self.reference(place);
            members
                .extend(reference.map(|text| ("$ref".to_owned(), Value::from(text).to_string())));
        }
        let is_sound = self.is_sound;
        // Implementations handle keywords next to `$ref` in different ways, so no defect is
        // inserted.
        self.is_sound |= members.contains_key("$ref");
        let count = 1 + self.choices.below(3);
        for _ in 0..count {
            match depth == 0 || self.choices.rarely(2) {
                true => self.plain(members),
                false => self.nested(depth - 1, place, members),
            }
        }
        if self.makes_invalid() {
            let names: Vec<String> = members.keys().cloned().collect();
            let at = self.choices.below(names.len().max(1));
            if let Some(name) = names.get(at) {
                members.insert(name.clone(), self.choices.of(&BAD).to_owned());
            }
        }
        if members.contains_key("$ref") {
            self.is_sound = is_sound;
        }
    }

    /// Returns a target for a reference in a subschema; `None` in a schema with an identifier.
    fn reference(&mut self, place: SchemaPosition) -> Option<String> {
        if self.makes_invalid() {
            let missing = [
                "#/definitions/x",
                "#/definitions/a/x/y",
                "#/type/0",
                "b.json#/x",
                "missing.json",
                "http://[::1",
                "%zz",
                "#/definitions",
                "#/title",
                "file:///none",
                ":",
                "http://127.0.0.1:1/none",
            ];
            return Some(self.choices.of(&missing).to_owned());
        }
        let known = [
            "http://json-schema.org/draft-04/schema#",
            "http://json-schema.org/draft-06/schema#/definitions/nonNegativeInteger",
            "http://json-schema.org/draft-07/schema#",
            "http://json-schema.org/draft-07/schema#/definitions/simpleTypes",
        ];
        let definitions = ["#/definitions/a", "#/definitions/b", "#/definitions/c"];
        let text = match place {
            _ if self.choices.rarely(8) => self.choices.of(&known),
            SchemaPosition::Named => return None,
            SchemaPosition::Definition => "#/definitions/c",
            SchemaPosition::Root => self.choices.of(&definitions),
            SchemaPosition::Inner if self.choices.rarely(4) => {
                self.choices.of(&["#", "", "#anchor"])
            }
            SchemaPosition::Inner => self.choices.of(&definitions),
        };
        Some(text.to_owned())
    }

    /// Adds a keyword that contains no subschemas.
    fn plain(&mut self, members: &mut Members) {
        let names = [
            "type",
            "minimum",
            "exclusiveMinimum",
            "maximum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "minItems",
            "maxItems",
            "uniqueItems",
            "minProperties",
            "maxProperties",
            "required",
            "enum",
            "const",
            "title",
            "examples",
        ];
        let name = self.choices.of(&names);
        let value = match name {
            "type" => self.types(),
            "exclusiveMinimum" | "exclusiveMaximum" => return self.exclusive(name, members),
            "minimum" | "maximum" => self.choices.of(&LIMITS).to_owned(),
            "multipleOf" => self
                .choices
                .of(&["1", "2", "0.1", "1.5", "1e2", "3.0", "0.01"])
                .to_owned(),
            "pattern" => Value::from(self.choices.of(&PATTERNS)).to_string(),
            "format" => Value::from(self.choices.of(&FORMATS)).to_string(),
            "uniqueItems" => self.choices.of(&["true", "true", "false"]).to_owned(),
            "required" => self.required(),
            "enum" => self.distinct(),
            "const" => self.document(1),
            "title" => self.text(),
            "examples" => self.list(2, |maker| maker.document(1)),
            name if name.starts_with("min") => self.choices.of(&["0", "1", "2"]).to_owned(),
            _ => self.choices.of(&["2", "3", "4"]).to_owned(),
        };
        members.insert(name.to_owned(), value);
    }

    fn types(&mut self) -> String {
        if self.choices.rarely(4) {
            let start = self.choices.below(TYPES.len());
            let count = self.choices.below(4);
            let names = TYPES.iter().cycle().skip(start).take(count);
            let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            return format!("[{}]", names.join(", "));
        }
        format!("\"{}\"", self.choices.of(&TYPES))
    }

    /// Adds an exclusive limit: a number, or in draft 4 a flag in addition to the limit.
    fn exclusive(&mut self, name: &str, members: &mut Members) {
        let is_flag = self.is_old() || (self.is_hybrid() && self.choices.rarely(2));
        let limit = self.choices.of(&LIMITS).to_owned();
        if !is_flag {
            members.insert(name.to_owned(), limit);
            return;
        }
        let flag = self.choices.of(&["true", "false"]);
        let inclusive = name.replace("exclusiveM", "m");
        members.insert(name.to_owned(), flag.to_owned());
        members.insert(inclusive, limit);
    }

    fn required(&mut self) -> String {
        let start = self.choices.below(NAMES.len());
        let count = 1 + self.choices.below(2);
        let names = NAMES.iter().cycle().skip(start).take(count);
        let names: Vec<String> = names.map(|name| Value::from(*name).to_string()).collect();
        format!("[{}]", names.join(", "))
    }

    /// Generates an array of distinct values.
    fn distinct(&mut self) -> String {
        let mut values: Vec<String> = Vec::new();
        for _ in 0..1 + self.choices.below(3) {
            let value = self.document(1);
            if !values.contains(&value) && !value.contains(['.', 'e', '-']) {
                values.push(value);
            }
        }
        format!("[{}]", values.join(", "))
    }

    /// Adds a keyword that contains subschemas.
    fn nested(&mut self, depth: usize, place: SchemaPosition, members: &mut Members) {
        let inner = match place {
            SchemaPosition::Root | SchemaPosition::Definition | SchemaPosition::Inner => {
                SchemaPosition::Inner
            }
            SchemaPosition::Named => SchemaPosition::Named,
        };
        let names = [
            "properties",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "dependencies",
            "items",
            "additionalItems",
            "contains",
            "oneOf",
            "anyOf",
            "allOf",
            "not",
            "if",
            "unknown",
        ];
        let name = self.choices.of(&names);
        let value = match name {
            "properties" => self.by_names(&NAMES, |maker| maker.schema(depth, inner)),
            "patternProperties" => self.by_names(&PATTERNS, |maker| maker.schema(depth, inner)),
            "additionalProperties" | "additionalItems" => match self.choices.rarely(2) {
                true => self.choices.of(&["false", "true"]).to_owned(),
                false => self.schema(depth, inner),
            },
            "dependencies" => self.by_names(&NAMES, |maker| match maker.choices.rarely(2) {
                true => maker.schema(depth, place),
                false => maker.required(),
            }),
            "items" if self.choices.rarely(2) => self.list(3, |maker| maker.schema(depth, inner)),
            "items" | "contains" | "propertyNames" => self.schema(depth, inner),
            "oneOf" | "anyOf" | "allOf" => self.list(3, |maker| maker.schema(depth, place)),
            "if" => {
                for name in ["then", "else"] {
                    let value = self.schema(depth, place);
                    members.insert(name.to_owned(), value);
                }
                self.schema(depth, place)
            }
            _ => self.schema(depth, place),
        };
        members.insert(name.to_owned(), value);
    }

    fn by_names(&mut self, names: &[&str], mut value: impl FnMut(&mut Self) -> String) -> String {
        let mut members = Members::new();
        for _ in 0..1 + self.choices.below(3) {
            let name = self.choices.of(names).to_owned();
            members.insert(name, value(self));
        }
        object(members)
    }
}
