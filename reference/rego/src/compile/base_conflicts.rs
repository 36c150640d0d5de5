//! Conflicts between rules and base documents.

use super::Diagnostics;
use super::build::Build;
use super::policy::Policy;
use super::rule_tree::{CompiledRule, Node};
use crate::Value;
use crate::error::{Code, Errors, LanguageError};
use crate::syntax::Rule;
use crate::syntax::terms::Path;

/// Reports changed rules that conflict with base documents at or above their paths.
pub(super) fn changed(build: &Build) -> Diagnostics {
    let Some(documents) = &build.documents else {
        return Diagnostics::new();
    };
    let places = build
        .changed
        .iter()
        .filter_map(|path| Some((path, build.module_set.find(path)?)));
    places
        .filter_map(|(path, node)| conflict(build, path, node, documents))
        .collect()
}

impl Policy {
    /// Checks whether a base document can be written at a path: whether rules define the document
    /// there, above, or one of its members.
    ///
    /// # Errors
    /// One `rego_compile_error` for each conflicting rule, at its location.
    pub fn conflicts(&self, path: &[Value], document: &Value) -> Result<(), Errors> {
        let mut node = self.module_set().root();
        let mut at = Path::new();
        for step in path {
            let Some(child) = node.child(step) else {
                return Ok(());
            };
            at.push(step.clone());
            node = child;
            if at.len() < path.len() && !is_named(step) {
                return Ok(());
            }
            if let (Some(error), true) =
                (error(&at, node, |rule| rule.ast()), at.len() < path.len())
            {
                return Err(Errors(vec![error]));
            }
        }
        let mut found = Diagnostics::new();
        let mut open = vec![(at, node, Some(document))];
        while let Some((at, node, document)) = open.pop() {
            let Some(document) = document else {
                continue;
            };
            if at.last().is_some_and(|step| !is_named(step)) {
                continue;
            }
            if let Some(error) = error(&at, node, |rule| rule.ast()) {
                found.push(error);
                continue;
            }
            for (key, child) in node.children() {
                let member = match document {
                    Value::Object(members) => members.get_value(key),
                    // A value that is not an object conflicts with all rules below.
                    _ if at.is_empty() => None,
                    other => Some(other),
                };
                let mut at = at.clone();
                at.push(key.clone());
                open.push((at, child, member));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        Err(Errors(found))
    }
}

/// Returns the error for a rule at this path that conflicts with a base document there or above.
fn conflict<'b>(
    build: &'b Build,
    path: &[Value],
    node: &'b Node,
    documents: &Value,
) -> Option<LanguageError> {
    if !path.iter().all(is_named) {
        return None;
    }
    let mut document = documents;
    for step in path {
        match document {
            Value::Object(members) => document = members.get_value(step)?,
            _ => break,
        }
    }
    error(path, node, |rule| build.tree(rule))
}

fn is_named(step: &Value) -> bool {
    matches!(step, Value::String(_))
}

fn error<'n>(
    path: &[Value],
    node: &'n Node,
    tree: impl Fn(&'n CompiledRule) -> &'n Rule,
) -> Option<LanguageError> {
    let first = *node.rules.as_ref()?.all().first()?;
    let steps: Vec<_> = path.iter().filter_map(Value::as_str).collect();
    let message = format!("conflicting rule for data path {} found", steps.join("/"));
    Some(LanguageError::at(
        Code::Compile,
        &tree(first).location,
        message,
    ))
}
