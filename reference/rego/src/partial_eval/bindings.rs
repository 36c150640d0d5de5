//! Bindings and saved expressions of a partial evaluation, with undo.

use thin_vec::ThinVec;

use super::expr_stats::{Saved, Shared};
use super::terms::{self, Sym, each_expr_var, each_var, term};
use crate::Value;
use crate::hash::HashMap;
use crate::meter::Meter;
use crate::syntax::terms::constant;
use crate::syntax::visit::{self, Rewrite, Visit};
use crate::syntax::{Expr, Term, TermValue, Var};

/// Identifier of a query or rule under evaluation.
pub(super) type Frame = usize;

/// Binding of a residual variable. A variable without an entry is free.
#[derive(Debug, Clone)]
enum Binding {
    /// A value.
    Known(Value),
    /// A term with other variables.
    Is(Term),
    /// The saved expressions bind the variable when the residual is evaluated.
    Saved,
}

#[derive(Debug)]
enum Undo {
    Name(Frame, Var, Option<Var>),
    Bound(Var),
    Chosen(usize),
}

/// State of a variable of a frame.
#[derive(Debug)]
pub(super) enum VarState {
    /// Not bound yet.
    Free,
    /// Bound to a known value.
    Known(Value),
    /// Bound to something that is not known.
    Unknown,
}

/// Position in the undo trail and in the saved expressions, to backtrack to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Checkpoint {
    trail: usize,
    pub(super) saved: usize,
}

/// Bindings and saved expressions.
#[derive(Debug)]
pub(super) struct Bindings<'m> {
    /// Meter that is charged for values that become terms.
    meter: &'m Meter,
    names: HashMap<(Frame, Var), Var>,
    bindings: HashMap<Var, Binding>,
    /// Values chosen for complete rules on the current path, by the address of the rule set.
    pub(super) chosen: HashMap<usize, Sym>,
    pub(super) saved: Vec<Saved>,
    trail: Vec<Undo>,
    next: usize,
    frames: usize,
    /// Generated variables in the order of their numbers, from 1.
    generated: Vec<Var>,
}

impl<'m> Bindings<'m> {
    /// Creates an empty store. The given names are the first ones used for generated variables.
    pub(super) fn new(meter: &'m Meter, generated: Vec<Var>) -> Self {
        Self {
            meter,
            generated,
            names: HashMap::default(),
            bindings: HashMap::default(),
            chosen: HashMap::default(),
            saved: Vec::new(),
            trail: Vec::new(),
            next: 0,
            frames: 0,
        }
    }

    /// Returns the names of the generated variables.
    pub(super) fn into_names(self) -> Vec<Var> {
        self.generated
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            trail: self.trail.len(),
            saved: self.saved.len(),
        }
    }

    pub(super) fn undo(&mut self, mark: Checkpoint) {
        self.saved.truncate(mark.saved);
        while self.trail.len() > mark.trail
            && let Some(undo) = self.trail.pop()
        {
            match undo {
                Undo::Name(frame, var, None) => {
                    self.names.remove(&(frame, var));
                }
                Undo::Name(frame, var, Some(before)) => {
                    self.names.insert((frame, var), before);
                }
                Undo::Bound(name) => {
                    self.bindings.remove(&name);
                }
                Undo::Chosen(rules) => {
                    self.chosen.remove(&rules);
                }
            }
        }
    }

    /// Allocates a new frame.
    pub(super) fn frame(&mut self) -> Frame {
        self.frames += 1;
        self.frames
    }

    /// Returns an unused variable. Its name does not end with the number, so that it cannot be one
    /// that the compiler generates.
    pub(super) fn fresh(&mut self) -> Var {
        let place = self.next;
        self.next += 1;
        if let Some(name) = self.generated.get(place) {
            return name.clone();
        }
        let name = Var(format!("__local{}__1", self.next).into());
        self.generated.push(name.clone());
        name
    }

    /// Returns a unique number.
    pub(super) fn number(&mut self) -> usize {
        // Each number has a generated name at its position.
        self.fresh();
        self.next
    }

    /// Returns the residual variable for a variable of a frame; it is allocated on first use.
    pub(super) fn name(&mut self, frame: Frame, var: &Var) -> Var {
        if let Some(name) = self.names.get(&(frame, var.clone())) {
            return name.clone();
        }
        let name = self.fresh();
        self.assign_name(frame, var, name.clone());
        name
    }

    /// Assigns a residual variable to a variable of a frame.
    pub(super) fn assign_name(&mut self, frame: Frame, var: &Var, name: Var) {
        let before = self.names.insert((frame, var.clone()), name);
        self.trail.push(Undo::Name(frame, var.clone(), before));
    }

    /// Returns the residual variable for a variable of a frame, if one is assigned.
    pub(super) fn assigned_name(&self, frame: Frame, var: &Var) -> Option<&Var> {
        self.names.get(&(frame, var.clone()))
    }

    /// Whether a variable is unbound.
    pub(super) fn is_free(&self, name: &Var) -> bool {
        !self.bindings.contains_key(name)
    }

    /// Whether saved expressions bind the variable.
    pub(super) fn is_saved(&self, name: &Var) -> bool {
        matches!(self.bindings.get(name), Some(Binding::Saved))
    }

    /// Whether saved expressions bound the variable before a checkpoint.
    pub(super) fn is_older_than(&self, name: &Var, mark: Checkpoint) -> bool {
        let newer = self.trail.get(mark.trail..).unwrap_or_default();
        let is_own = |undo: &Undo| matches!(undo, Undo::Bound(bound) if bound == name);
        self.is_saved(name) && !newer.iter().any(is_own)
    }

    /// Binds a free variable.
    pub(super) fn bind(&mut self, name: &Var, to: Sym) {
        let binding = match to {
            Sym::Known(value) => Binding::Known(value),
            Sym::Term(term) => Binding::Is(term),
        };
        self.insert(name, binding);
    }

    fn insert(&mut self, name: &Var, binding: Binding) {
        self.bindings.insert(name.clone(), binding);
        self.trail.push(Undo::Bound(name.clone()));
    }

    /// Records the value of a complete rule on the current path.
    pub(super) fn choose(&mut self, rules: usize, value: Sym) {
        if self.chosen.insert(rules, value).is_none() {
            self.trail.push(Undo::Chosen(rules));
        }
    }

    /// Returns the value or term to which a variable of a frame is bound.
    pub(super) fn lookup(&mut self, frame: Frame, var: &Var) -> Sym {
        let name = self.name(frame, var);
        self.variable(&name)
    }

    /// Returns the state of a variable of a frame without assigning it a residual variable.
    pub(super) fn var_state(&self, frame: Frame, var: &Var) -> VarState {
        let name = self.assigned_name(frame, var);
        match name.and_then(|name| self.bindings.get(name)) {
            None => VarState::Free,
            Some(Binding::Known(value)) => VarState::Known(value.clone()),
            Some(Binding::Saved) => VarState::Unknown,
            // Substitution of its variables cannot turn it into a value.
            Some(Binding::Is(term)) if is_asked(&term.value) => VarState::Unknown,
            Some(Binding::Is(term)) => match self.resolved(Sym::Term(term.clone())) {
                Sym::Known(value) => VarState::Known(value),
                Sym::Term(_) => VarState::Unknown,
            },
        }
    }

    fn variable(&self, name: &Var) -> Sym {
        match self.bindings.get(name) {
            Some(Binding::Known(value)) => Sym::Known(value.clone()),
            Some(Binding::Is(term)) => self.resolved(Sym::Term(term.clone())),
            Some(Binding::Saved) | None => {
                let value = TermValue::Var(name.clone());
                Sym::Term(term(value, &super::terms::nowhere()))
            }
        }
    }

    /// Substitutes the bindings of the variables of a term.
    pub(super) fn resolved(&self, sym: Sym) -> Sym {
        let Sym::Term(mut term) = sym else {
            return sym;
        };
        self.resolve(&mut term);
        match &term.value {
            TermValue::Var(_) => Sym::Term(term),
            value if is_asked(value) => Sym::Term(term),
            _ => constant(&term).map_or(Sym::Term(term), Sym::Known),
        }
    }

    pub(super) fn resolve(&self, term: &mut Term) {
        visit::rewrite_term(term, &mut Resolve(self));
    }

    /// Saves an expression. Its variables count as bound from now on.
    pub(super) fn save(&mut self, expr: Expr) {
        let mut expr = Shared::new(expr);
        if !expr.is_ground() {
            expr.change(|expr| visit::rewrite_expr(expr, &mut Resolve(self)));
            each_expr_var(&expr, |name| self.mark_saved(name));
        }
        self.saved.push(Saved::Expr(expr));
    }

    /// Requires that a term is defined.
    pub(super) fn require_defined(&mut self, term: Term) {
        each_var(&term, |name| self.mark_saved(name));
        self.saved.push(Saved::defined(term));
    }

    /// Marks a free variable as bound by saved expressions.
    fn mark_saved(&mut self, name: &Var) {
        if self.is_free(name) {
            self.insert(name, Binding::Saved);
        }
    }

    /// Whether a term is already required to be defined.
    pub(super) fn is_required(&self, term: &Term) -> bool {
        let is = |part: &Saved| matches!(part, Saved::Defined(other) if **other == *term);
        self.saved.iter().any(is)
    }

    /// Adds expressions and required terms that another search has saved.
    pub(super) fn add(&mut self, saved: Vec<Saved>) {
        for part in saved {
            match part {
                ground if ground.is_ground() => self.saved.push(ground),
                Saved::Expr(expr) => self.save(expr.into_node()),
                Saved::Defined(term) => {
                    let mut term = term.into_node();
                    self.resolve(&mut term);
                    self.require_defined(term);
                }
            }
        }
    }

    /// Returns expressions and required terms saved since a checkpoint, with bindings substituted.
    pub(super) fn since(&self, mark: Checkpoint) -> Vec<Saved> {
        let saved = self.saved.get(mark.saved..).unwrap_or_default();
        let mut saved = saved.to_vec();
        for part in saved.iter_mut().filter(|part| !part.is_ground()) {
            match part {
                Saved::Expr(expr) if self.concerns(|visitor| visit::expr(expr, visitor)) => {
                    expr.change(|expr| visit::rewrite_expr(expr, &mut Resolve(self)));
                }
                Saved::Defined(term) if self.concerns(|visitor| visit::term(term, visitor)) => {
                    term.change(|term| self.resolve(term));
                }
                _ => {}
            }
        }
        saved
    }

    /// Whether any variable of the visited nodes is bound.
    fn concerns<'t>(&'t self, visit: impl FnOnce(&mut BoundVariables<'t>)) -> bool {
        let mut visitor = BoundVariables {
            bindings: self,
            found: false,
        };
        visit(&mut visitor);
        visitor.found
    }
}

/// Whether a term is a reference or a call.
fn is_asked(value: &TermValue) -> bool {
    matches!(value, TermValue::Ref(_) | TermValue::Call(_))
}

/// Searches nodes for variables that are bound.
struct BoundVariables<'s> {
    bindings: &'s Bindings<'s>,
    found: bool,
}

impl<'t> Visit<'t> for BoundVariables<'_> {
    fn term(&mut self, term: &'t Term) -> bool {
        if let TermValue::Var(name) = &term.value {
            let binding = self.bindings.bindings.get(name);
            self.found |= matches!(binding, Some(Binding::Known(_) | Binding::Is(_)));
        }
        !self.found
    }
}

/// Replaces bound variables by their bindings, and joins references whose head becomes a reference.
struct Resolve<'s>(&'s Bindings<'s>);

impl Resolve<'_> {
    fn variable(&mut self, term: &mut Term) {
        let TermValue::Var(name) = &term.value else {
            return;
        };
        match self.0.bindings.get(name) {
            Some(Binding::Known(value)) => {
                *term = terms::value(value, &term.location, self.0.meter);
            }
            Some(Binding::Is(other)) => {
                let mut other = other.clone();
                visit::rewrite_term(&mut other, self);
                term.value = other.value;
            }
            Some(Binding::Saved) | None => {}
        }
    }
}

impl Rewrite for Resolve<'_> {
    fn term(&mut self, term: &mut Term) -> bool {
        match &mut term.value {
            TermValue::Var(_) => {
                self.variable(term);
                false
            }
            TermValue::Ref(parts) => {
                // The new head may be bound as well.
                while let Some(head) = parts.first_mut() {
                    self.variable(head);
                    if !matches!(head.value, TermValue::Ref(_)) {
                        break;
                    }
                    join(parts);
                }
                true
            }
            _ => true,
        }
    }
}

/// Joins references whose head is a reference.
pub(super) struct Flatten;

impl Rewrite for Flatten {
    fn term(&mut self, term: &mut Term) -> bool {
        if let TermValue::Ref(parts) = &mut term.value {
            join(parts);
        }
        true
    }
}

/// Replaces the head of a reference by its steps if it is itself a reference.
fn join(parts: &mut ThinVec<Term>) {
    while let Some(Term {
        value: TermValue::Ref(inner),
        ..
    }) = parts.first_mut()
    {
        let mut joined = std::mem::take(inner);
        joined.extend(parts.drain(..).skip(1));
        *parts = joined;
    }
}

#[cfg(test)]
mod tests {
    use thin_vec::thin_vec;

    use super::super::terms::{call, nowhere, reference, string, term, var};
    use super::{Bindings, Meter, Saved, Sym, TermValue, Var};

    #[test]
    fn heads_of_heads_are_joined_with_what_they_stand_for() {
        let at = nowhere();
        let meter = Meter::default();
        let mut bindings = Bindings::new(&meter, Vec::new());
        let name = Var("x".into());
        let to = reference("input", [string("a", &at)], &at);
        bindings.bind(&name, Sym::Term(to));
        let inner = thin_vec![var(&name, &at), string("b", &at)];
        let outer = thin_vec![term(TermValue::Ref(inner), &at), string("c", &at)];
        let resolved = bindings.resolved(Sym::Term(term(TermValue::Ref(outer), &at)));
        let steps = ["a", "b", "c"].map(|step| string(step, &at));
        assert_eq!(resolved, Sym::Term(reference("input", steps, &at)));
    }

    #[test]
    fn what_is_saved_is_joined_and_sorted_without_variables_too() {
        let at = nowhere();
        let set = |items: [&str; 2]| {
            let items = items.map(|item| string(item, &at));
            term(TermValue::Set(items.into()), &at)
        };
        let inner = reference("input", [string("a", &at)], &at);
        let outer = term(TermValue::Ref(thin_vec![inner, string("b", &at)]), &at);
        let joined = reference("input", ["a", "b"].map(|step| string(step, &at)), &at);
        let cases = [(outer, joined), (set(["d", "c"]), set(["c", "d"]))];
        for (term, saved) in cases {
            let meter = Meter::default();
            let mut bindings = Bindings::new(&meter, Vec::new());
            let one = string("one", &at);
            bindings.save(call("eq", [one.clone(), term], &at));
            assert_eq!(bindings.saved, [Saved::expr(call("eq", [one, saved], &at))]);
        }
    }
}
