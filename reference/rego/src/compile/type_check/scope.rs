//! Types of the variables and documents in scope of an expression.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::environment::TypeNode;
use crate::Value;
use crate::compile::equals;
use crate::compile::graph::selected;
use crate::compile::module_set::ModuleSet;
use crate::compile::rule_tree::SourceNames;
use crate::error::LanguageError;
use crate::hash::HashMap;
use crate::syntax::terms::{
    Path, constant, data_path, dotted, is_equality, is_var, operands, rename,
};
use crate::syntax::visit::deep;
use crate::syntax::{Body, Expr, ExprTerms, Ref, Term, TermValue, Var};
use crate::types::Type;
use crate::types::signature;

/// Maximum number of times that a comprehension is checked, as the types of the variables around it
/// can change in between. After that its type is fixed, so that nesting cannot multiply the work.
const MAX_CHECKS: u8 = 4;

/// Maximum depth to which generated variables are expanded in messages.
const MAX_EXPANSION_DEPTH: usize = 8;

/// Types in scope of an expression, inner layers last.
#[derive(Debug)]
pub(crate) struct Scope<'w> {
    pub(super) module_set: &'w ModuleSet,
    /// Types of rules; `None` while they are not known yet.
    rules: Option<Arc<TypeNode>>,
    layers: Vec<Layer>,
    /// Source names of variables, by the generated variables that replaced them.
    written: SourceNames,
    /// Terms that generated variables replace.
    replaced_terms: HashMap<Var, Term>,
    /// Checked comprehensions, by the addresses of their bodies.
    known: HashMap<usize, ComprehensionType>,
    /// Number of the next state.
    next: usize,
}

/// Type of a comprehension that was checked.
#[derive(Debug)]
struct ComprehensionType {
    of: Option<Type>,
    /// State of the enclosing layer when the comprehension was checked.
    state: usize,
    checks: u8,
}

/// Types that a body, or the modifiers of an expression, add to the scope.
#[derive(Debug, Default)]
struct Layer {
    vars: HashMap<Var, Option<Type>>,
    /// Replaced documents, with `data` and `input` as first steps.
    replaced: Option<TypeNode>,
    /// Unique number, which changes with the variables of the layer.
    state: usize,
}

/// Resolved head of a reference.
pub(super) enum Start {
    /// A variable, or a document whose type is known as a whole.
    Of(Option<Type>),
    /// Node in the tree of documents, and the number of the next layer to search.
    TypedRule(Arc<TypeNode>, usize),
    /// Nothing is known about the head.
    Nothing,
}

impl<'w> Scope<'w> {
    /// Creates a scope with built-in functions only.
    pub(crate) fn new(module_set: &'w ModuleSet) -> Self {
        Self {
            module_set,
            rules: None,
            layers: vec![Layer::default()],
            written: SourceNames::default(),
            replaced_terms: HashMap::default(),
            known: HashMap::default(),
            next: 1,
        }
    }

    /// Creates a scope with the types of rules, and with source names for errors.
    pub(crate) fn of_rules(
        module_set: &'w ModuleSet,
        rules: &TypeNode,
        written: SourceNames,
    ) -> Self {
        let has_rules = rules.has_children();
        Self {
            rules: has_rules.then(|| Arc::new(rules.clone())),
            written,
            ..Self::new(module_set)
        }
    }

    /// Records the term that a generated variable replaces.
    pub(super) fn record_replaced_term(&mut self, expr: &Expr) {
        let ExprTerms::Call(call) = &expr.terms else {
            return;
        };
        if !expr.generated {
            return;
        }
        let (var, term) = match (is_equality(expr), operands(expr), call.split_last()) {
            (true, [var, term], _) => (var, term.clone()),
            // The last operand of a call receives its result.
            (false, _, Some((var, call))) => {
                let value = TermValue::Call(call.into());
                let location = expr.location.clone();
                (var, Term { value, location })
            }
            _ => return,
        };
        if let TermValue::Var(var) = &var.value
            && !self.written.contains_key(var)
        {
            self.replaced_terms.insert(var.clone(), term);
        }
    }

    /// Returns a reference with source names.
    pub(super) fn with_source_names(&self, reference: &Ref) -> Ref {
        let mut renamed = reference.clone();
        for (index, step) in renamed.iter_mut().enumerate() {
            self.show(step, index == 0, 0);
        }
        renamed
    }

    /// Restores the term that a variable replaces; a call is restored only at the head of a
    /// reference.
    fn show(&self, term: &mut Term, begins: bool, depth: usize) {
        // The restored term can contain such variables, down to a maximum depth.
        if let TermValue::Var(var) = &term.value
            && let Some(other) = self.replaced_terms.get(var)
            && (begins || !matches!(other.value, TermValue::Call(_)))
            && depth < MAX_EXPANSION_DEPTH
        {
            term.value = other.value.clone();
            equals::undo(term);
            if let TermValue::Ref(steps) = &mut term.value {
                for (index, step) in steps.iter_mut().enumerate() {
                    self.show(step, index == 0, depth + 1);
                }
                return;
            }
            if let TermValue::Call(call) = &mut term.value {
                for operand in call.iter_mut().skip(1) {
                    self.show(operand, true, depth + 1);
                }
            }
        }
        rename(term, &|var| self.written.get(var).cloned());
    }

    /// Returns the paths that depend on a reference, with any type; `None` if there are none. A
    /// function that is replaced retains its type.
    pub(super) fn dependents(&self, target: &Ref, is_function: bool) -> Option<TypeNode> {
        let mut rules = Vec::new();
        if target.first().is_none_or(|head| !is_var(head, "data")) {
            return None;
        }
        selected(self.module_set.root(), target, &mut rules);
        let mut open: Vec<Path> = rules.iter().map(|rule| rule.path().collect()).collect();
        let mut seen: BTreeSet<Path> = open.iter().cloned().collect();
        let replaced_path = data_path(target).filter(|_| is_function);
        let mut tree = TypeNode::default();
        while let Some(path) = open.pop() {
            if replaced_path.as_ref() != Some(&path) {
                let root = Value::from("data");
                let from_root: Path = std::iter::once(root).chain(path.iter().cloned()).collect();
                tree.set(&from_root, Some(Type::any()));
            }
            for next in self.module_set.dependents(&path) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        tree.has_children().then_some(tree)
    }

    /// Enters a body.
    pub(super) fn enter(&mut self) {
        let state = self.state();
        self.layers.push(Layer {
            state,
            ..Layer::default()
        });
    }

    fn state(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Leaves a body, and drops the types of its variables.
    pub(super) fn leave(&mut self) {
        self.layers.pop();
    }

    /// Adds a layer of documents that modifiers replace. Variables still belong to the body.
    pub(super) fn replace(&mut self, documents: TypeNode) {
        let state = self.state();
        self.layers.push(Layer {
            replaced: Some(documents),
            state,
            ..Layer::default()
        });
    }

    /// Sets the type of a variable of the innermost body.
    pub(super) fn bind(&mut self, var: &Var, of: Option<Type>) {
        for layer in self.layers.iter_mut().rev() {
            self.next += 1;
            layer.state = self.next;
            if layer.replaced.is_none() {
                layer.vars.insert(var.clone(), of);
                return;
            }
        }
    }

    /// Returns the type of a variable, if it is known.
    pub(super) fn of_var(&self, var: &Var) -> Option<Type> {
        let layers = self.layers.iter().rev();
        layers
            .filter_map(|layer| layer.vars.get(var))
            .next()
            .cloned()
            .flatten()
    }

    /// Returns the type of a term, as far as it is known.
    pub(crate) fn of_term(&mut self, term: &Term) -> Option<Type> {
        deep(|| match &term.value {
            TermValue::Null => Some(Type::Null),
            TermValue::Bool(_) => Some(Type::Boolean),
            TermValue::Number(_) => Some(Type::Number),
            TermValue::String(_) | TermValue::Bytes(_) | TermValue::Template(_) => {
                Some(Type::String)
            }
            TermValue::Var(var) => self.of_var(var),
            TermValue::Ref(reference) => self.of_ref(reference),
            TermValue::Array(items) => {
                let items = items.iter().map(|item| self.of_term(item)).collect();
                Some(Type::array(items, None))
            }
            TermValue::Set(items) => {
                let of: Vec<_> = items.iter().map(|item| self.of_term(item)).collect();
                Some(Type::set(Type::union(of)))
            }
            TermValue::Object(members) => {
                let mut known = Vec::new();
                let mut rest = None;
                for (key, value) in members {
                    let of = self.of_term(value);
                    match constant(key) {
                        Some(key) => known.push((key, of)),
                        None => rest = Some((self.of_term(key), of)),
                    }
                }
                Some(Type::object(known, rest))
            }
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => {
                self.comprehension(term);
                let known =
                    comprehension_body(term).and_then(|body| self.known.get(&address(body)));
                known.and_then(|known| known.of.clone())
            }
            TermValue::Call(_) => None,
        })
    }

    /// Checks a comprehension, unless the last result is still valid. Returns the errors of its
    /// body; with errors it has no type.
    pub(super) fn comprehension(&mut self, term: &Term) -> Vec<LanguageError> {
        let Some(body) = comprehension_body(term) else {
            return Vec::new();
        };
        let state = self.layers.last().map(|layer| layer.state);
        let known = self.known.get(&address(body));
        if known.is_some_and(|known| Some(known.state) == state || known.checks >= MAX_CHECKS) {
            return Vec::new();
        }
        let checks = known.map_or(0, |known| known.checks) + 1;
        let (of, found) = self.check_body(body, |scope, found| {
            let of = found.is_empty().then(|| scope.collected(term)).flatten();
            (of, found)
        });
        let state = state.unwrap_or_default();
        let known = ComprehensionType { of, state, checks };
        self.known.insert(address(body), known);
        found
    }

    /// Returns the type of a comprehension whose body is in scope.
    fn collected(&mut self, term: &Term) -> Option<Type> {
        match &term.value {
            TermValue::ArrayComprehension(of) => {
                let of = self.of_term(&of.term);
                Some(Type::array(Vec::new(), of))
            }
            TermValue::SetComprehension(of) => {
                let of = self.of_term(&of.term);
                Some(Type::set(of))
            }
            TermValue::ObjectComprehension(of) => {
                let rest = (self.of_term(&of.key), self.of_term(&of.value));
                Some(Type::object(Vec::new(), Some(rest)))
            }
            _ => None,
        }
    }

    /// Returns the type of the document that a reference names.
    pub(crate) fn of_ref(&mut self, reference: &Ref) -> Option<Type> {
        let (head, steps) = reference.split_first()?;
        let TermValue::Var(var) = &head.value else {
            return None;
        };
        if let Some(name) = dotted(reference)
            && let Some(signature) = signature(&name)
            && self.of_var(var).is_none()
        {
            return Some(signature.of.clone());
        }
        let mut layer = self.layers.len() + 1;
        loop {
            match self.start(var, layer) {
                Start::Of(of) => return select(of?, steps),
                Start::Nothing => return is_root(var).then(Type::any),
                Start::TypedRule(node, next) => match descend(&node, steps) {
                    Some(of) => return of,
                    None => layer = next,
                },
            }
        }
    }

    /// Resolves a variable in the layers below this number; the rules are the last.
    pub(super) fn start(&self, var: &Var, below: usize) -> Start {
        let key = Value::from(var.0.clone());
        for index in (1..below).rev() {
            let Some(layer) = self.layers.get(index - 1) else {
                continue;
            };
            if let Some(of) = layer.vars.get(var) {
                return Start::Of(of.clone());
            }
            if let Some(node) = layer.replaced.as_ref().and_then(|tree| tree.child(&key)) {
                return Start::TypedRule(node.clone(), index);
            }
        }
        match &self.rules {
            Some(rules) if below > 0 && *var.0 == *"data" => Start::TypedRule(rules.clone(), 0),
            _ => Start::Nothing,
        }
    }

    /// Returns the number above all layers, below which a search covers all of them.
    pub(super) fn top(&self) -> usize {
        self.layers.len() + 1
    }
}

/// Returns the body of a comprehension.
fn comprehension_body(term: &Term) -> Option<&Body> {
    match &term.value {
        TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => Some(&of.body),
        TermValue::ObjectComprehension(of) => Some(&of.body),
        _ => None,
    }
}

fn address(body: &Body) -> usize {
    body.as_ptr().addr()
}

/// Whether a variable is `input` or `data`.
pub(super) fn is_root(var: &Var) -> bool {
    matches!(&*var.0, "input" | "data")
}

/// Returns the type at the end of steps in a type tree; `None` if the tree does not contain it.
fn descend(node: &TypeNode, steps: &[Term]) -> Option<Option<Type>> {
    let mut node = node;
    for (index, step) in steps.iter().enumerate() {
        let child = constant(step).and_then(|key| node.child(&key));
        let rest = steps.get(index..).unwrap_or_default();
        match (child, node.value()) {
            (Some(child), _) => node = child,
            (None, Some(value)) => return Some(select(value.clone(), rest)),
            (None, None) if constant(step).is_none() => {
                return Some(node.extent().and_then(|of| select(of, rest)));
            }
            (None, None) => return None,
        }
    }
    Some(node.extent())
}

/// Returns the type at the end of steps in a value.
fn select(of: Type, steps: &[Term]) -> Option<Type> {
    let mut of = of;
    for step in steps {
        of = match &step.value {
            scalar if scalar.is_scalar() => of.select(&constant(step)?)?,
            TermValue::Var(_)
            | TermValue::Ref(_)
            | TermValue::Array(_)
            | TermValue::Object(_)
            | TermValue::Set(_) => of.values()?,
            _ => return None,
        };
    }
    Some(of)
}
