//! Keywords that combine subschemas.

use super::super::Failure;
use super::compile::{Compiler, is_schema};
use super::draft::Draft;
use super::fault::{Fault, invalid_schema};
use super::findings::Findings;
use super::node::SubschemaId;
use super::path::Path;
use super::read;
use super::validate::Validator;
use crate::Value;
use crate::value::Object;

/// Keywords that combine subschemas.
#[derive(Debug, Default)]
pub(super) struct Choices {
    one_of: Vec<SubschemaId>,
    any_of: Vec<SubschemaId>,
    all_of: Vec<SubschemaId>,
    not: Option<SubschemaId>,
    condition: Option<SubschemaId>,
    then: Option<SubschemaId>,
    otherwise: Option<SubschemaId>,
}

impl Choices {
    pub(super) fn read(
        compiler: &mut Compiler<'_>,
        members: &Object,
        draft: Draft,
    ) -> Result<Self, Fault> {
        let mut list = |keyword| {
            let mut places = Vec::new();
            if let Some(schemas) = read::array(members, keyword)? {
                for schema in schemas.iter() {
                    places.push(compiler.subschema(schema, draft)?);
                }
            }
            Ok::<_, Fault>(places)
        };
        let (one_of, any_of, all_of) = (list("oneOf")?, list("anyOf")?, list("allOf")?);
        let mut subschema = |keyword, since| match members.get(keyword) {
            Some(schema) if draft >= since => match is_schema(schema) {
                true => Ok(Some(compiler.subschema(schema, draft)?)),
                false => invalid_schema(format!("{keyword} must be of an object")),
            },
            _ => Ok(None),
        };
        Ok(Self {
            one_of,
            any_of,
            all_of,
            not: subschema("not", Draft::Four)?,
            condition: subschema("if", Draft::Seven)?,
            then: subschema("then", Draft::Seven)?,
            otherwise: subschema("else", Draft::Seven)?,
        })
    }

    pub(super) fn is_needed(&self) -> bool {
        let lists = [&self.one_of, &self.any_of, &self.all_of];
        lists.into_iter().any(|list| !list.is_empty())
            || self.not.is_some()
            || self.condition.is_some()
    }

    /// Checks all keywords that combine subschemas, except `if`.
    pub(super) fn check(
        &self,
        validator: &mut Validator<'_>,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        self.check_any(validator, value, path, found)?;
        self.check_one(validator, value, path, found)?;
        self.check_all(validator, value, path, found)?;
        if let Some(place) = self.not {
            let mut findings = Findings::silent();
            validator.check(place, value, path, &mut findings)?;
            if findings.is_valid() {
                found.add(validator.call, path, "number_not", || {
                    "Must not validate the schema (not)".to_owned()
                })?;
            }
        }
        Ok(())
    }

    fn check_any(
        &self,
        validator: &mut Validator<'_>,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let places = &self.any_of;
        let (0, Some(best)) = alternatives(validator, (places, 1), value, path, found)? else {
            return Ok(());
        };
        found.add(validator.call, path, "number_any_of", || {
            "Must validate at least one schema (anyOf)".to_owned()
        })?;
        found.merge(best);
        Ok(())
    }

    fn check_one(
        &self,
        validator: &mut Validator<'_>,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let places = &self.one_of;
        let (valid, best) = alternatives(validator, (places, usize::MAX), value, path, found)?;
        if valid == 1 || places.is_empty() {
            return Ok(());
        }
        found.add(validator.call, path, "number_one_of", || {
            "Must validate one and only one schema (oneOf)".to_owned()
        })?;
        if let (0, Some(best)) = (valid, best) {
            found.merge(best);
        }
        Ok(())
    }

    fn check_all(
        &self,
        validator: &mut Validator<'_>,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let mut are_valid = true;
        for place in &self.all_of {
            let mut findings = found.empty_like();
            validator.check(*place, value, path, &mut findings)?;
            are_valid &= findings.is_valid();
            found.merge(findings);
        }
        if are_valid {
            return Ok(());
        }
        found.add(validator.call, path, "number_all_of", || {
            "Must validate all the schemas (allOf)".to_owned()
        })
    }

    /// Checks the applicable branch of `if`.
    pub(super) fn check_condition(
        &self,
        validator: &mut Validator<'_>,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let Some(condition) = self.condition else {
            return Ok(());
        };
        let mut findings = Findings::silent();
        validator.check(condition, value, path, &mut findings)?;
        let (branch, kind, text) = match findings.is_valid() {
            true => (
                self.then,
                "condition_then",
                "Must validate \"then\" as \"if\" was valid",
            ),
            false => (
                self.otherwise,
                "condition_else",
                "Must validate \"else\" as \"if\" was not valid",
            ),
        };
        let Some(branch) = branch else { return Ok(()) };
        let mut findings = found.empty_like();
        validator.check(branch, value, path, &mut findings)?;
        if findings.is_valid() {
            return Ok(());
        }
        found.add(validator.call, path, kind, || text.to_owned())?;
        found.merge(findings);
        Ok(())
    }
}

/// Counts the subschemas that a value is valid against, up to `enough`, and returns the findings of
/// the best match among the others.
fn alternatives(
    validator: &mut Validator<'_>,
    (places, enough): (&[SubschemaId], usize),
    value: &Value,
    path: &Path<'_>,
    found: &Findings,
) -> Result<(usize, Option<Findings>), Failure> {
    let (mut valid, mut best) = (0, None);
    for place in places {
        let mut findings = found.empty_like();
        validator.check(*place, value, path, &mut findings)?;
        match findings.is_valid() {
            true => valid += 1,
            false => Findings::better(&mut best, findings),
        }
        if valid == enough {
            break;
        }
    }
    Ok((valid, best))
}
