//! Keywords for arrays.

use super::super::Failure;
use super::compile::{Compiler, is_schema};
use super::draft::Draft;
use super::fault::{Fault, invalid_schema, mistyped};
use super::findings::Findings;
use super::literal::Literals;
use super::node::{Additional, SubschemaId};
use super::path::Path;
use super::read;
use super::validate::Validator;
use crate::Value;
use crate::hash::HashMap;
use crate::value::{Array, Object};

/// Keywords for arrays.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Subschema of all items.
    each: Option<SubschemaId>,
    /// Subschemas of the first items.
    first: Vec<SubschemaId>,
    additional: Additional,
    min: Option<usize>,
    max: Option<usize>,
    are_unique: bool,
    contains: Option<SubschemaId>,
}

impl Items {
    /// Reads the keywords whose values are subschemas, except `contains`.
    pub(super) fn read_subschemas(
        compiler: &mut Compiler<'_>,
        members: &Object,
        draft: Draft,
    ) -> Result<Self, Fault> {
        let mut read = Self::default();
        let schemas = "Valid Schema/Array Of Schemas";
        match members.get("items") {
            None => {}
            Some(Value::Array(items)) => {
                for schema in items.iter() {
                    if !is_schema(schema) {
                        return mistyped(schemas, "items");
                    }
                    read.first.push(compiler.subschema(schema, draft)?);
                }
            }
            Some(schema) if is_schema(schema) => {
                read.each = Some(compiler.subschema(schema, draft)?);
            }
            Some(_) => return mistyped(schemas, "items"),
        }
        read.additional = compiler.additional(members, "additionalItems", draft)?;
        Ok(read)
    }

    /// Reads `minItems`, `maxItems`, `uniqueItems` and `contains`.
    pub(super) fn read_counts(
        &mut self,
        compiler: &mut Compiler<'_>,
        members: &Object,
        draft: Draft,
    ) -> Result<(), Fault> {
        self.min = read::count(members, "minItems")?;
        self.max = read::count(members, "maxItems")?;
        self.are_unique = match members.get("uniqueItems") {
            None => false,
            Some(Value::Bool(are_unique)) => *are_unique,
            Some(_) => return invalid_schema("uniqueItems must be of a boolean"),
        };
        if let (Some(schema), true) = (members.get("contains"), draft >= Draft::Six) {
            self.contains = Some(compiler.subschema(schema, draft)?);
        }
        Ok(())
    }

    pub(super) fn is_needed(&self) -> bool {
        self.each.is_some()
            || !self.first.is_empty()
            || self.min.is_some()
            || self.max.is_some()
            || self.are_unique
            || self.contains.is_some()
    }

    pub(super) fn check(
        &self,
        validator: &mut Validator<'_>,
        array: &Array,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        self.check_items(validator, array, path, found)?;
        let call = validator.call;
        if let Some(min) = self.min.filter(|min| array.len() < *min) {
            found.add(call, path, "array_min_items", || {
                format!("Array must have at least {min} items")
            })?;
        }
        if let Some(max) = self.max.filter(|max| array.len() > *max) {
            found.add(call, path, "array_max_items", || {
                format!("Array must have at most {max} items")
            })?;
        }
        if self.are_unique {
            check_unique(validator, array, path, found)?;
        }
        match self.contains {
            Some(place) => check_contains(validator, place, array, path, found),
            None => Ok(()),
        }
    }

    fn check_items(
        &self,
        validator: &mut Validator<'_>,
        array: &Array,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        if let Some(place) = self.each {
            for (at, item) in array.iter().enumerate() {
                validator.check(place, item, &Path::Item(path, at), found)?;
            }
            return Ok(());
        }
        if self.first.is_empty() {
            return Ok(());
        }
        for (at, (place, item)) in self.first.iter().zip(array.iter()).enumerate() {
            validator.check(*place, item, &Path::Item(path, at), found)?;
        }
        match self.additional {
            Additional::None if array.len() > self.first.len() => {
                let text = || "No additional items allowed on array".to_owned();
                found.add(validator.call, path, "array_no_additional_items", text)
            }
            Additional::By(place) => {
                for (at, item) in array.iter().enumerate().skip(self.first.len()) {
                    validator.check(place, item, &Path::Item(path, at), found)?;
                }
                Ok(())
            }
            Additional::None | Additional::Any => Ok(()),
        }
    }
}

/// Reports each item that equals an earlier one, with the index of the last earlier one.
fn check_unique(
    validator: &Validator<'_>,
    array: &Array,
    path: &Path<'_>,
    found: &mut Findings,
) -> Result<(), Failure> {
    let call = validator.call;
    let mut seen: HashMap<String, usize> = HashMap::default();
    for (at, item) in array.iter().enumerate() {
        call.make(2)?;
        let text = Literals::text(call, item)?;
        if let Some(before) = seen.insert(text, at) {
            found.add(call, path, "unique", || {
                format!("array items[{before},{at}] must be unique")
            })?;
        }
    }
    Ok(())
}

fn check_contains(
    validator: &mut Validator<'_>,
    place: SubschemaId,
    array: &Array,
    path: &Path<'_>,
    found: &mut Findings,
) -> Result<(), Failure> {
    let mut best = None;
    for (at, item) in array.iter().enumerate() {
        let mut findings = found.empty_like();
        validator.check(place, item, &Path::Item(path, at), &mut findings)?;
        if findings.is_valid() {
            return Ok(());
        }
        Findings::better(&mut best, findings);
    }
    let text = || "At least one of the items must match".to_owned();
    found.add(validator.call, path, "contains", text)?;
    if let Some(best) = best {
        found.merge(best);
    }
    Ok(())
}
