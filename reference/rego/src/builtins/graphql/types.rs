//! Types of a schema, built from its document.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{ArgumentDefinition, Definition, DirectiveDefinition, FieldDefinition, Type};
use super::error::{GraphqlError, Result};
use crate::builtins::Prepared;

pub(super) const PRELUDE: &str = include_str!("prelude.graphql");

/// Directives that a schema may redefine.
const STANDARD: [&str; 6] = [
    "include",
    "skip",
    "deprecated",
    "specifiedBy",
    "defer",
    "oneOf",
];

impl Prepared for Types {}

#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) types: BTreeMap<String, Definition>,
    pub(super) directives: BTreeMap<String, DirectiveDefinition>,
    /// Possible object types of each abstract type, by its name.
    possible: BTreeMap<String, BTreeSet<String>>,
    /// Indexes of the fields of each type, by the names of the type and the field.
    fields: BTreeMap<String, BTreeMap<String, usize>>,
    /// Names of the root types, by operation, such as `query`.
    pub(super) roots: BTreeMap<String, String>,
}

impl Types {
    pub(super) fn define(&mut self, definitions: Vec<Definition>) -> Result<()> {
        for definition in definitions {
            if self.types.contains_key(&definition.name) {
                let message = format!("Cannot redeclare type {}.", definition.name);
                return Err(GraphqlError::at(definition.position, message));
            }
            self.types.insert(definition.name.clone(), definition);
        }
        Ok(())
    }

    pub(super) fn extend(&mut self, extensions: Vec<Definition>) -> Result<()> {
        for extension in extensions {
            let base = self.types.entry(extension.name.clone());
            let base = base.or_insert_with(|| Definition {
                kind: extension.kind.clone(),
                name: extension.name.clone(),
                position: extension.position,
                ..Definition::default()
            });
            if base.kind != extension.kind {
                return Err(GraphqlError::at(
                    extension.position,
                    format!(
                        "Cannot extend type {} because the base type is a {}, not {}.",
                        extension.name, base.kind, extension.kind
                    ),
                ));
            }
            base.directives.extend(extension.directives);
            base.interfaces.extend(extension.interfaces);
            base.fields.extend(extension.fields);
            base.types.extend(extension.types);
            base.type_positions.extend(extension.type_positions);
            base.enum_values.extend(extension.enum_values);
        }
        Ok(())
    }

    pub(super) fn find_possible(&mut self) {
        let mut possible: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for definition in self.types.values() {
            let name = &definition.name;
            let mut add = |of: &String, one: &String| {
                possible.entry(of.clone()).or_default().insert(one.clone());
            };
            definition.types.iter().for_each(|member| add(name, member));
            definition.interfaces.iter().for_each(|of| add(of, name));
            if matches!(definition.kind.as_str(), "OBJECT" | "INPUT_OBJECT") {
                add(name, name);
            }
        }
        self.possible = possible;
    }

    pub(super) fn find_fields(&mut self) {
        let types = self.types.iter();
        let fields = types.map(|(name, definition)| {
            // Of fields with the same name, the first one counts.
            let fields = definition.fields.iter().enumerate().rev();
            let fields = fields.map(|(at, field)| (field.name.clone(), at));
            (name.clone(), fields.collect())
        });
        self.fields = fields.collect();
    }

    /// Returns the field of this name.
    pub(super) fn field<'t>(
        &self,
        definition: &'t Definition,
        name: &str,
    ) -> Option<&'t FieldDefinition> {
        definition
            .fields
            .get(*self.fields.get(&definition.name)?.get(name)?)
    }

    pub(super) fn define_directives(&mut self, directives: Vec<DirectiveDefinition>) -> Result<()> {
        for directive in directives {
            let name = directive.name.as_str();
            if self.directives.contains_key(name) && !STANDARD.contains(&name) {
                let message = format!("Cannot redeclare directive {name}.");
                return Err(GraphqlError::at(directive.position, message));
            }
            self.directives.insert(directive.name.clone(), directive);
        }
        Ok(())
    }

    /// Adds the introspection fields.
    pub(super) fn add_introspection(&mut self) {
        let named = |name: &str, non_null| Type {
            named_type: name.to_owned(),
            non_null,
            ..Type::default()
        };
        let root = self.roots.get("query").cloned().unwrap_or_default();
        let Some(query) = self.types.get_mut(&root) else {
            return;
        };
        query.fields.push(FieldDefinition {
            name: "__schema".to_owned(),
            kind: named("__Schema", true),
            ..FieldDefinition::default()
        });
        query.fields.push(FieldDefinition {
            name: "__type".to_owned(),
            kind: named("__Type", false),
            arguments: vec![ArgumentDefinition {
                name: "name".to_owned(),
                kind: named("String", true),
                ..ArgumentDefinition::default()
            }],
            ..FieldDefinition::default()
        });
    }

    /// Returns the type of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Definition> {
        self.types.get(name)
    }

    /// Returns the names of the possible object types of a type.
    pub(super) fn possible<'t>(&'t self, definition: &'t Definition) -> BTreeSet<&'t str> {
        if definition.kind == "OBJECT" {
            return BTreeSet::from([definition.name.as_str()]);
        }
        let possible = self.possible.get(&definition.name);
        possible.into_iter().flatten().map(String::as_str).collect()
    }

    /// Returns the root type of an operation.
    pub(super) fn root(&self, operation: &str) -> Option<&Definition> {
        let operation = if operation.is_empty() {
            "query"
        } else {
            operation
        };
        self.get(self.roots.get(operation)?)
    }
}
