//! Keywords for all values: `const`, `enum` and `format`.

use super::super::{Call, Failure};
use super::draft::Draft;
use super::fault::{Fault, invalid_schema};
use super::findings::Findings;
use super::format::Format;
use super::literal::Literals;
use super::path::Path;
use super::read;
use super::validate::Validator;
use crate::Value;
use crate::hash::HashSet;
use crate::value::Object;

/// Keywords for all values.
#[derive(Debug, Default)]
pub(super) struct Values {
    constant: Option<String>,
    allowed: Option<Allowed>,
    format: Option<Format>,
}

/// Values that `enum` allows.
#[derive(Debug)]
struct Allowed {
    values: HashSet<String>,
    /// The same values, formatted for messages.
    list: String,
}

impl Values {
    pub(super) fn read(
        call: &Call<'_>,
        members: &Object,
        draft: Draft,
        format: &str,
    ) -> Result<Self, Fault> {
        let constant = members.get("const").filter(|_| draft >= Draft::Six);
        let constant = constant.map(|value| literal(call, value)).transpose()?;
        let allowed = read::array(members, "enum")?;
        let allowed = allowed.map(|values| {
            let texts = values.iter().map(|value| literal(call, value));
            let texts: Vec<String> = texts.collect::<Result<_, Fault>>()?;
            let list = texts.join(", ");
            let count = texts.len();
            let values: HashSet<String> = texts.into_iter().collect();
            match values.len() == count {
                true => Ok(Allowed { values, list }),
                false => invalid_schema("enum items must be unique"),
            }
        });
        Ok(Self {
            constant,
            allowed: allowed.transpose()?,
            format: Format::named(format),
        })
    }

    pub(super) fn is_needed(&self) -> bool {
        self.constant.is_some() || self.allowed.is_some() || self.format.is_some()
    }

    pub(super) fn check(
        &self,
        validator: &Validator<'_>,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let call = validator.call;
        if self.constant.is_some() || self.allowed.is_some() {
            let text = Literals::text(call, value)?;
            if let Some(constant) = self.constant.as_ref().filter(|constant| **constant != text) {
                found.add_at(call, path, "const", |field| {
                    format!("{field} does not match: {constant}")
                })?;
            }
            let allowed = self.allowed.as_ref();
            if let Some(allowed) = allowed.filter(|allowed| !allowed.values.contains(&text)) {
                found.add_at(call, path, "enum", |field| {
                    format!("{field} must be one of the following: {}", allowed.list)
                })?;
            }
        }
        if let (Some(format), Value::String(text)) = (self.format, value) {
            call.spend(text.len() / 16)?;
            if !format.matches(text) {
                found.add(call, path, "format", || {
                    format!("Does not match format '{}'", format.name())
                })?;
            }
        }
        Ok(())
    }
}

/// Serializes a value of a schema for comparison.
fn literal(call: &Call<'_>, value: &Value) -> Result<String, Fault> {
    Literals::text(call, value).map_err(|failure| match failure {
        Failure::Value(message) => Fault::Schema(message),
        failure => Fault::Failure(failure),
    })
}
