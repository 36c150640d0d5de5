//! Collects the variables of nodes.

use crate::hash::{HashMap, HashSet};
use crate::syntax::terms::{as_var, is_var};
use crate::syntax::visit::deep;
use crate::syntax::{Body, Expr, ExprTerms, Location, Term, TermValue, Var, With};

/// Variables of a tree.
pub(super) type Vars<'t> = HashSet<&'t Var>;

/// Which variables of a node count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    /// The heads of references.
    pub(super) ref_heads: bool,
    /// The names of called functions, and the heads of the references that `with` modifiers have
    /// as targets and values.
    pub(super) call_heads: bool,
    /// The keys of objects.
    pub(super) keys: bool,
    /// What is inside of comprehensions, template strings, and the operands of `not`, `and` and
    /// `or`; of an expression with `every` all but its domain.
    pub(super) closures: bool,
    /// Where closures do not count: what operands of `not`, `and` and `or` without braces need
    /// from around them.
    pub(super) open_operands: bool,
    /// What is inside of sets.
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

/// The variables that an evaluation of the node itself needs or binds.
pub(super) const NEEDED: Scan = Scan {
    call_heads: false,
    closures: false,
    ..ALL
};

/// The same, and those that operands without braces need from around them.
pub(super) const NEEDED_AROUND: Scan = Scan {
    open_operands: true,
    ..NEEDED
};

/// The variables that a pattern binds when it is unified with a value.
pub(super) const PATTERN: Scan = Scan {
    ref_heads: false,
    keys: false,
    closures: false,
    ..ALL
};

/// The variables of the operands of a call that is evaluated, and those that its results bind.
pub(super) const RESULT: Scan = Scan {
    sets: false,
    ..PATTERN
};

/// All variables but the heads of references: what the steps of a reference bind.
pub(super) const STEPS: Scan = Scan {
    ref_heads: false,
    ..ALL
};

impl Scan {
    /// The variables of a term, with the places where terms are them.
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

    /// The variables of terms.
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

    /// The variables of an expression.
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
        // The domain of `every` is evaluated before it, with the same modifiers.
        let before = matches!(expr.terms, ExprTerms::Every(_)) && !self.closures;
        for with in expr.with.iter().filter(|_| !before) {
            self.with(with, found);
        }
    }

    /// The variables of a modifier.
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

    /// The variables of a body.
    pub(super) fn body<'t>(self, body: &'t [Expr], found: &mut impl FnMut(&'t Var, &'t Location)) {
        for expr in body {
            self.expr(expr, found);
        }
    }

    /// The variables that an operand without braces needs from around it. It was one expression;
    /// what the compiler took out of that binds variables for it.
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
            let inner: Vars<'_> = body.iter().filter_map(given).collect();
            let is_inner = |var: &Var| {
                inner.contains(var) && occurrences.get(var).is_some_and(|count| *count > 1)
            };
            vars.retain(|(var, _)| !is_inner(var));
        }
        vars
    }

    /// The set of the variables of a term.
    pub(super) fn of_term(self, term: &Term) -> Vars<'_> {
        self.of_terms(std::slice::from_ref(term))
    }

    /// The set of the variables of terms.
    pub(super) fn of_terms(self, terms: &[Term]) -> Vars<'_> {
        let mut vars = Vars::default();
        self.terms(terms, &mut |var, _| {
            vars.insert(var);
        });
        vars
    }

    /// The set of the variables of a body.
    pub(super) fn of_body(self, body: &[Expr]) -> Vars<'_> {
        let mut vars = Vars::default();
        self.body(body, &mut |var, _| {
            vars.insert(var);
        });
        vars
    }
}

/// The variable that an expression of the compiler gives its value.
fn given(expr: &Expr) -> Option<&Var> {
    let term = match (equality(expr), &expr.terms) {
        _ if !expr.generated => None,
        (Some((left, _)), _) => Some(left),
        (None, ExprTerms::Call(call)) => call.last(),
        _ => None,
    };
    term.and_then(as_var)
}

/// The steps of a reference behind its head.
pub(super) fn steps(reference: &[Term]) -> &[Term] {
    reference.get(1..).unwrap_or_default()
}

/// The operands of a call.
pub(super) fn operands(call: &[Term]) -> &[Term] {
    call.get(1..).unwrap_or_default()
}

/// The terms of an expression that calls the function of this name.
pub(super) fn call_of<'t>(expr: &'t Expr, name: &str) -> Option<&'t [Term]> {
    match &expr.terms {
        ExprTerms::Call(call) if is_operator(call.first()?, name) => Some(call),
        _ => None,
    }
}

/// The two sides of an equality.
pub(super) fn equality(expr: &Expr) -> Option<(&Term, &Term)> {
    match call_of(expr, "eq")? {
        [_, left, right] => Some((left, right)),
        _ => None,
    }
}

/// Whether a term names the function of this name, which has no dots.
pub(super) fn is_operator(term: &Term, name: &str) -> bool {
    match &term.value {
        TermValue::Ref(reference) => matches!(reference.as_slice(), [head] if is_var(head, name)),
        _ => is_var(term, name),
    }
}

/// `input` or `data`, if the term is a reference to just that.
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

/// Whether the variable has a name as the compiler gives them, to variables of its own and of
/// authors.
pub(super) fn is_local(var: &Var) -> bool {
    var.0.starts_with("__local")
}

/// The variable as messages show it.
pub(super) fn shown(var: &Var) -> &str {
    if var.is_wildcard() { "_" } else { &var.0 }
}

/// Whether evaluating the term takes more than looking at it: it has references, calls among
/// them, or comprehensions.
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

/// The variables that a body declares: on the left of `:=`, by `some`; also inside of `every`,
/// `not`, `and`, `or` and template strings, but not of comprehensions.
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

/// Whether the body says nothing: rules without one have `true`.
pub(super) fn is_empty(body: &[Expr]) -> bool {
    match body {
        [only] => matches!(
            &only.terms,
            ExprTerms::Term(term) if matches!(term.value, TermValue::Bool(true))
        ),
        _ => false,
    }
}

/// Adds to a body. One that says nothing is replaced.
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

/// Adds an expression to a body that is made anew.
pub(super) fn push(body: &mut Body, mut expr: Expr) {
    expr.index = body.len();
    body.push(expr);
}
