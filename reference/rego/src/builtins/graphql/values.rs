//! Validates values against their expected types.

use std::collections::BTreeSet;

use super::ast::{Definition, Type, Value, kind};
use super::definitions::is_compatible;
use super::suggest;
use super::walk::Walk;

/// Expected type of a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Expected<'t> {
    pub(super) kind: Option<&'t Type>,
    pub(super) definition: Option<&'t Definition>,
    /// Whether a default applies when no value is given.
    pub(super) has_default: bool,
}

impl<'d> Walk<'d> {
    /// Validates a value and its nested values.
    pub(super) fn value(&mut self, value: &'d Value, expected: Expected<'d>) {
        let types = self.types;
        for child in &value.children {
            let inner = match (value.kind, expected.definition) {
                (kind::OBJECT, Some(definition)) => {
                    let field = types.field(definition, &child.name);
                    field.map(|field| Expected {
                        kind: Some(&field.kind),
                        definition: types.get(field.kind.name()),
                        has_default: is_set(field.default_value.as_ref()),
                    })
                }
                (kind::LIST, definition) => {
                    let elem = expected.kind.and_then(|kind| kind.elem.as_deref());
                    elem.map(|elem| Expected {
                        kind: Some(elem),
                        definition,
                        has_default: false,
                    })
                }
                _ => None,
            };
            self.value(&child.value, inner.unwrap_or_default());
        }
        if value.kind == kind::VARIABLE {
            self.variable(value, expected);
        }
        if value.kind == kind::OBJECT {
            let mut seen = BTreeSet::new();
            for child in &value.children {
                if !seen.insert(&child.name) {
                    let name = &child.name;
                    self.report(
                        child.position,
                        format!("There can be only one input field named \"{name}\"."),
                    );
                }
            }
        }
        if let (Some(kind), Some(definition)) = (expected.kind, expected.definition) {
            self.check_kind(value, kind, definition);
        }
    }

    fn variable(&mut self, value: &'d Value, expected: Expected<'d>) {
        let Some(operation) = self.operation else {
            return;
        };
        let mut definitions = operation.variable_definitions.iter();
        let Some(variable) = definitions.find(|one| one.variable == value.raw) else {
            let name = &value.raw;
            let message = match operation.name.is_empty() {
                true => format!("Variable \"${name}\" is not defined."),
                false => format!(
                    "Variable \"${name}\" is not defined by operation \"{}\".",
                    operation.name
                ),
            };
            return self.report(value.position, message);
        };
        self.used.insert(&value.raw);
        let Some(kind) = expected.kind else {
            return;
        };
        let mut required = kind.clone();
        if is_set(variable.default_value.as_ref()) || expected.has_default {
            required.non_null = false;
        }
        if !is_compatible(&variable.kind, &required) {
            self.report(
                value.position,
                format!(
                    "Variable \"${}\" of type \"{}\" used in position expecting type \"{kind}\".",
                    value.raw, variable.kind
                ),
            );
        }
    }

    fn check_kind(&mut self, value: &'d Value, expected: &Type, definition: &'d Definition) {
        if value.kind == kind::NULL {
            if expected.non_null {
                let message = format!("Expected value of type \"{expected}\", found null.");
                self.report(value.position, message);
            }
            return;
        }
        let name = definition.name.as_str();
        let standard = ["Int", "Float", "String", "Boolean", "ID"];
        if definition.kind == "SCALAR" && !standard.contains(&name) {
            return;
        }
        let allowed: &[&str] = match value.kind {
            kind::VARIABLE => return,
            kind::LIST => {
                if expected.elem.is_none() {
                    self.unexpected(value, expected, definition);
                }
                return;
            }
            kind::OBJECT => return self.object(value, definition),
            kind::STRING | kind::BLOCK | kind::ENUM if definition.kind == "ENUM" => {
                return self.enumerated(value, expected, definition);
            }
            kind::INT => &["Int", "Float", "ID"],
            kind::FLOAT => &["Float"],
            kind::STRING | kind::BLOCK => &["String", "ID"],
            kind::BOOLEAN => &["Boolean"],
            _ => &[],
        };
        if !allowed.contains(&name) {
            self.unexpected(value, expected, definition);
        }
    }

    fn enumerated(&mut self, value: &'d Value, expected: &Type, definition: &'d Definition) {
        let names = definition
            .enum_values
            .iter()
            .map(|value| value.name.as_str());
        let message = match value.kind {
            kind::ENUM if names.clone().any(|name| name == value.raw) => return,
            kind::ENUM => {
                format!(
                    "Value \"{}\" does not exist in \"{expected}\" enum.",
                    value.raw
                )
            }
            _ => format!(
                "Enum \"{expected}\" cannot represent non-enum value: {}.",
                format_value(value)
            ),
        };
        let suggestion = suggest::suggestion(&value.raw, names, "Did you mean the enum value");
        self.report(value.position, message + &suggestion);
    }

    fn object(&mut self, value: &'d Value, definition: &'d Definition) {
        let name = &definition.name;
        let present: BTreeSet<&str> = value
            .children
            .iter()
            .map(|child| child.name.as_str())
            .collect();
        for field in &definition.fields {
            let needed = field.kind.non_null && field.default_value.is_none();
            if needed && !present.contains(field.name.as_str()) {
                self.report(
                    value.position,
                    format!(
                        "Field \"{name}.{}\" of required type \"{}\" was not provided.",
                        field.name, field.kind
                    ),
                );
            }
        }
        if definition
            .directives
            .iter()
            .any(|directive| directive.name == "oneOf")
        {
            match value.children.as_slice() {
                [only] if only.value.kind == kind::NULL => {
                    let first = definition.fields.first().map_or("", |field| &field.name);
                    let message = format!("Field \"{name}.{first}\" must be non-null.");
                    self.report(only.value.position, message);
                }
                [only] => self.one_of(&only.value, name),
                _ => self.report(
                    value.position,
                    format!("OneOf Input Object \"{name}\" must specify exactly one key."),
                ),
            }
        }
        for child in &value.children {
            if self.types.field(definition, &child.name).is_none() {
                let names = definition.fields.iter().map(|field| field.name.as_str());
                let suggestion = suggest::suggestion(&child.name, names, "Did you mean");
                self.report(
                    child.position,
                    format!(
                        "Field \"{}\" is not defined by type \"{name}\".{suggestion}",
                        child.name
                    ),
                );
            }
        }
    }

    /// Requires that a variable as the only member of a `@oneOf` input object is non-nullable.
    fn one_of(&mut self, value: &'d Value, object: &str) {
        let definitions = self
            .operation
            .iter()
            .flat_map(|one| &one.variable_definitions);
        let mut definitions = definitions.filter(|one| one.variable == value.raw);
        let variable = definitions.next().filter(|_| value.kind == kind::VARIABLE);
        let Some(variable) = variable.filter(|variable| !variable.kind.non_null) else {
            return;
        };
        self.report(
            variable.position,
            format!(
                "Variable \"${}\" is of type \"{}\" but must be non-nullable to be used for OneOf Input Object \"{object}\".",
                value.raw, variable.kind
            ),
        );
    }

    fn unexpected(&mut self, value: &Value, expected: &Type, definition: &Definition) {
        let rendered = format_value(value);
        let message = match expected.to_string().as_str() {
            "Int" | "Int!" => match value.raw.parse::<i128>() {
                Ok(number) if i32::try_from(number).is_err() => {
                    format!("Int cannot represent non 32-bit signed integer value: {rendered}")
                }
                _ => format!("Int cannot represent non-integer value: {rendered}"),
            },
            "String" | "String!" | "[String]" => {
                format!("String cannot represent a non string value: {rendered}")
            }
            "Boolean" | "Boolean!" => {
                format!("Boolean cannot represent a non boolean value: {rendered}")
            }
            "Float" | "Float!" => format!("Float cannot represent non numeric value: {rendered}"),
            "ID" | "ID!" => {
                format!("ID cannot represent a non-string and non-integer value: {rendered}")
            }
            other if definition.kind == "ENUM" => {
                format!("Enum \"{other}\" cannot represent non-enum value: {rendered}.")
            }
            other => format!("Expected value of type \"{other}\", found {rendered}."),
        };
        self.report(value.position, message);
    }
}

/// Whether a default is present and not null.
fn is_set(default: Option<&Value>) -> bool {
    default.is_some_and(|default| default.kind != kind::NULL)
}

/// Formats a value for messages.
pub(super) fn format_value(value: &Value) -> String {
    match value.kind {
        kind::VARIABLE => format!("${}", value.raw),
        kind::STRING | kind::BLOCK => crate::builtins::url::quote(&value.raw),
        kind::LIST => {
            let items = value
                .children
                .iter()
                .map(|child| format_value(&child.value));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        kind::OBJECT => {
            let members = value.children.iter();
            let members =
                members.map(|child| format!("{}:{}", child.name, format_value(&child.value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        _ => value.raw.clone(),
    }
}
