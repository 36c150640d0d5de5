//! Rules written as expressions: `p := 1`, `p.a := 1`, `f(x) := x`, `f(x)`.

use thin_vec::{ThinVec, thin_vec};

use super::expressions::generated_body;
use crate::syntax::{Body, Expr, ExprTerms, Head, Ref, Rule, Term, TermValue};

/// Converts a statement parsed as a body to a rule, or returns the reason why it is not a rule.
pub(super) fn bare_rule(body: Body) -> Result<Rule, String> {
    let [expression] = <[Expr; 1]>::try_from(body)
        .map_err(|_| "multiple expressions cannot be used for rule head")?;
    if !expression.with.is_empty() {
        return Err("expressions using with keyword cannot be used for rule head".into());
    }
    if expression.negated {
        return Err("negated expressions cannot be used for rule head".into());
    }
    match expression.terms {
        ExprTerms::Term(term) => from_term(*term),
        ExprTerms::Call(terms) => {
            let operator = terms.first().and_then(|term| term.value.global_name());
            match operator {
                Some(name @ ("eq" | "assign")) => {
                    let assign = name == "assign";
                    let mut rule = from_assignment(terms)?;
                    rule.head.assign = assign;
                    rule.head.location = expression.location.clone();
                    rule.location = expression.location;
                    Ok(rule)
                }
                _ => from_call(terms),
            }
        }
        ExprTerms::Some(_) => Err("'some' declarations cannot be used for rule head".into()),
        ExprTerms::Every(_) | ExprTerms::Logic(_) => {
            Err("expression cannot be used for rule head".into())
        }
    }
}

fn from_term(term: Term) -> Result<Rule, String> {
    let location = term.location.clone();
    let steps = match term.value {
        TermValue::Ref(steps) => steps,
        other => return Err(format!("{} cannot be used for rule name", other.kind())),
    };
    if steps.len() == 1 {
        return Err("refs cannot be used for rule head".into());
    }
    let mut head = head_of(steps)?;
    head.location = location.clone();
    if head.reference.len() > 2 {
        head.set_true();
    } else {
        head.key = head.reference.pop();
        head.name = head.first_name();
    }
    Ok(rule(head, &location))
}

fn from_assignment(terms: ThinVec<Term>) -> Result<Rule, String> {
    let mut operands = terms.into_iter().skip(1);
    let (Some(left), Some(right)) = (operands.next(), operands.next()) else {
        return Err("assignment requires two operands".into());
    };
    let location = right.location.clone();
    let mut head = match left.value {
        TermValue::Call(mut call) => {
            let args = call.split_off(1.min(call.len()));
            let mut head = head_of(operator_of(call)?)?;
            head.args = args;
            head
        }
        TermValue::Ref(steps) => {
            let mut head = head_of(steps)?;
            if let [_, step] = head.reference.as_slice() {
                head.key = Some(step.clone());
                head.name = head.first_name();
            }
            head
        }
        TermValue::Var(_) => head_of(thin_vec![left])?,
        other => return Err(format!("{} cannot be used for rule name", other.kind())),
    };
    head.value = Some(right);
    Ok(rule(head, &location))
}

fn from_call(mut terms: ThinVec<Term>) -> Result<Rule, String> {
    let args = terms.split_off(1.min(terms.len()));
    let Some(operator) = terms.first() else {
        return Err("expression cannot be used for rule head".into());
    };
    if crate::types::signature(&operator.to_string()).is_some() {
        return Err("rule name conflicts with built-in function".into());
    }
    if args.is_empty() {
        return Err("rule argument list must take at least one argument".into());
    }
    let location = operator.location.clone();
    let mut head = head_of(operator_of(terms)?)?;
    head.args = args;
    head.location = location.clone();
    head.set_true();
    head.value_generated = false;
    Ok(rule(head, &location))
}

fn operator_of(mut call: ThinVec<Term>) -> Result<Ref, String> {
    match call.pop().map(|operator| operator.value) {
        Some(TermValue::Ref(steps)) => Ok(steps),
        Some(other) => Err(format!(
            "{}s cannot be used in function signature",
            other.kind()
        )),
        None => Err("must be call".into()),
    }
}

/// Creates a head from a reference, which must begin with a name.
fn head_of(reference: Ref) -> Result<Head, String> {
    match reference.first().map(|first| &first.value) {
        Some(TermValue::Var(_)) => Ok(Head::of(reference)),
        _ => Err(format!(
            "invalid rule head: {}",
            crate::syntax::format::Reference(&reference)
        )),
    }
}

fn rule(head: Head, location: &crate::syntax::Location) -> Rule {
    Rule {
        default: false,
        body: generated_body(location),
        else_rule: None,
        annotations: Vec::new(),
        location: head.location.clone(),
        head,
    }
}
