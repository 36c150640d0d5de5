//! Types of the variables and documents in scope of an expression.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::body;
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

/// A comprehension is looked at this many times, because what is known of the variables around it
/// can change in between. Then its type stands, so that nesting cannot multiply the work.
const MAX_LOOKS: u8 = 4;

/// What stands for a variable is looked up this many times in what was found.
const MAX_STANDING: usize = 8;

/// The types that hold where an expression stands, inner layers last.
#[derive(Debug)]
pub(crate) struct Scope<'w> {
    pub(super) module_set: &'w ModuleSet,
    /// The types of rules; absent while those are not known yet.
    rules: Option<Arc<TypeNode>>,
    layers: Vec<Layer>,
    /// The names that authors wrote, by the generated variables that took their place.
    written: SourceNames,
    /// The terms for which generated variables stand.
    stands_for: HashMap<Var, Term>,
    /// The comprehensions that were looked at, by the addresses of their bodies.
    known: HashMap<usize, ComprehensionType>,
    /// The state that comes next.
    next: usize,
}

/// What is known of a comprehension.
#[derive(Debug)]
struct ComprehensionType {
    of: Option<Type>,
    /// What its layer was in when that was found.
    state: usize,
    looks: u8,
}

/// A body, or the modifiers of an expression.
#[derive(Debug, Default)]
struct Layer {
    vars: HashMap<Var, Option<Type>>,
    /// The documents that are replaced, `data` and `input` among the first steps.
    replaced: Option<TypeNode>,
    /// A number that no other layer has, and that changes with its variables.
    state: usize,
}

/// Where a reference begins.
pub(super) enum Start {
    /// A variable, or a document whose type is known as a whole.
    Of(Option<Type>),
    /// A place in the tree of documents; the number is that of the next layer to ask.
    TypedRule(Arc<TypeNode>, usize),
    /// Nothing is known of it.
    Nothing,
}

impl<'w> Scope<'w> {
    /// A scope in which nothing is known but built-in functions.
    pub(crate) fn new(module_set: &'w ModuleSet) -> Self {
        Self {
            module_set,
            rules: None,
            layers: vec![Layer::default()],
            written: SourceNames::default(),
            stands_for: HashMap::default(),
            known: HashMap::default(),
            next: 1,
        }
    }

    /// A scope that knows the types of rules, and the names that errors show.
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

    /// Notes which term a generated variable stands for.
    pub(super) fn stand_for(&mut self, expr: &Expr) {
        let ExprTerms::Call(call) = &expr.terms else {
            return;
        };
        if !expr.generated {
            return;
        }
        let (var, term) = match (is_equality(expr), operands(expr), call.split_last()) {
            (true, [var, term], _) => (var, term.clone()),
            // The last operand of a call takes its result.
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
            self.stands_for.insert(var.clone(), term);
        }
    }

    /// A reference as its author wrote it.
    pub(super) fn shown(&self, reference: &Ref) -> Ref {
        let mut shown = reference.clone();
        for (index, step) in shown.iter_mut().enumerate() {
            self.show(step, index == 0, 0);
        }
        shown
    }

    /// Shows the term for which a variable stands; that it is a call is only shown where a
    /// reference begins.
    fn show(&self, term: &mut Term, begins: bool, depth: usize) {
        // What a variable stands for can have such variables in it, a few times.
        if let TermValue::Var(var) = &term.value
            && let Some(other) = self.stands_for.get(var)
            && (begins || !matches!(other.value, TermValue::Call(_)))
            && depth < MAX_STANDING
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

    /// The places that depend on what a reference names, as any values; absent if there are
    /// none. A function that is replaced keeps its own type.
    pub(super) fn dependents(&self, target: &Ref, is_function: bool) -> Option<TypeNode> {
        let mut rules = Vec::new();
        if target.first().is_none_or(|head| !is_var(head, "data")) {
            return None;
        }
        selected(self.module_set.root(), target, &mut rules);
        let mut open: Vec<Path> = rules.iter().map(|rule| rule.path().collect()).collect();
        let mut seen: BTreeSet<Path> = open.iter().cloned().collect();
        let own = data_path(target).filter(|_| is_function);
        let mut tree = TypeNode::default();
        while let Some(path) = open.pop() {
            if own.as_ref() != Some(&path) {
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

    /// Goes into a body.
    fn enter(&mut self) {
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

    /// Leaves a body; what is known of its variables goes.
    pub(super) fn leave(&mut self) {
        self.layers.pop();
    }

    /// Looks at documents that are replaced by modifiers. Variables still belong to the body.
    pub(super) fn replace(&mut self, documents: TypeNode) {
        let state = self.state();
        self.layers.push(Layer {
            replaced: Some(documents),
            state,
            ..Layer::default()
        });
    }

    /// Gives a type to a variable of the innermost body.
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

    /// The type of a variable, if one is known.
    pub(super) fn of_var(&self, var: &Var) -> Option<Type> {
        let layers = self.layers.iter().rev();
        layers
            .filter_map(|layer| layer.vars.get(var))
            .next()
            .cloned()
            .flatten()
    }

    /// The type of a term, as far as it is known.
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
                let known = inside(term).and_then(|body| self.known.get(&address(body)));
                known.and_then(|known| known.of.clone())
            }
            TermValue::Call(_) => None,
        })
    }

    /// Looks at a comprehension, unless what is known of it still holds. It has no type if its
    /// body has mistakes, which are the answer.
    pub(super) fn comprehension(&mut self, term: &Term) -> Vec<LanguageError> {
        let Some(body) = inside(term) else {
            return Vec::new();
        };
        let state = self.layers.last().map(|layer| layer.state);
        let known = self.known.get(&address(body));
        if known.is_some_and(|known| Some(known.state) == state || known.looks >= MAX_LOOKS) {
            return Vec::new();
        }
        let looks = known.map_or(0, |known| known.looks) + 1;
        let (of, found) = self.look(body, |scope, found| {
            let of = found.is_empty().then(|| scope.collected(term)).flatten();
            (of, found)
        });
        let state = state.unwrap_or_default();
        let known = ComprehensionType { of, state, looks };
        self.known.insert(address(body), known);
        found
    }

    /// The type of a comprehension whose body is open.
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

    /// Checks a body in its own layer, and answers before that goes.
    pub(super) fn look<T>(
        &mut self,
        inside: &Body,
        answer: impl FnOnce(&mut Self, Vec<LanguageError>) -> T,
    ) -> T {
        self.enter();
        let found = deep(|| body::check(self, inside));
        let answer = answer(self, found);
        self.leave();
        answer
    }

    /// The type of what a reference names.
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

    /// Where a variable stands in the layers below this number; the rules are the last.
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

    /// The number that stands above all layers.
    pub(super) fn top(&self) -> usize {
        self.layers.len() + 1
    }
}

/// The body of a comprehension.
fn inside(term: &Term) -> Option<&Body> {
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

/// The type of what steps lead to in a rule_tree; absent if the tree does not know.
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

/// The type of what steps lead to in a value.
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
