//! Type checking of bodies.

use super::details::{argument_error, match_error};
use super::environment::TypeNode;
use super::refs;
use super::scope::{Scope, is_root};
use super::unify::{equate, fits, infer};
use crate::Value;
use crate::error::{Code, LanguageError};
use crate::syntax::terms::{constant, dotted, operands, operator, shown};
use crate::syntax::visit::{self, Visit, deep};
use crate::syntax::{Body, Expr, ExprTerms, Ref, Term, TermValue};
use crate::types::Type;
use crate::types::signature;

/// An error, and whether its cause is an unknown type, which may result from another error.
struct TypeError {
    error: LanguageError,
    of_unknown: bool,
}

impl From<LanguageError> for TypeError {
    fn from(error: LanguageError) -> Self {
        Self {
            error,
            of_unknown: false,
        }
    }
}

/// Checks the expressions of a body in order, and adds the types of their variables to the scope.
pub(super) fn check(scope: &mut Scope<'_>, body: &Body) -> Vec<LanguageError> {
    let mut found = Vec::new();
    for expr in body {
        let layers = with_layers(scope, expr);
        let before = found.len();
        found.extend(closures(scope, expr));
        found.extend(refs::check(scope, expr));
        if let Err(type_error) = in_expr(scope, expr) {
            // An error that an earlier one may have caused is not reported.
            if found.len() == before || !type_error.of_unknown {
                found.push(type_error.error);
            }
        }
        for _ in 0..layers {
            scope.leave();
        }
        scope.record_replaced_term(expr);
    }
    found
}

/// Returns the errors of the last comprehension of an expression that has any.
fn closures(scope: &mut Scope<'_>, expr: &Expr) -> Vec<LanguageError> {
    struct Closures<'t>(Vec<&'t Term>);
    impl<'t> Visit<'t> for Closures<'t> {
        fn term(&mut self, term: &'t Term) -> bool {
            let is_closure = matches!(
                term.value,
                TermValue::ArrayComprehension(_)
                    | TermValue::SetComprehension(_)
                    | TermValue::ObjectComprehension(_)
            );
            if is_closure {
                self.0.push(term);
            }
            !is_closure
        }
    }
    let mut closures = Closures(Vec::new());
    visit::expr(expr, &mut closures);
    let mut last = Vec::new();
    for closure in closures.0 {
        let found = scope.comprehension(closure);
        if !found.is_empty() {
            last = found;
        }
    }
    last
}

fn in_expr(scope: &mut Scope<'_>, expr: &Expr) -> Result<(), TypeError> {
    for with in &expr.with {
        let target = scope.of_term(&with.target);
        let value = scope.of_term(&with.value);
        if let (Some(Type::Function(expected)), Some(Type::Function(replacement))) =
            (&target, &value)
            && !fits(target.as_ref(), value.as_ref())
            && let TermValue::Ref(name) = &with.target.value
        {
            let have = replacement.args.iter().map(|arg| arg.of.clone()).collect();
            let name = shown(name, &|_| None);
            return Err(argument_error(
                &with.location,
                &name,
                "arity mismatch",
                have,
                expected,
                false,
            )
            .into());
        }
    }
    let ExprTerms::Call(call) = &expr.terms else {
        return Ok(());
    };
    let operands = operands(expr);
    match operator(call).and_then(dotted).as_deref() {
        Some("eq") => return equality(scope, expr, operands),
        Some("internal.member_2") => membership(scope, expr, operands, 2)?,
        Some("internal.member_3") => membership(scope, expr, operands, 3)?,
        _ => {}
    }
    function(scope, expr, call)
}

fn equality(scope: &mut Scope<'_>, expr: &Expr, operands: &[Term]) -> Result<(), TypeError> {
    let [left, right] = operands else {
        let have: Vec<_> = operands
            .iter()
            .map(|operand| scope.of_term(operand))
            .collect();
        let what = if operands.len() < 2 {
            "too few arguments"
        } else {
            "too many arguments"
        };
        return Err(arguments(expr, "eq", what, have, false));
    };
    let (left_of, right_of) = (scope.of_term(left), scope.of_term(right));
    if equate(scope, left, left_of.as_ref(), right, right_of.as_ref()) {
        return Ok(());
    }
    Err(mismatch(expr, left_of.as_ref(), right_of.as_ref()))
}

fn mismatch(expr: &Expr, left: Option<&Type>, right: Option<&Type>) -> TypeError {
    let is_open = |of: Option<&Type>| of.is_none_or(Type::is_unknown);
    TypeError {
        error: match_error(&expr.location, left, right),
        of_unknown: is_open(left) || is_open(right),
    }
}

/// Checks `x in xs`: the left side must be a possible member, as far as the members are known.
fn membership(
    scope: &mut Scope<'_>,
    expr: &Expr,
    operands: &[Term],
    arity: usize,
) -> Result<(), TypeError> {
    let Some(collection) = operands.get(arity - 1) else {
        return Ok(());
    };
    let collection = scope.of_term(collection);
    let Some(values) = collection.as_ref().and_then(Type::values) else {
        return Ok(());
    };
    if let (3, Some(key)) = (arity, operands.first()) {
        let keys = collection.as_ref().and_then(Type::keys);
        member(scope, expr, key, keys.as_ref())?;
    }
    match operands.get(arity - 2) {
        Some(value) => member(scope, expr, value, Some(&values)),
        None => Ok(()),
    }
}

fn member(
    scope: &mut Scope<'_>,
    expr: &Expr,
    term: &Term,
    of: Option<&Type>,
) -> Result<(), TypeError> {
    let Some(of) = of.filter(|of| !of.is_unknown()) else {
        return Ok(());
    };
    let have = scope.of_term(term);
    let known = have.as_ref().filter(|have| !have.is_unknown());
    let fits_known = known.is_none_or(|have| fits(Some(have), Some(of)));
    if fits_known && infer(scope, term, Some(of), false) {
        return Ok(());
    }
    Err(mismatch(expr, have.as_ref(), Some(of)))
}

fn function(scope: &mut Scope<'_>, expr: &Expr, call: &[Term]) -> Result<(), TypeError> {
    let Some((name, operands)) = operator(call).zip(call.get(1..)) else {
        return Ok(());
    };
    let of = scope.of_ref(&name.into());
    if of.as_ref().is_some_and(Type::is_any) {
        return Ok(());
    }
    let name = shown(name, &|_| None);
    let Some(function) = of.as_ref().and_then(Type::as_function) else {
        let message = format!("undefined function {name}");
        return Err(LanguageError::at(Code::Type, &expr.location, message).into());
    };
    let mut expected: Vec<Option<Type>> = function.args.iter().map(|arg| arg.of.clone()).collect();
    expected.extend(function.result.iter().map(|result| result.of.clone()));
    let have: Vec<_> = operands
        .iter()
        .map(|operand| scope.of_term(operand))
        .collect();
    let type_error = |what: &str, have: Vec<Option<Type>>| {
        let of_unknown = have
            .iter()
            .any(|of| of.as_ref().is_none_or(Type::is_unknown));
        let error = argument_error(&expr.location, &name, what, have, function, true);
        TypeError { error, of_unknown }
    };
    if operands.len() > expected.len() && function.variadic.is_none() {
        return Err(type_error("too many arguments", have));
    }
    if operands.len() < function.args.len() {
        return Err(type_error("too few arguments", have));
    }
    let more = function.variadic.as_ref().and_then(|more| more.of.clone());
    for (index, operand) in operands.iter().enumerate() {
        let expected_type = expected.get(index).unwrap_or(&more);
        let known = have
            .get(index)
            .and_then(Option::as_ref)
            .filter(|of| !of.is_unknown());
        if known.is_some() && !fits(known, expected_type.as_ref()) {
            return Err(type_error("invalid argument(s)", have));
        }
        if !infer(scope, operand, expected_type.as_ref(), false) {
            let after = operands
                .iter()
                .map(|operand| scope.of_term(operand))
                .collect();
            return Err(type_error("invalid argument(s)", after));
        }
    }
    Ok(())
}

fn arguments(
    expr: &Expr,
    name: &str,
    what: &str,
    have: Vec<Option<Type>>,
    result: bool,
) -> TypeError {
    let of_unknown = have
        .iter()
        .any(|of| of.as_ref().is_none_or(Type::is_unknown));
    let declared = signature(name).and_then(|signature| signature.of.as_function());
    let error = match declared {
        Some(function) => argument_error(&expr.location, name, what, have, function, result),
        None => LanguageError::at(Code::Type, &expr.location, format!("{name}: {what}")),
    };
    TypeError { error, of_unknown }
}

/// Adds layers for the documents that modifiers replace, and for those that depend on them. Returns
/// the number of layers.
fn with_layers(scope: &mut Scope<'_>, expr: &Expr) -> usize {
    let mut layers = 0;
    let mut replaced: Vec<(Vec<Value>, Type)> = Vec::new();
    for with in &expr.with {
        let TermValue::Ref(target) = &with.target.value else {
            continue;
        };
        let of = scope.of_ref(target);
        let is_function = matches!(of, Some(Type::Function(_)));
        if let Some(tree) = scope.dependents(target, is_function) {
            scope.replace(tree);
            layers += 1;
        }
        if is_function {
            continue;
        }
        let is_ground = target.iter().skip(1).all(|step| constant(step).is_some());
        let value = if is_ground && of.is_some() {
            scope.of_term(&with.value)
        } else {
            None
        };
        let of = value
            .and_then(|value| Type::or(of, Some(value)))
            .unwrap_or_else(Type::any);
        replaced.extend(tree_path(target).map(|path| (path, of)));
    }
    if !replaced.is_empty() {
        let mut tree = TypeNode::default();
        for (path, of) in replaced {
            tree.set(&path, Some(of));
        }
        scope.replace(tree);
        layers += 1;
    }
    layers
}

/// Returns the constant leading steps of a reference to `input` or `data`, including the root.
fn tree_path(reference: &Ref) -> Option<Vec<Value>> {
    let (head, steps) = reference.split_first()?;
    match &head.value {
        TermValue::Var(var) if is_root(var) => {
            let head = Value::from(var.0.clone());
            Some(
                std::iter::once(head)
                    .chain(steps.iter().map_while(constant))
                    .collect(),
            )
        }
        _ => None,
    }
}

impl Scope<'_> {
    /// Checks a body in a separate layer, and calls `answer` before that layer is removed.
    pub(super) fn check_body<T>(
        &mut self,
        inside: &Body,
        answer: impl FnOnce(&mut Self, Vec<LanguageError>) -> T,
    ) -> T {
        self.enter();
        let found = deep(|| check(self, inside));
        let answer = answer(self, found);
        self.leave();
        answer
    }
}
