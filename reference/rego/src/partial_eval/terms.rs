//! Residual terms and their construction.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use thin_vec::{ThinVec, thin_vec};

use crate::Value;
use crate::meter::Meter;
use crate::syntax::terms::{self as compile, constant, of_value};
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, ExprTerms, Location, Ref, Term, TermValue, Var};

/// Term that is evaluated as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sym {
    /// A value.
    Known(Value),
    /// Term whose value depends on unknowns.
    Term(Term),
}

impl Sym {
    /// Converts the value or term to a residual term.
    pub(super) fn into_term(self, location: &Location, meter: &Meter) -> Term {
        match self {
            Self::Known(known) => value(&known, location, meter),
            Self::Term(term) => term,
        }
    }

    pub(super) fn known(&self) -> Option<&Value> {
        match self {
            Self::Known(value) => Some(value),
            Self::Term(_) => None,
        }
    }
}

impl From<Term> for Sym {
    fn from(term: Term) -> Self {
        match constant(&term) {
            Some(value) => Self::Known(value),
            None => Self::Term(term),
        }
    }
}

/// Returns the location of generated nodes.
pub(super) fn nowhere() -> Location {
    static NOWHERE: LazyLock<Location> = LazyLock::new(|| Location {
        file: "".into(),
        row: 0,
        col: 0,
        offset: 0,
        length: 0,
    });
    NOWHERE.clone()
}

pub(super) fn term(value: TermValue, location: &Location) -> Term {
    Term {
        value,
        location: location.clone(),
    }
}

pub(super) fn var(name: &Var, location: &Location) -> Term {
    term(TermValue::Var(name.clone()), location)
}

pub(super) fn string(text: &str, location: &Location) -> Term {
    term(TermValue::String(text.into()), location)
}

/// Builds a reference from a root document.
pub(super) fn reference(
    root: &str,
    steps: impl IntoIterator<Item = Term>,
    location: &Location,
) -> Term {
    let head = term(TermValue::Var(name(root)), location);
    let parts = std::iter::once(head).chain(steps);
    term(TermValue::Ref(parts.collect()), location)
}

/// Returns a variable of this name. The names at the start of most references and calls are cached.
fn name(text: &str) -> Var {
    static COMMON_NAMES: LazyLock<[Var; 3]> =
        LazyLock::new(|| ["input", "data", "eq"].map(|name| Var(name.into())));
    let known = COMMON_NAMES.iter().find(|name| *name.0 == *text);
    known.cloned().unwrap_or_else(|| Var(text.into()))
}

/// Converts a value to a term, charged for its expanded size: terms share nothing. A value that is
/// too large becomes `null`, and the evaluation fails at its next step.
pub(super) fn value(value: &Value, location: &Location, meter: &Meter) -> Term {
    let converted = match meter.unfolds(value) {
        true => of_value(value, location),
        false => TermValue::Null,
    };
    term(converted, location)
}

/// Appends steps to a term.
pub(super) fn extended(
    base: Term,
    steps: impl IntoIterator<Item = Term>,
    location: &Location,
) -> Term {
    let mut parts: Ref = match base.value {
        TermValue::Ref(parts) => parts,
        _ => thin_vec![base],
    };
    parts.extend(steps);
    term(TermValue::Ref(parts), location)
}

/// Builds the operator of a function of this name, which may contain dots.
pub(super) fn operator(name: &str, location: &Location) -> Term {
    let mut parts = name.split('.');
    let head = parts.next().unwrap_or_default();
    reference(head, parts.map(|part| string(part, location)), location)
}

pub(super) fn expr(terms: ExprTerms, location: &Location) -> Expr {
    Expr {
        terms,
        negated: false,
        with: ThinVec::new(),
        index: 0,
        generated: false,
        assigned: false,
        location: location.clone(),
    }
}

/// Builds a call expression.
pub(super) fn call<const N: usize>(name: &str, operands: [Term; N], location: &Location) -> Expr {
    let mut parts = ThinVec::with_capacity(1 + N);
    parts.push(operator(name, location));
    parts.extend(operands);
    expr(ExprTerms::Call(parts), location)
}

/// Returns the two operands of an `eq` call.
pub(super) fn equality_operands(call: &[Term]) -> Option<(&Term, &Term)> {
    let [_, left, right] = call else {
        return None;
    };
    match compile::operator(call)? {
        [name] => compile::is_var(name, "eq").then_some((left, right)),
        _ => None,
    }
}

/// Converts a term to an expression.
pub(super) fn to_expr(term: Term) -> Expr {
    let location = term.location.clone();
    match term.value {
        TermValue::Call(parts) => expr(ExprTerms::Call(parts), &location),
        _ => expr(ExprTerms::Term(Box::new(term)), &location),
    }
}

/// Visits the variables of nodes, except those in comprehensions and in the bodies of `every`.
struct Vars<F> {
    each: F,
    /// Whether to visit closures as well.
    closures: bool,
}

impl<'t, F: FnMut(&'t Var)> Visit<'t> for Vars<F> {
    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::Var(name) if !matches!(&*name.0, "input" | "data") => {
                (self.each)(name);
                false
            }
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => self.closures,
            TermValue::Call(parts) => {
                visit::terms(parts.get(1..).unwrap_or_default(), self);
                false
            }
            _ => true,
        }
    }

    fn expr(&mut self, expr: &'t Expr) -> bool {
        match &expr.terms {
            ExprTerms::Call(parts) => {
                visit::terms(parts.get(1..).unwrap_or_default(), self);
            }
            ExprTerms::Every(every) if !self.closures => visit::term(&every.domain, self),
            ExprTerms::Every(every) => {
                visit::term(&every.domain, self);
                for term in every.key.iter().chain([&every.value]) {
                    visit::term(term, self);
                }
                visit::deep(|| visit::body(&every.body, self));
            }
            ExprTerms::Term(term) => visit::term(term, self),
            ExprTerms::Logic(logic) if self.closures => visit::deep(|| {
                for operand in &logic.operands {
                    visit::body(&operand.body, self);
                }
            }),
            ExprTerms::Logic(_) | ExprTerms::Some(_) => {}
        }
        for with in &expr.with {
            visit::term(&with.value, self);
        }
        false
    }
}

/// Visits the variables of a term outside of its closures.
pub(super) fn each_var<'t>(term: &'t Term, each: impl FnMut(&'t Var)) {
    let closures = false;
    visit::term(term, &mut Vars { each, closures });
}

/// Visits the variables of an expression outside of its closures.
pub(super) fn each_expr_var<'t>(expr: &'t Expr, each: impl FnMut(&'t Var)) {
    let closures = false;
    visit::expr(expr, &mut Vars { each, closures });
}

/// Whether a variable of a term outside of its closures satisfies a predicate.
pub(super) fn any_var(term: &Term, is: impl Fn(&Var) -> bool) -> bool {
    let mut found = false;
    each_var(term, |name| found |= is(name));
    found
}

/// Returns the variables of a term outside of its closures.
pub(super) fn vars(term: &Term) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    each_var(term, |name| {
        found.insert(name.clone());
    });
    found
}

/// Returns the variables of an expression outside of its closures.
pub(super) fn expr_vars(expr: &Expr) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    each_expr_var(expr, |name| {
        found.insert(name.clone());
    });
    found
}

/// Returns every variable of an expression.
pub(super) fn all_vars(expr: &Expr) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    let each = |name: &Var| {
        found.insert(name.clone());
    };
    let closures = true;
    visit::expr(expr, &mut Vars { each, closures });
    found
}

/// Returns every variable of a term.
pub(super) fn all_term_vars(term: &Term) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    let each = |name: &Var| {
        found.insert(name.clone());
    };
    let closures = true;
    visit::term(term, &mut Vars { each, closures });
    found
}

/// Counts the nodes of a term.
#[derive(Debug, Default)]
struct Size(usize);

impl<'t> Visit<'t> for Size {
    fn term(&mut self, _: &'t Term) -> bool {
        self.0 += 1;
        true
    }
}

/// Returns the number of nodes of a term.
pub(super) fn size(term: &Term) -> usize {
    let mut size = Size::default();
    visit::term(term, &mut size);
    size.0
}

/// Whether a term is a collection, which can be a pattern that other terms are matched with.
pub(super) fn is_composite(value: &TermValue) -> bool {
    matches!(
        value,
        TermValue::Array(_) | TermValue::Object(_) | TermValue::Set(_)
    )
}
