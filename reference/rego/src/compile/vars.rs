//! Collects the variables of syntax tree nodes.

use crate::hash::{HashMap, HashSet};
use crate::syntax::terms::{as_var, is_var};
use crate::syntax::visit::deep;
use crate::syntax::{Body, Expr, ExprTerms, Location, Term, TermValue, Var, With};

/// Variables of a tree.
pub(super) type Vars<'t> = HashSet<&'t Var>;

/// Selects which variables of a node are collected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    /// Heads of references.
    pub(super) ref_heads: bool,
    /// Names of called functions, and heads of references that are targets or values of `with`
    /// modifiers.
    pub(super) call_heads: bool,
    /// Keys of objects.
    pub(super) keys: bool,
    /// Contents of comprehensions, template strings, and operands of `not`, `and` and `or`; of an
    /// expression with `every` all but its domain.
    pub(super) closures: bool,
    /// Without `closures`: variables that operands of `not`, `and` and `or` without braces need
    /// from the enclosing scope.
    pub(super) open_operands: bool,
    /// Contents of sets.
    pub(super) sets: bool,
}

/// All variables.
pub(super) const ALL: Scan = Scan {
    ref_heads: true,
    call_heads: true,
    keys: true,
    closures: true,
    open_operands: false,
    sets: true,
};

/// Variables that the evaluation of the node itself needs or binds.
pub(super) const NEEDED: Scan = Scan {
    call_heads: false,
    closures: false,
    ..ALL
};

/// Like [`NEEDED`], and variables that operands without braces need from the enclosing scope.
pub(super) const NEEDED_AROUND: Scan = Scan {
    open_operands: true,
    ..NEEDED
};

/// Variables that a pattern binds when it is unified with a value.
pub(super) const PATTERN: Scan = Scan {
    ref_heads: false,
    keys: false,
    closures: false,
    ..ALL
};

/// Variables of the operands of a call, and those that its results bind.
pub(super) const RESULT: Scan = Scan {
    sets: false,
    ..PATTERN
};

/// All variables but the heads of references: those that the steps of a reference bind.
pub(super) const STEPS: Scan = Scan {
    ref_heads: false,
    ..ALL
};

impl Scan {
    /// Visits the selected variables of a term, with the locations of their occurrences.
    pub(super) fn term<'t>(self, term: &'t Term, found: &mut impl FnMut(&'t Var, &'t Location)) {
        deep(|| self.value(term, found));
    }

    fn value<'t>(self, term: &'t Term, found: &mut impl FnMut(&'t Var, &'t Location)) {
        match &term.value {
            TermValue::Var(var) => found(var, &term.location),
            TermValue::Ref(parts) => {
                let parts = if self.ref_heads { parts } else { steps(parts) };
                self.terms(parts, found);
            }
            TermValue::Array(items) => self.terms(items, found),
            TermValue::Set(items) if self.sets => self.terms(items, found),
            TermValue::Object(members) => {
                for (key, value) in members {
                    if self.keys {
                        self.term(key, found);
                    }
                    self.term(value, found);
                }
            }
            TermValue::Call(parts) => self.call(parts, found),
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of)
                if self.closures =>
            {
                self.term(&of.term, found);
                self.body(&of.body, found);
            }
            TermValue::ObjectComprehension(of) if self.closures => {
                self.term(&of.key, found);
                self.term(&of.value, found);
                self.body(&of.body, found);
            }
            TermValue::Template(template) if self.closures => self.body(&template.parts, found),
            _ => {}
        }
    }

    /// Visits the variables of terms.
    pub(super) fn terms<'t>(
        self,
        terms: &'t [Term],
        found: &mut impl FnMut(&'t Var, &'t Location),
    ) {
        for term in terms {
            self.term(term, found);
        }
    }

    fn call<'t>(self, parts: &'t [Term], found: &mut impl FnMut(&'t Var, &'t Location)) {
        let Some((operator, operands)) = parts.split_first() else {
            return;
        };
        match &operator.value {
            TermValue::Ref(reference) if !self.call_heads => self.terms(steps(reference), found),
            TermValue::Var(_) if !self.call_heads => {}
            _ => self.term(operator, found),
        }
        self.terms(operands, found);
    }

    /// Visits the variables of an expression.
    pub(super) fn expr<'t>(self, expr: &'t Expr, found: &mut impl FnMut(&'t Var, &'t Location)) {
        match &expr.terms {
            ExprTerms::Term(term) => self.term(term, found),
            ExprTerms::Call(parts) => self.call(parts, found),
            ExprTerms::Some(decl) => self.terms(&decl.symbols, found),
            ExprTerms::Every(every) => {
                self.term(&every.domain, found);
                if self.closures {
                    for term in every.key.iter().chain([&every.value]) {
                        self.term(term, found);
                    }
                    deep(|| self.body(&every.body, found));
                }
            }
            ExprTerms::Logic(logic) => {
                for operand in &logic.operands {
                    if self.closures {
                        deep(|| self.body(&operand.body, found));
                    } else if self.open_operands && !operand.explicit {
                        for (var, at) in self.open(&operand.body) {
                            found(var, at);
                        }
                    }
                }
            }
        }
        // The domain of `every` is evaluated ahead of it, with the same modifiers.
        let before = matches!(expr.terms, ExprTerms::Every(_)) && !self.closures;
        for with in expr.with.iter().filter(|_| !before) {
            self.with(with, found);
        }
    }

    /// Visits the variables of a modifier.
    pub(super) fn with<'t>(self, with: &'t With, found: &mut impl FnMut(&'t Var, &'t Location)) {
        if self.call_heads {
            self.term(&with.target, found);
            self.term(&with.value, found);
            return;
        }
        if let TermValue::Ref(reference) = &with.target.value {
            self.terms(steps(reference), found);
        }
        match &with.value.value {
            TermValue::Ref(reference) => self.terms(steps(reference), found),
            _ => self.term(&with.value, found),
        }
    }

    /// Visits the variables of a body.
    pub(super) fn body<'t>(self, body: &'t [Expr], found: &mut impl FnMut(&'t Var, &'t Location)) {
        for expr in body {
            self.expr(expr, found);
        }
    }

    /// Returns the variables that an operand without braces needs from the enclosing scope.
    /// Generated expressions that were moved out of the operand bind variables for it.
    fn open(self, body: &[Expr]) -> Vec<(&Var, &Location)> {
        let scan = Scan {
            open_operands: false,
            ..self
        };
        let mut vars = Vec::new();
        scan.body(body, &mut |var, at| vars.push((var, at)));
        if body.len() > 1 {
            let mut occurrences: HashMap<&Var, usize> = HashMap::default();
            for expr in body {
                for var in scan.of_body(std::slice::from_ref(expr)) {
                    *occurrences.entry(var).or_default() += 1;
                }
            }
            let inner: Vars<'_> = body.iter().filter_map(bound_var).collect();
            let is_inner = |var: &Var| {
                inner.contains(var) && occurrences.get(var).is_some_and(|count| *count > 1)
            };
            vars.retain(|(var, _)| !is_inner(var));
        }
        vars
    }

    /// Returns the set of the variables of a term.
    pub(super) fn of_term(self, term: &Term) -> Vars<'_> {
        self.of_terms(std::slice::from_ref(term))
    }

    /// Returns the set of the variables of terms.
    pub(super) fn of_terms(self, terms: &[Term]) -> Vars<'_> {
        let mut vars = Vars::default();
        self.terms(terms, &mut |var, _| {
            vars.insert(var);
        });
        vars
    }

    /// Returns the set of the variables of a body.
    pub(super) fn of_body(self, body: &[Expr]) -> Vars<'_> {
        let mut vars = Vars::default();
        self.body(body, &mut |var, _| {
            vars.insert(var);
        });
        vars
    }
}

/// Returns the variable that a generated expression binds: the left side of an equality, or the
/// result of a call.
fn bound_var(expr: &Expr) -> Option<&Var> {
    let term = match (equality(expr), &expr.terms) {
        _ if !expr.generated => None,
        (Some((left, _)), _) => Some(left),
        (None, ExprTerms::Call(call)) => call.last(),
        _ => None,
    };
    term.and_then(as_var)
}

/// Returns the steps of a reference after its head.
pub(super) fn steps(reference: &[Term]) -> &[Term] {
    reference.get(1..).unwrap_or_default()
}

/// Returns the operands of a call.
pub(super) fn operands(call: &[Term]) -> &[Term] {
    call.get(1..).unwrap_or_default()
}

/// Returns the terms of an expression that calls the function of this name.
pub(super) fn call_of<'t>(expr: &'t Expr, name: &str) -> Option<&'t [Term]> {
    match &expr.terms {
        ExprTerms::Call(call) if is_operator(call.first()?, name) => Some(call),
        _ => None,
    }
}

/// Returns the two sides of an equality.
pub(super) fn equality(expr: &Expr) -> Option<(&Term, &Term)> {
    match call_of(expr, "eq")? {
        [_, left, right] => Some((left, right)),
        _ => None,
    }
}

/// Whether an operator names the function of this name, which has no dots.
pub(super) fn is_operator(term: &Term, name: &str) -> bool {
    match &term.value {
        TermValue::Ref(reference) => matches!(reference.as_slice(), [head] if is_var(head, name)),
        _ => is_var(term, name),
    }
}

/// Returns `input` or `data`, if the term is a reference to just that.
pub(super) fn root_document(term: &Term) -> Option<&Var> {
    match &term.value {
        TermValue::Ref(reference) => match reference.as_slice() {
            [head] => as_var(head).filter(|var| is_root(var)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the variable is `input` or `data`.
pub(super) fn is_root(var: &Var) -> bool {
    matches!(&*var.0, "input" | "data")
}

/// Whether the variable has the name of a generated variable, which may replace a source variable.
pub(super) fn is_local(var: &Var) -> bool {
    var.0.starts_with("__local")
}

/// Returns the name of the variable for messages.
pub(super) fn display_name(var: &Var) -> &str {
    if var.is_wildcard() { "_" } else { &var.0 }
}

/// Whether the term must be evaluated: it contains references, including those of calls, or
/// comprehensions.
pub(super) fn requires_evaluation(term: &Term) -> bool {
    struct Finder(bool);
    impl<'t> crate::syntax::visit::Visit<'t> for Finder {
        fn term(&mut self, term: &'t Term) -> bool {
            self.0 |= matches!(
                term.value,
                TermValue::Ref(_)
                    | TermValue::ArrayComprehension(_)
                    | TermValue::SetComprehension(_)
                    | TermValue::ObjectComprehension(_)
            );
            !self.0
        }
    }
    let mut find = Finder(false);
    crate::syntax::visit::term(term, &mut find);
    find.0
}

/// Returns the variables that a body declares: on the left of `:=`, by `some`; also inside of
/// `every`, `not`, `and`, `or` and template strings, but not of comprehensions.
pub(super) fn declared(body: &[Expr]) -> HashSet<Var> {
    struct Finder(HashSet<Var>);
    impl<'t> crate::syntax::visit::Visit<'t> for Finder {
        fn expr(&mut self, expr: &'t Expr) -> bool {
            match &expr.terms {
                ExprTerms::Call(_) => {
                    if let Some([_, left, _]) = call_of(expr, "assign") {
                        self.add(left);
                    }
                }
                ExprTerms::Some(decl) => {
                    for symbol in &decl.symbols {
                        match &symbol.value {
                            TermValue::Call(call) => {
                                let operands = operands(call);
                                let bound = operands.len().saturating_sub(1);
                                operands.iter().take(bound).for_each(|term| self.add(term));
                            }
                            _ => self.add(symbol),
                        }
                    }
                }
                _ => {}
            }
            true
        }
        fn term(&mut self, term: &'t Term) -> bool {
            !matches!(
                term.value,
                TermValue::ArrayComprehension(_)
                    | TermValue::SetComprehension(_)
                    | TermValue::ObjectComprehension(_)
            )
        }
    }
    impl Finder {
        fn add(&mut self, term: &Term) {
            ALL.term(term, &mut |var, _| {
                self.0.insert(var.clone());
            });
        }
    }
    let mut find = Finder(HashSet::default());
    crate::syntax::visit::body(body, &mut find);
    find.0
}

/// Whether the body is only `true`, as in rules without a body.
pub(super) fn is_empty(body: &[Expr]) -> bool {
    match body {
        [only] => matches!(
            &only.terms,
            ExprTerms::Term(term) if matches!(term.value, TermValue::Bool(true))
        ),
        _ => false,
    }
}

/// Appends to a body. A body that is only `true` is replaced.
pub(super) fn append(body: &mut Body, more: impl IntoIterator<Item = Expr>) {
    let mut more = more.into_iter().peekable();
    if more.peek().is_some() && is_empty(body) {
        body.clear();
    }
    let first = body.len();
    body.extend(more);
    for (index, expr) in body.iter_mut().enumerate().skip(first) {
        expr.index = index;
    }
}

/// Appends an expression to a body, and sets its index.
pub(super) fn push(body: &mut Body, mut expr: Expr) {
    expr.index = body.len();
    body.push(expr);
}
