//! Types of a schema, with the standard definitions.

use super::ast::{Schema, SchemaDefinition};
use super::error::{GraphqlError, Result};
use super::types::{PRELUDE, Types};
use super::{definitions, schema};

impl Types {
    /// Merges a document with the standard definitions, and validates the result.
    pub(super) fn of(document: Schema) -> Result<Self> {
        let mut schema_document = schema::parse(PRELUDE)?;
        for definition in &mut schema_document.definitions {
            definition.built_in = true;
        }
        schema_document.definitions.extend(document.definitions);
        schema_document.directives.extend(document.directives);
        let mut types = Self::default();
        types.define(schema_document.definitions)?;
        types.extend(document.extensions)?;
        types.find_possible();
        types.find_fields();
        types.define_directives(schema_document.directives)?;
        if let [_, second, ..] = document.schema.as_slice() {
            return Err(GraphqlError::at(
                second.position,
                "Cannot have multiple schema entry points, consider schema extensions instead.",
            ));
        }
        for part in document.schema.iter().chain(&document.schema_extension) {
            types.take_roots(part)?;
        }
        definitions::check(&types)?;
        if document.schema.is_empty() {
            for (operation, name) in [
                ("query", "Query"),
                ("mutation", "Mutation"),
                ("subscription", "Subscription"),
            ] {
                if types.types.contains_key(name) && !types.roots.contains_key(operation) {
                    types.roots.insert(operation.to_owned(), name.to_owned());
                }
            }
        }
        types.add_introspection();
        types.find_fields();
        Ok(types)
    }

    fn take_roots(&mut self, part: &SchemaDefinition) -> Result<()> {
        for root in &part.operation_types {
            if !self.types.contains_key(&root.kind) {
                return Err(GraphqlError::at(
                    root.position,
                    format!(
                        "Schema root {} refers to a type {} that does not exist.",
                        root.operation, root.kind
                    ),
                ));
            }
            self.roots.insert(root.operation.clone(), root.kind.clone());
        }
        definitions::check_directives(self, &part.directives, "SCHEMA", None, true)
    }
}
