//! Keywords for strings.

use super::super::Failure;
use super::compile::Compiler;
use super::fault::{Fault, invalid_schema, mistyped};
use super::findings::Findings;
use super::node::Matcher;
use super::path::Path;
use super::read;
use super::validate::Validator;
use crate::Value;
use crate::value::{Object, Text};

/// Keywords for strings.
#[derive(Debug, Default)]
pub(super) struct Strings {
    min_length: Option<usize>,
    max_length: Option<usize>,
    pattern: Option<Matcher>,
}

/// Number of bytes whose characters are counted per unit of the meter.
const COUNTED: usize = 256;

impl Strings {
    pub(super) fn read(compiler: &mut Compiler<'_>, members: &Object) -> Result<Self, Fault> {
        let min_length = read::count(members, "minLength")?;
        let max_length = read::count(members, "maxLength")?;
        if let (Some(min), Some(max)) = (min_length, max_length)
            && min > max
        {
            return invalid_schema("minLength cannot be greater than maxLength");
        }
        let pattern = match members.get("pattern") {
            None => None,
            Some(Value::String(pattern)) => match compiler.matcher(pattern)? {
                None => return invalid_schema("pattern must be a valid regex"),
                pattern => pattern,
            },
            Some(_) => return mistyped("string", "pattern"),
        };
        Ok(Self {
            min_length,
            max_length,
            pattern,
        })
    }

    pub(super) fn is_needed(&self) -> bool {
        self.min_length.is_some() || self.max_length.is_some() || self.pattern.is_some()
    }

    pub(super) fn check(
        &self,
        validator: &Validator<'_>,
        text: &Text,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let call = validator.call;
        let mut length = 0;
        if self.min_length.is_some() || self.max_length.is_some() {
            call.spend(text.len() / COUNTED)?;
            length = text.chars().count();
        }
        if let Some(min) = self.min_length.filter(|min| length < *min) {
            found.add(call, path, "string_gte", || {
                format!("String length must be greater than or equal to {min}")
            })?;
        }
        if let Some(max) = self.max_length.filter(|max| length > *max) {
            found.add(call, path, "string_lte", || {
                format!("String length must be less than or equal to {max}")
            })?;
        }
        if let Some(matcher) = &self.pattern
            && !matcher.pattern.is_match(call, text)?
        {
            found.add(call, path, "pattern", || {
                format!("Does not match pattern '{}'", matcher.text)
            })?;
        }
        Ok(())
    }
}
