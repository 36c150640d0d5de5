//! Documents that references of a schema may resolve to.

use super::super::{Call, Failure};
use super::draft::{Draft, text_of};
use super::fault::{Fault, invalid_schema};
use super::reference::Reference;
use crate::Value;
use crate::hash::HashMap;
use crate::value::{Object, from_json};

/// Keywords whose values are literals.
const LITERAL: [&str; 2] = ["const", "enum"];

/// Keywords whose members have arbitrary names, so that none of them is a keyword.
const NAMED: [&str; 3] = ["properties", "dependencies", "patternProperties"];

/// A document with the draft that its root names.
type Document = (Value, Option<Draft>);

/// Documents by reference string: the schema, and every part of it that has an identifier.
#[derive(Debug)]
pub(super) struct Pool<'c> {
    call: &'c Call<'c>,
    documents: HashMap<String, Document>,
}

impl<'c> Pool<'c> {
    pub(super) fn new(call: &'c Call<'c>) -> Self {
        Self {
            call,
            documents: HashMap::default(),
        }
    }

    /// Adds a document, and its parts that have identifiers, after resolving their references.
    ///
    /// # Errors
    /// When the document is not a schema, or two parts have the same identifier.
    pub(super) fn add(&mut self, document: &Value, place: &Reference) -> Result<Value, Fault> {
        let draft = Draft::of(document)?;
        let changed = self.scan(document, place, draft)?;
        let document = changed.unwrap_or_else(|| document.clone());
        self.documents
            .insert(place.text(), (document.clone(), draft));
        Ok(document)
    }

    /// Returns the part that a reference resolves to.
    ///
    /// # Errors
    /// When the part does not exist.
    pub(super) fn get(&mut self, reference: &Reference) -> Result<Document, Fault> {
        if let Some(document) = self.documents.get(&reference.text()) {
            return Ok(document.clone());
        }
        let place = reference.without_fragment();
        let name = place.text();
        if !self.documents.contains_key(&name) {
            self.fetch(reference, &place)?;
        }
        let Some((document, draft)) = self.documents.get(&name) else {
            return invalid_schema(format!("Reference {name} must be canonical"));
        };
        Ok((part(document, reference)?.clone(), *draft))
    }

    /// Adds the meta-schema of a draft. No other document is fetched.
    fn fetch(&mut self, reference: &Reference, place: &Reference) -> Result<(), Fault> {
        let text = reference.text();
        if !reference.is_canonical() {
            return invalid_schema(format!("Reference {text} must be canonical"));
        }
        let known = text_of(&place.text()).and_then(|known| from_json(known.as_bytes()).ok());
        match known {
            Some(document) => self.add(&document, place).map(drop),
            None => invalid_schema(format!("remote reference loading disabled: {text}")),
        }
    }

    /// Records the identifiers in a part of a document and resolves its references. Returns the new
    /// part, if it changes.
    fn scan(
        &mut self,
        part: &Value,
        base: &Reference,
        draft: Option<Draft>,
    ) -> Result<Option<Value>, Fault> {
        self.call.check()?;
        stacker::maybe_grow(64 << 10, 1 << 20, || match part {
            Value::Array(items) => {
                let mut changed = None;
                for (at, item) in items.iter().enumerate() {
                    if let Some(item) = self.scan(item, base, draft)? {
                        let array = changed.get_or_insert_with(|| items.clone());
                        if let Some(place) = array.get_mut(at) {
                            *place = item;
                        }
                    }
                }
                Ok(changed.map(Value::Array))
            }
            Value::Object(members) => self.scan_object(members, base, draft),
            _ => Ok(None),
        })
    }

    fn scan_object(
        &mut self,
        members: &Object,
        base: &Reference,
        draft: Option<Draft>,
    ) -> Result<Option<Value>, Fault> {
        let reference = |name| {
            let text = members.get(name).and_then(Value::as_str);
            text.and_then(|text| Reference::parse(text).ok())
        };
        let own = match members.contains_key("id") {
            true => reference("id"),
            false => reference("$id"),
        };
        let own = own.map(|own| base.resolve(&own));
        let identifier = own.as_ref().map(Reference::text);
        if let Some(identifier) = &identifier {
            if self.documents.contains_key(identifier) {
                return invalid_schema(format!("Reference already exists: \"{identifier}\""));
            }
            self.documents
                .insert(identifier.clone(), (Value::Null, draft));
        }
        let base = own.as_ref().unwrap_or(base);
        let mut changed: Option<Object> = None;
        if let Some(target) = reference("$ref") {
            let target = Value::from(base.resolve(&target).text());
            changed
                .get_or_insert_with(|| members.clone())
                .insert("$ref", target);
        }
        for (name, member) in members.iter() {
            if let Some(member) = self.scan_member(name, member, base, draft)? {
                changed
                    .get_or_insert_with(|| members.clone())
                    .insert(name.clone(), member);
            }
        }
        if let Some(identifier) = identifier {
            let document = changed.clone().unwrap_or_else(|| members.clone());
            self.documents
                .insert(identifier, (Value::Object(document), draft));
        }
        Ok(changed.map(Value::Object))
    }

    fn scan_member(
        &mut self,
        name: &Value,
        member: &Value,
        base: &Reference,
        draft: Option<Draft>,
    ) -> Result<Option<Value>, Fault> {
        let name = name.as_str().unwrap_or_default();
        if LITERAL.contains(&name) {
            return Ok(None);
        }
        if !NAMED.contains(&name) {
            return self.scan(member, base, draft);
        }
        let Value::Object(named) = member else {
            return Ok(None);
        };
        let mut changed: Option<Object> = None;
        for (name, part) in named.iter() {
            if let Some(part) = self.scan(part, base, draft)? {
                changed
                    .get_or_insert_with(|| named.clone())
                    .insert(name.clone(), part);
            }
        }
        Ok(changed.map(Value::Object))
    }
}

/// Returns the part of a document that a pointer refers to.
fn part<'v>(document: &'v Value, reference: &Reference) -> Result<&'v Value, Fault> {
    reference.pointer().try_fold(document, |part, token| {
        let missing = match part {
            Value::Object(members) => {
                let name = token.replace("~1", "/").replace("~0", "~");
                match members.get(&name) {
                    Some(member) => return Ok(member),
                    None => format!("Object has no key '{name}'"),
                }
            }
            Value::Array(items) => match token.parse::<i64>() {
                Err(_) => format!("Invalid array index '{token}'"),
                Ok(at) => match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                    Some(item) => return Ok(item),
                    None => format!("Out of bound array[0,{}] index '{at}'", items.len()),
                },
            },
            _ => format!("Invalid token reference '{token}'"),
        };
        invalid_schema(missing)
    })
}

/// Failure of a schema that takes too much memory.
pub(super) fn too_large() -> Failure {
    Failure::Halt("the JSON schema is too large".to_owned())
}
