//! Keywords for objects.

use super::super::Failure;
use super::compile::{Compiler, is_schema};
use super::draft::Draft;
use super::fault::{Fault, invalid_schema, mistyped};
use super::findings::Findings;
use super::node::{Additional, Matcher, SubschemaId};
use super::path::Path;
use super::read;
use super::validate::Validator;
use crate::Value;
use crate::hash::HashMap;
use crate::value::{Object, Text};

/// Keywords for objects.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Subschemas by member name.
    properties: HashMap<Text, SubschemaId>,
    /// Subschemas in the order of the member names.
    ordered: Vec<(Text, SubschemaId)>,
    additional: Additional,
    patterns: Vec<(Matcher, SubschemaId)>,
    names: Option<SubschemaId>,
    pub(super) dependencies: HashMap<Text, Dependency>,
    min: Option<usize>,
    max: Option<usize>,
    required: Vec<Text>,
}

/// Dependency: requirements on an object that has a certain member.
#[derive(Debug)]
pub(super) enum Dependency {
    Members(Vec<Text>),
    Schema(SubschemaId),
}

/// Returns the name of a member. JSON documents only have string names.
fn name(key: &Value) -> Text {
    match key {
        Value::String(name) => name.clone(),
        other => Text::from(other.to_string()),
    }
}

/// Returns the value of a keyword that must be an object.
fn object<'v>(members: &'v Object, keyword: &str, wrong_type: &str) -> Result<&'v Object, Fault> {
    static NONE: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);
    match members.get(keyword) {
        None => Ok(&NONE),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => invalid_schema(wrong_type),
    }
}

impl Members {
    /// Reads the keywords whose values contain subschemas.
    pub(super) fn read_subschemas(
        compiler: &mut Compiler<'_>,
        members: &Object,
        draft: Draft,
    ) -> Result<Self, Fault> {
        let mut read = Self::default();
        let properties = object(members, "properties", "Properties must be of type object")?;
        for (key, schema) in properties.iter() {
            let place = compiler.subschema(schema, draft)?;
            read.properties.insert(name(key), place);
            read.ordered.push((name(key), place));
        }
        read.additional = compiler.additional(members, "additionalProperties", draft)?;
        let patterns = object(
            members,
            "patternProperties",
            "Invalid type. Expected: Valid Schema, given: patternProperties",
        )?;
        for (key, schema) in patterns.iter() {
            let pattern = name(key);
            let Some(matcher) = compiler.matcher(&pattern)? else {
                return invalid_schema(format!("Invalid regex pattern '{pattern}'"));
            };
            let place = compiler.subschema(schema, draft)?;
            read.patterns.push((matcher, place));
        }
        if let (Some(names), true) = (members.get("propertyNames"), draft >= Draft::Six) {
            if !is_schema(names) {
                return mistyped("Valid Schema", "patternProperties");
            }
            read.names = Some(compiler.subschema(names, draft)?);
        }
        read.read_dependencies(compiler, members, draft)?;
        Ok(read)
    }

    fn read_dependencies(
        &mut self,
        compiler: &mut Compiler<'_>,
        members: &Object,
        draft: Draft,
    ) -> Result<(), Fault> {
        let mistyped = "Dependency must be of type Schema Or Array Of Strings";
        let dependencies = object(
            members,
            "dependencies",
            "dependencies must be of type object",
        )?;
        for (key, dependency) in dependencies.iter() {
            let dependency = match dependency {
                Value::Array(names) => {
                    let texts = names.iter().map(|name| match name {
                        Value::String(name) => Ok(name.clone()),
                        _ => invalid_schema(mistyped),
                    });
                    Dependency::Members(texts.collect::<Result<_, Fault>>()?)
                }
                schema if is_schema(schema) => {
                    Dependency::Schema(compiler.subschema(schema, draft)?)
                }
                _ => return invalid_schema(mistyped),
            };
            self.dependencies.insert(name(key), dependency);
        }
        Ok(())
    }

    /// Reads `minProperties`, `maxProperties` and `required`.
    pub(super) fn read_counts(&mut self, members: &Object) -> Result<(), Fault> {
        self.min = read::count(members, "minProperties")?;
        self.max = read::count(members, "maxProperties")?;
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            return invalid_schema("minProperties cannot be greater than maxProperties");
        }
        if let Some(required) = read::array(members, "required")? {
            self.required = read::distinct_texts(required, "required")?;
        }
        Ok(())
    }

    pub(super) fn is_needed(&self) -> bool {
        !self.ordered.is_empty()
            || !matches!(self.additional, Additional::Any)
            || !self.patterns.is_empty()
            || self.names.is_some()
            || !self.dependencies.is_empty()
            || self.min.is_some()
            || self.max.is_some()
            || !self.required.is_empty()
    }

    /// Checks all keywords except `properties`.
    pub(super) fn check(
        &self,
        validator: &mut Validator<'_>,
        object: &Object,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let call = validator.call;
        if let Some(min) = self.min.filter(|min| object.len() < *min) {
            found.add(call, path, "array_min_properties", || {
                format!("Must have at least {min} properties")
            })?;
        }
        if let Some(max) = self.max.filter(|max| object.len() > *max) {
            found.add(call, path, "array_max_properties", || {
                format!("Must have at most {max} properties")
            })?;
        }
        for name in &self.required {
            call.check()?;
            match object.contains_key(name) {
                true => found.step(),
                false => found.add(call, path, "required", || format!("{name} is required"))?,
            }
        }
        if !self.patterns.is_empty() || !matches!(self.additional, Additional::Any) {
            for (key, member) in object.iter() {
                let name = key.as_str().unwrap_or_default();
                self.check_unnamed(validator, (name, member), path, found)?;
            }
        }
        if let Some(names) = self.names {
            for key in object.keys() {
                check_name(validator, names, key, path, found)?;
            }
        }
        Ok(())
    }

    /// Checks a member against `patternProperties` or, if no pattern matches,
    /// `additionalProperties`.
    fn check_unnamed(
        &self,
        validator: &mut Validator<'_>,
        (name, member): (&str, &Value),
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let call = validator.call;
        call.check()?;
        let below = Path::Member(path, name);
        let mut is_described = false;
        for (matcher, place) in &self.patterns {
            if matcher.pattern.is_match(call, name)? {
                is_described = true;
                validator.check(*place, member, &below, found)?;
            }
        }
        if is_described {
            found.step();
            return Ok(());
        }
        match self.additional {
            _ if self.properties.contains_key(name) => Ok(()),
            Additional::Any => Ok(()),
            Additional::None => found.add(call, path, "additional_property_not_allowed", || {
                format!("Additional property {name} is not allowed")
            }),
            Additional::By(place) => validator.check(place, member, &below, found),
        }
    }

    /// Checks members against their subschemas in `properties`.
    pub(super) fn check_properties(
        &self,
        validator: &mut Validator<'_>,
        object: &Object,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        for (name, place) in &self.ordered {
            validator.call.check()?;
            if let Some(member) = object.get(name) {
                validator.check(*place, member, &Path::Member(path, name), found)?;
            }
        }
        Ok(())
    }

    /// Checks the dependencies of the members that are present.
    pub(super) fn check_dependencies(
        &self,
        validator: &mut Validator<'_>,
        object: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let Value::Object(members) = object else {
            return Ok(());
        };
        if self.dependencies.is_empty() {
            return Ok(());
        }
        let call = validator.call;
        for key in members.keys() {
            call.check()?;
            match self.dependencies.get(key.as_str().unwrap_or_default()) {
                None => {}
                Some(Dependency::Schema(place)) => {
                    validator.check(*place, object, path, found)?;
                }
                Some(Dependency::Members(needed)) => {
                    for name in needed {
                        call.check()?;
                        if !members.contains_key(name) {
                            let text = || format!("Has a dependency on {name}");
                            found.add(call, path, "missing_dependency", text)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn check_name(
    validator: &mut Validator<'_>,
    place: SubschemaId,
    key: &Value,
    path: &Path<'_>,
    found: &mut Findings,
) -> Result<(), Failure> {
    let mut findings = found.empty_like();
    validator.check(place, key, path, &mut findings)?;
    if findings.is_valid() {
        return Ok(());
    }
    let name = key.as_str().unwrap_or_default();
    found.add(validator.call, path, "invalid_property_name", || {
        format!("Property name of \"{name}\" does not match")
    })?;
    found.merge(findings);
    Ok(())
}
