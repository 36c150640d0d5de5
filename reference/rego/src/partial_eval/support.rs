//! Support modules of a residual: copies of rules that are not inlined, rules for alternatives of
//! which one suffices, and partially known documents.

use std::collections::{BTreeMap, BTreeSet};

use thin_vec::{ThinVec, thin_vec};

use super::rules::extent;
use super::solver::Solver;
use super::terms::{self, term, var};
use super::unknowns::Root;
use super::value_ref::constants;
use crate::Value;
use crate::compile::rule_tree::{CompiledRule, Node};
use crate::eval::{member, stored};
use crate::meter::Meter;
use crate::syntax::terms::is_var;
use crate::syntax::visit::{self, Visit};
use crate::syntax::{
    Body, Expr, Head, Location, Module, Package, Ref, Rule, Term, TermValue, Var, Version,
};

/// Package of the support modules of a residual.
const PACKAGE: &str = "partial";

/// Subpackage of the copies for expressions in which a modifier replaces a partially known input.
const REPLACED: &str = "__replaced__";

/// Support document that residual bodies can refer to.
#[derive(Debug, Clone)]
enum Entry {
    /// Generated rules in the package of support modules.
    Rules(Vec<Rule>),
    /// Copies of the rules at a path.
    Copy(Vec<Value>, bool),
    /// Document at a path without rules, or part of the input.
    Whole(PartialDocument, Vec<Value>, bool),
}

/// Kind of a partially known document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartialDocument {
    /// Document below `data`.
    Document,
    /// Part of the input.
    Input,
    /// Known part of the input.
    Known,
}

/// Documents that a residual may refer to, by their paths below `data`. Only those that it does
/// refer to are emitted.
#[derive(Debug, Default)]
pub(super) struct Supports {
    entries: BTreeMap<Vec<Value>, Entry>,
    documents: BTreeMap<(PartialDocument, Vec<Value>, bool), Vec<Value>>,
    built: BTreeSet<Vec<Value>>,
}

impl Supports {
    /// Adds a body to the support rule of this name; the rule is true if a body of it is satisfied.
    pub(super) fn add(&mut self, name: &str, args: &[Term], body: Body, location: &Location) {
        let head = head(
            thin_vec![var(&Var(name.into()), location)],
            args.into(),
            term(TermValue::Bool(true), location),
            location,
        );
        let path = vec![Value::from(PACKAGE), Value::from(name)];
        let entry = self.entries.entry(path);
        if let Entry::Rules(rules) = entry.or_insert_with(|| Entry::Rules(Vec::new())) {
            rules.push(rule(head, body, location));
        }
    }

    /// Returns the reference to a rule for a reference to its copy.
    pub(super) fn original(&self, reference: &[Term], meter: &Meter) -> Option<ThinVec<Term>> {
        let (head, steps) = reference.split_first()?;
        if !is_var(head, "data")
            || !matches!(&steps.first()?.value, TermValue::String(name) if **name == *PACKAGE)
        {
            return None;
        }
        let path = constants(steps);
        let mut places = (1..=path.len()).rev().filter_map(|end| path.get(..end));
        let (copy, original) = places.find_map(|place| match self.entries.get(place)? {
            Entry::Copy(original, _) => Some((place, original)),
            _ => None,
        })?;
        let location = &head.location;
        let prefix = original
            .iter()
            .map(|step| terms::value(step, location, meter));
        let rest = steps.get(copy.len()..).unwrap_or_default().iter().cloned();
        let steps = prefix.chain(rest);
        Some(std::iter::once(head.clone()).chain(steps).collect())
    }
}

impl<'p> Solver<'p> {
    /// Returns the path of the package below which rules are copied.
    pub(super) fn copies(&self) -> Vec<Value> {
        match self.raw && self.input.is_some() && !self.unknowns.cover(Root::Input, &[]) {
            true => vec![Value::from(PACKAGE), Value::from(REPLACED)],
            false => vec![Value::from(PACKAGE)],
        }
    }

    /// Returns a reference to the copies of the rules at a path.
    pub(super) fn supported(&mut self, path: &[Value], location: &Location) -> Term {
        let mut copy = self.copies();
        copy.extend(path.iter().cloned());
        let steps = copy
            .iter()
            .map(|step| terms::value(step, location, self.meter));
        let reference = terms::reference("data", steps, location);
        let raw = self.raw;
        let entry = || Entry::Copy(path.to_vec(), raw);
        self.supports.entries.entry(copy).or_insert_with(entry);
        reference
    }

    /// Returns a reference to a partially known document.
    pub(super) fn partial_document(
        &mut self,
        kind: PartialDocument,
        path: &[Value],
        location: &Location,
    ) -> Term {
        let key = (kind, path.to_vec(), self.raw);
        let place = match self.supports.documents.get(&key) {
            Some(place) => place.clone(),
            None => {
                let name = format!("__doc{}__", self.bindings.number());
                let place = vec![Value::from(PACKAGE), Value::from(name)];
                let entry = Entry::Whole(kind, path.to_vec(), self.raw);
                self.supports.entries.insert(place.clone(), entry);
                self.supports.documents.insert(key, place.clone());
                place
            }
        };
        let steps = place
            .iter()
            .map(|step| terms::value(step, location, self.meter));
        terms::reference("data", steps, location)
    }

    /// Returns the modules that bodies refer to, directly or through other support modules, in the
    /// order of their packages.
    pub(super) fn modules(&mut self, bodies: &[Body]) -> Vec<Module> {
        if self.supports.entries.is_empty() {
            return Vec::new();
        }
        let mut packages: super::solver::Packages = BTreeMap::new();
        let mut open = Vec::new();
        for body in bodies {
            visit::body(body, &mut DataReferences(&mut open));
        }
        while let Some(path) = open.pop() {
            for length in 1..=path.len() {
                let place = path.get(..length).unwrap_or_default();
                let Some(entry) = self.supports.entries.remove(place) else {
                    continue;
                };
                if !self.supports.built.insert(place.to_vec()) {
                    continue;
                }
                for (package, rule) in self.build_rules(place, entry) {
                    let mut branch = Some(&rule);
                    while let Some(rule) = branch {
                        visit::rule(rule, &mut DataReferences(&mut open));
                        branch = rule.else_rule.as_deref();
                    }
                    packages.entry(package).or_default().push(rule);
                }
            }
        }
        let packages = packages.into_iter();
        packages
            .map(|(path, rules)| module(&path, rules, self.meter))
            .collect()
    }

    /// Creates the rules of an entry, each with its package.
    fn build_rules(&mut self, place: &[Value], entry: Entry) -> Vec<(Vec<Value>, Rule)> {
        let partial = vec![Value::from(PACKAGE)];
        let mark = self.bindings.checkpoint();
        let built = match entry {
            Entry::Rules(rules) => rules
                .into_iter()
                .map(|rule| (partial.clone(), rule))
                .collect(),
            Entry::Copy(path, raw) => {
                self.raw = raw;
                let node = self.policy.module_set().find(&path);
                let set = node.and_then(|node| Some((node, node.rules.as_deref()?)));
                let sets = set.map(|(node, set)| extent(node, set));
                let all = sets.into_iter().flatten().flat_map(|set| set.all());
                all.map(|rule| self.copy(rule)).collect()
            }
            Entry::Whole(kind, path, raw) => {
                self.raw = raw;
                let name = place.last().and_then(Value::as_str).unwrap_or_default();
                let rules = self.members(kind, &path, &Var(name.into()));
                rules
                    .into_iter()
                    .map(|rule| (partial.clone(), rule))
                    .collect()
            }
        };
        self.raw = false;
        self.bindings.undo(mark);
        built
    }

    /// Copies a rule and returns it with its package.
    fn copy(&mut self, rule: &'p CompiledRule) -> (Vec<Value>, Rule) {
        let frame = self.bindings.frame();
        let mut chain = Vec::new();
        let first = &rule.ast().head;
        let mut branch = Some(rule.ast());
        while let Some(ast) = branch {
            for (parameter, other) in first.args.iter().zip(&ast.head.args) {
                if let (TermValue::Var(parameter), TermValue::Var(other)) =
                    (&parameter.value, &other.value)
                    && parameter != other
                {
                    let name = self.bindings.name(frame, parameter);
                    self.bindings.assign_name(frame, other, name);
                }
            }
            chain.push(self.copy_branch(frame, ast));
            branch = ast.else_rule.as_deref();
        }
        let copied = chain.into_iter().rev().reduce(|else_rule, mut rule| {
            rule.else_rule = Some(Box::new(else_rule));
            rule
        });
        let mut package = self.copies();
        let original_package = rule.reference.get(1..rule.package).unwrap_or_default();
        package.extend(constants(original_package));
        (package, copied.unwrap_or_else(|| rule.ast().clone()))
    }

    fn copy_branch(&mut self, frame: usize, ast: &Rule) -> Rule {
        let head = &ast.head;
        let args = head.args.iter().map(|arg| self.preserve_term(frame, arg));
        let args = args.collect();
        let body = self.preserve_body(frame, &ast.body);
        let mut reference: Ref = head.reference.iter().take(1).cloned().collect();
        for step in head.reference.iter().skip(1) {
            reference.push(self.preserve_term(frame, step));
        }
        let key = head.key.as_ref().map(|key| self.preserve_term(frame, key));
        let value = head.value.as_ref();
        let value = value.map(|value| self.preserve_term(frame, value));
        Rule {
            default: ast.default,
            head: Head {
                reference,
                args,
                key,
                value,
                ..head.clone()
            },
            body,
            else_rule: None,
            annotations: Vec::new(),
            location: ast.location.clone(),
        }
    }

    fn input_at(&self, path: &[Value]) -> Option<Value> {
        let input = self.input.as_ref()?;
        let found = path.iter().try_fold(input, |value, key| member(value, key));
        found.cloned()
    }

    /// Returns the rule for a known part of the input.
    fn known(&mut self, path: &[Value], name: &Var) -> Vec<Rule> {
        let location = &terms::nowhere();
        match self.input_at(path) {
            Some(value) => vec![self.untyped(name, terms::value(&value, location, self.meter))],
            None => Vec::new(),
        }
    }

    /// Returns a rule whose value has an unknown type for the type checker, as the input has.
    fn untyped(&mut self, name: &Var, value: Term) -> Rule {
        let location = &terms::nowhere();
        let found = var(&self.bindings.fresh(), location);
        let head = head(
            thin_vec![var(name, location)],
            ThinVec::new(),
            found.clone(),
            location,
        );
        let key = terms::string("value", location);
        let object = term(TermValue::Object(thin_vec![(key.clone(), value)]), location);
        let null = term(TermValue::Null, location);
        let body = thin_vec![terms::call(
            "object.get",
            [object, key, null, found],
            location,
        )];
        rule(head, body, location)
    }

    /// Returns the rules for the members of a document.
    fn members(&mut self, kind: PartialDocument, path: &[Value], name: &Var) -> Vec<Rule> {
        let location = &terms::nowhere();
        if kind == PartialDocument::Known {
            return self.known(path, name);
        }
        let (node, base) = match kind {
            PartialDocument::Document => {
                let node: Option<&'p Node> = self.policy.module_set().find(path);
                let base = path
                    .iter()
                    .try_fold(self.documents, |value, key| stored(value, key));
                (node, base.cloned())
            }
            PartialDocument::Input | PartialDocument::Known => (None, self.input_at(path)),
        };
        let keys = match kind {
            PartialDocument::Document => self.keys(path, node, base.as_ref()),
            PartialDocument::Input | PartialDocument::Known => self.input_keys(path, base.as_ref()),
        };
        let members = Var(name.0.replace("__doc", "__members").into());
        let members_var = var(&members, location);
        let mut rules = Vec::new();
        for key in keys {
            let child = node.and_then(|node| node.child(&key));
            let set = child.and_then(|node| node.rules.as_ref());
            if set.is_some_and(|set| set.arity > 0) {
                continue;
            }
            let steps = path.iter().chain([&key]);
            let steps: Vec<_> = steps
                .map(|step| terms::value(step, location, self.meter))
                .collect();
            let from = match kind {
                PartialDocument::Document => self.preserve_document(&steps, location),
                PartialDocument::Input | PartialDocument::Known => {
                    self.preserve_input(&steps, location)
                }
            };
            let value = var(&self.bindings.fresh(), location);
            let step = terms::value(&key, location, self.meter);
            let mut head = head(
                thin_vec![members_var.clone(), step.clone()],
                ThinVec::new(),
                value.clone(),
                location,
            );
            head.key = Some(step);
            let body = thin_vec![terms::call("eq", [value, from], location)];
            rules.push(rule(head, body, location));
        }
        if rules.is_empty() {
            let empty = term(TermValue::Object(ThinVec::new()), location);
            let head = head(thin_vec![members_var], ThinVec::new(), empty, location);
            let holds = terms::to_expr(term(TermValue::Bool(true), location));
            rules.push(rule(head, thin_vec![holds], location));
        }
        let steps = [PACKAGE, &members.0].map(|step| terms::string(step, location));
        rules.push(self.untyped(name, terms::reference("data", steps, location)));
        rules
    }
}

/// Collects the constant steps of references into `data`.
struct DataReferences<'o>(&'o mut Vec<Vec<Value>>);

impl<'t> Visit<'t> for DataReferences<'_> {
    fn term(&mut self, term: &'t Term) -> bool {
        if let TermValue::Ref(parts) = &term.value
            && let Some((head, steps)) = parts.split_first()
            && is_var(head, "data")
        {
            let path = constants(steps);
            if path.first().and_then(Value::as_str) == Some(PACKAGE) {
                self.0.push(path);
            }
        }
        true
    }
}

fn head(reference: Ref, args: ThinVec<Term>, value: Term, location: &Location) -> Head {
    let name = match reference.first().map(|first| &first.value) {
        Some(TermValue::Var(name)) => Some(name.clone()),
        _ => None,
    };
    Head {
        name,
        reference,
        args,
        key: None,
        value: Some(value),
        assign: true,
        value_generated: false,
        location: location.clone(),
    }
}

fn rule(head: Head, body: ThinVec<Expr>, location: &Location) -> Rule {
    Rule {
        default: false,
        head,
        body,
        else_rule: None,
        annotations: Vec::new(),
        location: location.clone(),
    }
}

fn module(path: &[Value], rules: Vec<Rule>, meter: &Meter) -> Module {
    let location = terms::nowhere();
    let mut package = thin_vec![term(TermValue::Var(Var("data".into())), &location)];
    package.extend(path.iter().map(|step| terms::value(step, &location, meter)));
    Module {
        file: "".into(),
        text: "".into(),
        read_as: Version::V1,
        version: Version::V1,
        package: Package {
            path: package,
            location,
        },
        imports: Vec::new(),
        rules,
        annotations: Vec::new(),
        comments: Vec::new(),
    }
}
