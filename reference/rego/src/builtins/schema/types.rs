//! `type`.

use super::fault::{Fault, invalid_schema, mistyped};
use crate::Value;
use crate::value::Object;

/// Names of types.
const NAMES: [&str; 7] = [
    "array", "boolean", "integer", "number", "null", "object", "string",
];

/// Types that a schema allows; if the schema names no types, all.
#[derive(Debug, Default)]
pub(super) struct Types {
    /// Names in their original order.
    names: Vec<&'static str>,
}

impl Types {
    pub(super) fn read(members: &Object) -> Result<Self, Fault> {
        let mut types = Self::default();
        let strings = "string/Array Of Strings";
        match members.get("type") {
            None => {}
            Some(Value::String(name)) => types.add(name)?,
            Some(Value::Array(names)) => {
                for name in names.iter() {
                    match name {
                        Value::String(name) => types.add(name)?,
                        _ => return mistyped("type", strings),
                    }
                }
            }
            Some(_) => return mistyped("type", strings),
        }
        Ok(types)
    }

    fn add(&mut self, name: &str) -> Result<(), Fault> {
        let Some(name) = NAMES.iter().find(|known| **known == name) else {
            let all = NAMES.join(" ");
            return invalid_schema(format!(
                "has a primitive type that is NOT VALID -- given: /{name}/ Expected valid values are:[{all}]"
            ));
        };
        if self.names.contains(name) {
            return invalid_schema(format!("{name} type is duplicated"));
        }
        self.names.push(name);
        Ok(())
    }

    /// Whether a value of this type is allowed. Integers are numbers.
    pub(super) fn allow(&self, name: &str) -> bool {
        self.names.is_empty()
            || self.names.contains(&name)
            || (name == "integer" && self.names.contains(&"number"))
    }

    /// Formats the types for messages.
    pub(super) fn to_text(&self) -> String {
        match self.names.as_slice() {
            [only] => (*only).to_owned(),
            several => format!("[{}]", several.join(",")),
        }
    }
}
