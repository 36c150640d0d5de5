//! Replaces calls of `rego.metadata.rule` and `rego.metadata.chain` by constants built from the
//! METADATA blocks that apply to a rule.

use super::names::{Names, equal, expression};
use super::rule_tree::ground_steps;
use super::vars::steps;
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::Value;
use crate::syntax::terms::{constant, dotted, operator};
use crate::syntax::visit::{self, Rewrite, Visit};
use crate::syntax::{
    Annotations, Expr, ExprTerms, Location, Module, Ref, Rule, Term, TermValue, Var,
};

/// Names of the functions that return the blocks from the rule outwards, and the rule's own.
const CHAIN: &str = "rego.metadata.chain";
const RULE: &str = "rego.metadata.rule";

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut rules = std::mem::take(&mut unit.module.rules);
    let mut names = Names::of_module(&mut unit.next_local);
    let places: Vec<_> = rules.iter().map(|rule| rule.location.row).collect();
    for rule in &mut rules {
        let mut next = Some(rule);
        while let Some(rule) = next {
            let around = EnclosingMetadata {
                module: &unit.module,
                places: &places,
                module_set,
            };
            around.rewrite(rule, &mut names);
            next = rule.else_rule.as_deref_mut();
        }
    }
    unit.module.rules = rules;
    Diagnostics::new()
}

/// METADATA blocks that apply to a rule.
struct EnclosingMetadata<'m> {
    module: &'m Module,
    /// Rows on which the module's rules begin.
    places: &'m [u32],
    module_set: &'m ModuleSet,
}

impl EnclosingMetadata<'_> {
    fn rewrite(&self, rule: &mut Rule, names: &mut Names<'_>) {
        let mut calls = Calls::default();
        let mut next = Some(&*rule);
        while let Some(rule) = next {
            visit::rule(rule, &mut calls);
            next = rule.else_rule.as_deref();
        }
        let mut constants = Vec::new();
        let mut replace = Replace::default();
        if let Some(at) = calls.chain {
            let (var, expr) = bind(&self.chain(rule), &at, names);
            replace.chain = Some(var);
            constants.push(expr);
        }
        if let Some(at) = calls.rule {
            let blocks = self.rule_blocks(rule);
            let blocks = blocks
                .last()
                .map_or_else(|| Value::object::<Value>([]), |block| document(block));
            let (var, expr) = bind(&blocks, &at, names);
            replace.rule = Some(var);
            constants.push(expr);
        }
        if constants.is_empty() {
            return;
        }
        visit::rewrite_head(&mut rule.head, &mut replace);
        visit::rewrite_body(&mut rule.body, &mut replace);
        rule.body.splice(..0, constants);
        for (index, expr) in rule.body.iter_mut().enumerate() {
            expr.index = index;
        }
    }

    /// Returns the blocks directly above a rule that apply to it, the nearest first.
    fn rule_blocks(&self, rule: &Rule) -> Vec<&Annotations> {
        let row = rule.location.row;
        let at = self.places.partition_point(|place| *place < row);
        let above = at
            .checked_sub(1)
            .and_then(|before| self.places.get(before))
            .copied();
        let blocks = self.module.annotations.iter().rev().map(|block| &**block);
        let applicable = blocks.filter(|block| {
            let start = block.location.row;
            &*block.scope == "rule" && start < row && above.is_none_or(|above| start >= above)
        });
        if self.places.get(at) == Some(&row) {
            applicable.collect()
        } else {
            Vec::new()
        }
    }

    fn chain(&self, rule: &Rule) -> Value {
        let package = &self.module.package.path;
        let mut path: Ref = package.clone();
        let ground = ground_steps(&rule.head.reference);
        path.extend(
            rule.head
                .reference
                .iter()
                .take(ground)
                .map(|step| match &step.value {
                    TermValue::Var(name) => Term {
                        value: TermValue::String(name.0.clone()),
                        location: step.location.clone(),
                    },
                    _ => step.clone(),
                }),
        );
        let mut links: Vec<Value> = Vec::new();
        for block in self.rule_blocks(rule) {
            links.push(chain_element(&path, Some(block)));
        }
        if links.is_empty() {
            links.push(chain_element(&path, None));
        }
        if let Some(block) = self.module_set.block_of_document(&path) {
            links.push(chain_element(&path, Some(block)));
        }
        if let Some(block) = self.module_set.block_of_package(package, "package") {
            links.push(chain_element(package, Some(block)));
        }
        for end in (1..=package.len()).rev() {
            let outer = package.get(..end).unwrap_or_default();
            if let Some(block) = self.module_set.block_of_package(outer, "subpackages") {
                links.push(chain_element(outer, Some(block)));
            }
        }
        Value::from(links)
    }
}

/// Returns an element of a chain: a block and the path that it applies to.
fn chain_element(path: &[Term], block: Option<&Annotations>) -> Value {
    let path: Vec<_> = steps(path).iter().filter_map(constant).collect();
    let path = ("path", Value::from(path));
    match block {
        Some(block) => Value::object([path, ("annotations", document(block))]),
        None => Value::object([path]),
    }
}

/// Converts a block to a document.
fn document(block: &Annotations) -> Value {
    let mut document = block.value.clone();
    if let Some(members) = document.as_object_mut() {
        members.insert("scope", Value::from(block.scope.clone()));
    }
    document
}

/// Returns a variable and the expression that binds it to a constant.
fn bind(value: &Value, at: &Location, names: &mut Names<'_>) -> (Var, Expr) {
    let var = names.fresh();
    let local = Term {
        value: TermValue::Var(var.clone()),
        location: at.clone(),
    };
    let mut expr = equal(local, term(value, at));
    expr.generated = true;
    (var, expr)
}

/// Converts a value to a term.
fn term(value: &Value, at: &Location) -> Term {
    let items =
        |items: &mut dyn Iterator<Item = &Value>| items.map(|item| term(item, at)).collect();
    let value = match value {
        Value::Null => TermValue::Null,
        Value::Bool(value) => TermValue::Bool(*value),
        Value::Number(number) => TermValue::Number(number.clone()),
        Value::String(text) => TermValue::String(text.as_str().into()),
        Value::Bytes(bytes) => TermValue::Bytes(bytes.clone()),
        Value::Array(array) => TermValue::Array(items(&mut array.iter())),
        Value::Set(set) => TermValue::Set(items(&mut set.iter())),
        Value::Object(object) => {
            let members = object.iter();
            TermValue::Object(
                members
                    .map(|(key, value)| (term(key, at), term(value, at)))
                    .collect(),
            )
        }
    };
    Term {
        value,
        location: at.clone(),
    }
}

/// Finds the first calls of `rego.metadata.chain` and `rego.metadata.rule`.
#[derive(Default)]
struct Calls {
    chain: Option<Location>,
    rule: Option<Location>,
}

impl<'t> Visit<'t> for Calls {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        if is_call(expr, CHAIN) {
            self.chain.get_or_insert_with(|| expr.location.clone());
        } else if is_call(expr, RULE) {
            self.rule.get_or_insert_with(|| expr.location.clone());
        }
        true
    }
}

/// Replaces calls of `rego.metadata.chain` and `rego.metadata.rule` by variables.
#[derive(Default)]
struct Replace {
    chain: Option<Var>,
    rule: Option<Var>,
}

impl Rewrite for Replace {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        let var = if is_call(expr, CHAIN) {
            &self.chain
        } else if is_call(expr, RULE) {
            &self.rule
        } else {
            return true;
        };
        let (Some(var), ExprTerms::Call(call)) = (var, &mut expr.terms) else {
            return true;
        };
        let location = expr.location.clone();
        let constant = Term {
            value: TermValue::Var(var.clone()),
            location: location.clone(),
        };
        let index = expr.index;
        *expr = if call.len() > 1 {
            let mut eq = equal(call.swap_remove(1), constant);
            eq.location = location;
            eq
        } else {
            expression(ExprTerms::Term(Box::new(constant)), location)
        };
        expr.generated = true;
        expr.index = index;
        false
    }
}

fn is_call(expr: &Expr, name: &str) -> bool {
    let ExprTerms::Call(call) = &expr.terms else {
        return false;
    };
    operator(call)
        .and_then(dotted)
        .is_some_and(|called| *called == *name)
}
