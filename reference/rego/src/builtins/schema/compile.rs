//! Compiles a schema document into a tree of subschemas.

use std::sync::Arc;

use super::super::pattern::{Pattern, bytes};
use super::super::{Call, Failure, re2};
use super::choices::Choices;
use super::draft::Draft;
use super::fault::{Fault, invalid_schema, mistyped};
use super::items::Items;
use super::members::Members;
use super::node::{Additional, Matcher, NODE, Node, Schema, SubschemaId};
use super::numbers::Numbers;
use super::pool::{Pool, too_large};
use super::read;
use super::reference::Reference;
use super::strings::Strings;
use super::types::Types;
use super::values::Values;
use crate::Value;
use crate::hash::HashMap;
use crate::meter::VALUE_BYTES;
use crate::value::{Object, Text};

/// Maximum nesting depth of subschemas, and maximum length of reference chains.
pub(super) const MAX_DEPTH: usize = 5_000;

/// Maximum total memory of the patterns of a schema, in bytes.
pub(super) const MAX_PATTERNS: usize = 64 << 20;

/// Compiles schema documents into subschemas.
pub(super) struct Compiler<'c> {
    call: &'c Call<'c>,
    pool: Pool<'c>,
    nodes: Vec<Node>,
    /// Subschemas that references resolve to, by reference string.
    by_reference: HashMap<String, SubschemaId>,
    /// Compiled patterns, by source string.
    patterns: HashMap<Text, Arc<Pattern>>,
    pattern_bytes: usize,
    depth: usize,
}

/// Compiles a schema.
///
/// # Errors
/// When the document is not a schema, or the evaluation has to end.
pub(super) fn compile(call: &Call<'_>, document: &Value) -> Result<Schema, Fault> {
    let mut pool = Pool::new(call);
    let document = pool.add(document, &Reference::default())?;
    let draft = Draft::of(&document)?.unwrap_or(Draft::Hybrid);
    let mut compiler = Compiler {
        call,
        pool,
        nodes: Vec::new(),
        by_reference: HashMap::default(),
        patterns: HashMap::default(),
        pattern_bytes: 0,
        depth: 0,
    };
    compiler.subschema(&document, draft)?;
    Ok(Schema {
        nodes: compiler.nodes,
        patterns: compiler.pattern_bytes,
    })
}

impl Compiler<'_> {
    /// Compiles a subschema.
    pub(super) fn subschema(
        &mut self,
        document: &Value,
        draft: Draft,
    ) -> Result<SubschemaId, Fault> {
        let place = self.reserve()?;
        self.fill(place, document, draft)?;
        Ok(place)
    }

    /// Reserves a place for a subschema that is compiled later.
    fn reserve(&mut self) -> Result<SubschemaId, Fault> {
        self.call.make(NODE / VALUE_BYTES as usize)?;
        self.nodes.push(Node::default());
        Ok(self.nodes.len() - 1)
    }

    fn fill(&mut self, place: SubschemaId, document: &Value, draft: Draft) -> Result<(), Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::Failure(too_large()));
        }
        self.depth += 1;
        let node = stacker::maybe_grow(64 << 10, 1 << 20, || self.node(document, draft));
        self.depth -= 1;
        let node = node?;
        if let Some(empty) = self.nodes.get_mut(place) {
            *empty = node;
        }
        Ok(())
    }

    fn node(&mut self, document: &Value, draft: Draft) -> Result<Node, Fault> {
        let members = match document {
            Value::Bool(verdict) if draft >= Draft::Six => {
                return Ok(Node {
                    verdict: Some(*verdict),
                    ..Node::default()
                });
            }
            Value::Object(members) => members,
            _ => return invalid_schema("Expected: Valid Schema, given: Invalid JSON"),
        };
        self.check_identifier(members, draft)?;
        self.definitions(members, draft)?;
        read::text(members, "title")?;
        read::text(members, "description")?;
        let mut target = None;
        if let Some(reference) = read::text(members, "$ref")? {
            let reference = Reference::parse(reference).map_err(Fault::Schema)?;
            let text = reference.text();
            target = self.by_reference.get(&text).copied();
            // Siblings of a reference are read only if another one resolved to the same place.
            if target.is_none() {
                let target = self.refer(&reference, text, draft)?;
                return Ok(Node {
                    target: Some(target),
                    ..Node::default()
                });
            }
        }
        let node = self.keywords(members, draft)?;
        Ok(Node { target, ..node })
    }

    /// Reads the keywords that validate documents.
    fn keywords(&mut self, members: &Object, draft: Draft) -> Result<Node, Fault> {
        let types = Types::read(members)?;
        let mut of_objects = Members::read_subschemas(self, members, draft)?;
        let mut of_arrays = Items::read_subschemas(self, members, draft)?;
        let numbers = Numbers::read(members, draft)?;
        let strings = Strings::read(self, members)?;
        let format = read::text(members, "format")?.unwrap_or_default();
        of_objects.read_counts(members)?;
        of_arrays.read_counts(self, members, draft)?;
        let values = Values::read(self.call, members, draft, format)?;
        let choices = Choices::read(self, members, draft)?;
        Ok(Node {
            verdict: None,
            target: None,
            types,
            numbers: numbers.is_needed().then(|| Box::new(numbers)),
            strings: strings.is_needed().then(|| Box::new(strings)),
            members: of_objects.is_needed().then(|| Box::new(of_objects)),
            items: of_arrays.is_needed().then(|| Box::new(of_arrays)),
            values: values.is_needed().then(|| Box::new(values)),
            choices: choices.is_needed().then(|| Box::new(choices)),
        })
    }

    fn check_identifier(&self, members: &Object, draft: Draft) -> Result<(), Fault> {
        let keyword = match draft {
            Draft::Four => "id",
            Draft::Hybrid if members.contains_key("id") => "id",
            _ => "$id",
        };
        if let Some(identifier) = read::text(members, keyword)? {
            Reference::parse(identifier).map_err(Fault::Schema)?;
        }
        Ok(())
    }

    /// Compiles definitions, which have to be schemas even if nothing refers to them.
    fn definitions(&mut self, members: &Object, draft: Draft) -> Result<(), Fault> {
        let definitions = match members.get("definitions") {
            None => return Ok(()),
            Some(Value::Object(definitions)) => definitions,
            Some(_) => return mistyped("Array Of Schemas", "definitions"),
        };
        for definition in definitions.values() {
            if !is_schema(definition) {
                return mistyped("Array Of Schemas", "definitions");
            }
            self.subschema(definition, draft)?;
        }
        Ok(())
    }

    /// Compiles the target of a reference, and caches it for other references with this string.
    fn refer(
        &mut self,
        reference: &Reference,
        text: String,
        draft: Draft,
    ) -> Result<SubschemaId, Fault> {
        let place = self.reserve()?;
        self.by_reference.insert(text, place);
        let (document, named) = self.pool.get(reference)?;
        if !is_schema(&document) {
            return invalid_schema("Valid Schema must be of type object");
        }
        self.fill(place, &document, named.unwrap_or(draft))?;
        Ok(place)
    }

    /// Compiles a pattern.
    ///
    /// # Errors
    /// When the pattern takes too much memory. The inner value is `None` for an invalid pattern.
    pub(super) fn matcher(&mut self, text: &Text) -> Result<Option<Matcher>, Failure> {
        if let Some(pattern) = self.patterns.get(text) {
            let pattern = Arc::clone(pattern);
            return Ok(Some(Matcher {
                text: text.clone(),
                pattern,
            }));
        }
        self.call.spend(text.len())?;
        let Ok(parsed) = re2::parse(text) else {
            return Ok(None);
        };
        let bytes = bytes(&parsed.meaning);
        self.pattern_bytes = self.pattern_bytes.saturating_add(bytes);
        if self.pattern_bytes > MAX_PATTERNS {
            return Err(too_large());
        }
        // Patterns are charged before their memory is allocated.
        self.call.make(bytes / VALUE_BYTES as usize)?;
        self.call.begin()?;
        let pattern = Pattern::of(parsed.meaning, parsed.names).map_err(|_| too_large())?;
        let pattern = Arc::new(pattern);
        self.patterns.insert(text.clone(), Arc::clone(&pattern));
        Ok(Some(Matcher {
            text: text.clone(),
            pattern,
        }))
    }

    /// Reads `additionalProperties` or `additionalItems`.
    pub(super) fn additional(
        &mut self,
        members: &Object,
        keyword: &str,
        draft: Draft,
    ) -> Result<Additional, Fault> {
        match members.get(keyword) {
            None | Some(Value::Bool(true)) => Ok(Additional::Any),
            Some(Value::Bool(false)) => Ok(Additional::None),
            Some(schema @ Value::Object(_)) => Ok(Additional::By(self.subschema(schema, draft)?)),
            Some(_) => mistyped("boolean/Valid Schema", keyword),
        }
    }
}

/// Whether a value may be a schema.
pub(super) fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Object(_))
}
