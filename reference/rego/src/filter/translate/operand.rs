//! Translation of terms.

use std::sync::Arc;

use super::super::Unsupported;
use super::super::condition::{Column, Condition};
use super::{Scope, Translator};
use crate::Value;
use crate::syntax::format::Reference;
use crate::syntax::terms::{constant, data_path, is_var};
use crate::syntax::{Location, Term, TermValue, Var};

/// Translated term.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    /// Column of the row.
    Column(Column),
    /// Known value.
    Constant(Value),
    /// One of several alternatives, at most one of which applies to a row; undefined if none does.
    Choice(Vec<(Operand, Condition)>),
    /// Array with unknown items.
    List(Vec<Operand>),
    /// Unbound variable.
    Free(Var),
}

impl Translator<'_> {
    /// Translates a term; `function` is the name of the function whose operand it is, if any.
    pub(super) fn operand(
        &mut self,
        term: &Term,
        scope: &mut Scope,
        function: Option<&str>,
        location: &Location,
    ) -> Result<Operand, Unsupported> {
        if let Some(value) = constant(term) {
            return match is_utf8(&value) {
                true => Ok(Operand::Constant(value)),
                false => {
                    let message = format!("invalid string {term}: expected UTF-8");
                    Err(Unsupported::at(location, message))
                }
            };
        }
        let refusal = |what: &str| {
            let message = match function {
                Some(function) => format!("{function}: {what}: {term}"),
                None => format!("invalid statement \"{term}\""),
            };
            Unsupported::at(location, message)
        };
        match &term.value {
            TermValue::Var(name) if is_root(name) => Err(refusal("invalid ref operand")),
            TermValue::Var(name) => Ok(follow(name, scope)),
            TermValue::Ref(reference) => self.reference(reference, function, location),
            TermValue::Call(call) => self.deeper(location, |deeper| {
                deeper
                    .value(call, scope, location)?
                    .ok_or_else(|| refusal("nested call operand"))
            }),
            TermValue::Array(items) => self.deeper(location, |deeper| {
                let items = items
                    .iter()
                    .map(|item| deeper.operand(item, scope, function, location));
                Ok(Operand::List(items.collect::<Result<_, _>>()?))
            }),
            _ => Err(refusal("invalid operand")),
        }
    }

    fn reference(
        &mut self,
        reference: &[Term],
        function: Option<&str>,
        location: &Location,
    ) -> Result<Operand, Unsupported> {
        let expression = Reference(reference).to_string();
        if let Some(path) = data_path(reference)
            && let Some(found) = self.rule(&path, location)?
        {
            return Ok(found);
        }
        if let Some(column) = self.column(reference) {
            return Ok(Operand::Column(column));
        }
        let of_data = reference.first().is_some_and(|head| is_var(head, "data"));
        Err(match function {
            Some(function) => Unsupported::at(
                location,
                format!("{function}: invalid ref operand: {expression}"),
            ),
            None if of_data => {
                Unsupported::at(location, format!("invalid data reference \"{expression}\""))
                    .advice(format!("has rule \"{expression}\" an `else`?"))
            }
            None => Unsupported::at(location, format!("invalid statement \"{expression}\""))
                .advice(format!("try `{expression} != false`")),
        })
    }

    /// Returns the column that a reference names.
    fn column(&self, reference: &[Term]) -> Option<Column> {
        let name = |term: &Term| match &term.value {
            TermValue::String(name) => Some(name.clone()),
            _ => None,
        };
        match reference {
            [input, table, column] if is_var(input, "input") => Some(Column {
                table: Some(name(table)?),
                name: name(column)?,
            }),
            [input, column] if is_var(input, "input") => {
                let name: Arc<str> = name(column)?;
                self.short_names
                    .contains(&name)
                    .then_some(Column { table: None, name })
            }
            _ => None,
        }
    }
}

fn is_root(name: &Var) -> bool {
    matches!(&*name.0, "input" | "data")
}

/// Resolves a variable.
fn follow(name: &Var, scope: &Scope) -> Operand {
    let mut name = name;
    // A variable is bound only while it is free, so that there are no cycles.
    while let Some(found) = scope.get(name) {
        match found {
            Operand::Free(next) => name = next,
            found => return found.clone(),
        }
    }
    Operand::Free(name.clone())
}

/// Whether all strings in a value are UTF-8, as those of databases are.
fn is_utf8(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => false,
        Value::Array(items) => items.iter().all(is_utf8),
        Value::Set(members) => members.iter().all(is_utf8),
        Value::Object(members) => members
            .iter()
            .all(|(key, value)| is_utf8(key) && is_utf8(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
