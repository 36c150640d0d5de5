//! Translation of calls of built-in functions.

use super::super::Unsupported;
use super::super::condition::{Column, Comparison, Condition, MatchPosition, Predicate};
use super::operand::Operand;
use super::{Scope, Translator, defined, format_call, present, test};
use crate::Value;
use crate::syntax::terms::{self, dotted};
use crate::syntax::{Location, Term, TermValue};
use crate::value::Text;

/// Result of a boolean call.
struct Verdict {
    holds: Condition,
    defined: Condition,
}

impl Verdict {
    /// Converts the result to an operand of an equation or another call.
    fn operand(self, location: &Location) -> Operand {
        let fails = Condition::all([self.defined, self.holds.clone().negated(location)]);
        Operand::Choice(vec![
            (Operand::Constant(Value::Bool(true)), self.holds),
            (Operand::Constant(Value::Bool(false)), fails),
        ])
    }
}

/// Returns the name of the function of a call.
fn function(call: &[Term]) -> Option<Text> {
    terms::operator(call).and_then(dotted)
}

impl Translator<'_> {
    /// Returns the condition that a call is neither undefined nor false. If it has an additional
    /// last operand, that is unified with the result.
    pub(super) fn call(
        &mut self,
        call: &[Term],
        scope: &mut Scope,
        location: &Location,
    ) -> Result<Condition, Unsupported> {
        let Some(name) = function(call).filter(|name| !name.starts_with("data.")) else {
            return Err(unknown(call, location));
        };
        let operands = call.get(1..).unwrap_or_default();
        if Comparison::of_builtin(&name) == Some(Comparison::Equal)
            && let [left, right] = operands
        {
            let left = self.operand(left, scope, Some(&name), location)?;
            let right = self.operand(right, scope, Some(&name), location)?;
            return self.unify(left, right, scope, location);
        }
        let (operands, result) = match operands {
            [left, right, result] if &*name != "internal.member_3" => {
                (vec![left, right], Some(result))
            }
            operands => (operands.iter().collect(), None),
        };
        let Some(verdict) = self.verdict(&name, &operands, scope, location)? else {
            return Err(unknown(call, location));
        };
        let Some(result) = result else {
            return Ok(verdict.holds);
        };
        let result = self.operand(result, scope, Some(&name), location)?;
        self.unify(verdict.operand(location), result, scope, location)
    }

    /// Returns the result of a nested call; `None` if it is not a boolean call.
    pub(super) fn value(
        &mut self,
        call: &[Term],
        scope: &mut Scope,
        location: &Location,
    ) -> Result<Option<Operand>, Unsupported> {
        let Some(name) = function(call) else {
            return Ok(None);
        };
        let operands: Vec<&Term> = call.iter().skip(1).collect();
        let verdict = self.verdict(&name, &operands, scope, location)?;
        Ok(verdict.map(|verdict| verdict.operand(location)))
    }

    /// Translates a call of a boolean function; `None` if the function is not supported.
    fn verdict(
        &mut self,
        name: &str,
        operands: &[&Term],
        scope: &mut Scope,
        location: &Location,
    ) -> Result<Option<Verdict>, Unsupported> {
        let [left, right] = operands else {
            return Ok(None);
        };
        if let Some(comparison) = Comparison::of_builtin(name) {
            let left = self.operand(left, scope, Some(name), location)?;
            let right = self.operand(right, scope, Some(name), location)?;
            let defined = Condition::all([present(&left), present(&right)]);
            let holds = compare(&left, comparison, &right, location)?;
            return Ok(Some(Verdict { holds, defined }));
        }
        if let Some(place) = MatchPosition::of_builtin(name) {
            let text = self.operand(left, scope, Some(name), location)?;
            let part = self.operand(right, scope, Some(name), location)?;
            return text_test(place, &text, &part, location).map(Some);
        }
        if name == "internal.member_2" {
            let member = self.operand(left, scope, Some(name), location)?;
            let holds = self.membership(&member, right, scope, location)?;
            let defined = present(&member);
            return Ok(Some(Verdict { holds, defined }));
        }
        Ok(None)
    }

    /// Returns the condition that an operand is in a literal collection.
    fn membership(
        &mut self,
        member: &Operand,
        collection: &Term,
        scope: &mut Scope,
        location: &Location,
    ) -> Result<Condition, Unsupported> {
        const NAME: &str = "internal.member_2";
        let unknown = || Unsupported::at(location, format!("rhs of {NAME} must be known"));
        let members: Vec<Operand> = match &collection.value {
            TermValue::Array(items) | TermValue::Set(items) => {
                let items = items.iter();
                let items = items.map(|item| self.operand(item, scope, Some(NAME), location));
                items.collect::<Result<_, _>>()?
            }
            _ => match self.operand(collection, scope, Some(NAME), location)? {
                Operand::Constant(Value::Array(items)) => {
                    items.iter().cloned().map(Operand::Constant).collect()
                }
                Operand::Constant(Value::Set(items)) => {
                    items.iter().cloned().map(Operand::Constant).collect()
                }
                Operand::List(items) => items,
                Operand::Constant(Value::Object(_)) => {
                    let message = "invalid use of \"... in ...\"";
                    return Err(Unsupported::at(location, message));
                }
                // A scalar has no members.
                Operand::Constant(_) => Vec::new(),
                _ => return Err(unknown()),
            },
        };
        if let Operand::Column(column) = member {
            let scalar = |member: &Operand| match member {
                Operand::Constant(value) => is_scalar(value).then(|| value.clone()),
                _ => None,
            };
            let scalars: Option<Vec<Value>> = members.iter().map(scalar).collect();
            if let Some(scalars) = scalars {
                // An empty list remains a condition, so that clients, which build their queries
                // from it, get the same form and the same masks whatever the input lists.
                return Ok(test(column, Predicate::Among(scalars), location));
            }
        }
        let equal = members
            .iter()
            .map(|other| compare(member, Comparison::Equal, other, location));
        Ok(Condition::any(equal.collect::<Result<Vec<_>, _>>()?))
    }

    /// Returns the condition that two operands are equal; binds unbound variables.
    fn unify(
        &mut self,
        left: Operand,
        right: Operand,
        scope: &mut Scope,
        location: &Location,
    ) -> Result<Condition, Unsupported> {
        match (left, right) {
            (Operand::Free(left), Operand::Free(right)) if left == right => {
                Ok(Condition::Constant(true))
            }
            (Operand::Free(name), other) | (other, Operand::Free(name)) => {
                let condition = defined(&other, location);
                scope.insert(name, other);
                Ok(condition)
            }
            (Operand::List(left), right @ (Operand::List(_) | Operand::Constant(_))) => {
                self.unify_items(left, right, scope, location)
            }
            (left @ Operand::Constant(_), Operand::List(right)) => {
                self.unify_items(right, left, scope, location)
            }
            (left, right) => compare(&left, Comparison::Equal, &right, location),
        }
    }

    fn unify_items(
        &mut self,
        left: Vec<Operand>,
        right: Operand,
        scope: &mut Scope,
        location: &Location,
    ) -> Result<Condition, Unsupported> {
        let right = match right {
            Operand::List(items) => items,
            Operand::Constant(Value::Array(items)) => {
                items.iter().cloned().map(Operand::Constant).collect()
            }
            _ => return Ok(Condition::Constant(false)),
        };
        if left.len() != right.len() {
            return Ok(Condition::Constant(false));
        }
        let mut conditions = Vec::new();
        for (left, right) in left.into_iter().zip(right) {
            // A variable that is in the list twice is bound by now.
            let left = current(left, scope);
            let right = current(right, scope);
            conditions.push(self.unify(left, right, scope, location)?);
        }
        Ok(Condition::all(conditions))
    }
}

/// Resolves an operand that is a variable to its current binding.
fn current(operand: Operand, scope: &Scope) -> Operand {
    match operand {
        Operand::Free(name) => scope.get(&name).cloned().unwrap_or(Operand::Free(name)),
        operand => operand,
    }
}

/// Returns the error for a call that cannot be translated to a condition.
fn unknown(call: &[Term], location: &Location) -> Unsupported {
    let name = call.first().map(Term::to_string).unwrap_or_default();
    match function(call) {
        Some(function) if function.starts_with("data.") => {
            let call = format_call(call);
            Unsupported::at(location, format!("invalid data reference \"{call}\""))
                .advice(format!("has function \"{name}(...)\" an `else`?"))
        }
        Some(function) if &*function == "internal.member_3" => {
            Unsupported::at(location, "invalid use of \"... in ...\"")
        }
        _ => Unsupported::at(location, format!("invalid builtin `{name}`")),
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_composite()
}

/// Returns the condition that a comparison holds.
fn compare(
    left: &Operand,
    comparison: Comparison,
    right: &Operand,
    location: &Location,
) -> Result<Condition, Unsupported> {
    use Operand::{Choice, Column, Constant, Free, List};
    let refusal = || Unsupported::at(location, "both rhs and lhs non-scalar/non-ground");
    match (left, right) {
        (Free(_), _) | (_, Free(_)) => Err(refusal()),
        (Constant(left), Constant(right)) => Ok(Condition::Constant(comparison.holds(left, right))),
        (Choice(cases), other) => {
            let cases = cases.iter().map(|(value, when)| {
                let holds = compare(value, comparison, other, location)?;
                Ok(Condition::all([when.clone(), holds]))
            });
            Ok(Condition::any(cases.collect::<Result<Vec<_>, _>>()?))
        }
        (other, Choice(_)) => compare(right, comparison.mirrored(), other, location),
        (Column(column), Constant(value)) if is_scalar(value) => {
            let predicate = Predicate::Compare(comparison, value.clone());
            Ok(test(column, predicate, location))
        }
        (Constant(value), Column(_)) if is_scalar(value) => {
            compare(right, comparison.mirrored(), left, location)
        }
        (Column(column), Column(other)) => Ok(columns(column, comparison, other, location)),
        (List(left), List(right)) => items(left, comparison, right, location),
        (List(left), Constant(Value::Array(right))) => {
            let right: Vec<_> = right.iter().cloned().map(Constant).collect();
            items(left, comparison, &right, location)
        }
        (Constant(Value::Array(_)), List(_)) => {
            compare(right, comparison.mirrored(), left, location)
        }
        _ => Err(refusal()),
    }
}

fn columns(
    column: &Column,
    comparison: Comparison,
    other: &Column,
    location: &Location,
) -> Condition {
    if column == other {
        // Any value is equal to itself.
        return Condition::Constant(comparison.holds(&Value::Null, &Value::Null));
    }
    test(
        column,
        Predicate::CompareColumn(comparison, other.clone()),
        location,
    )
}

/// Returns the condition that two arrays are equal, or that they are not.
fn items(
    left: &[Operand],
    comparison: Comparison,
    right: &[Operand],
    location: &Location,
) -> Result<Condition, Unsupported> {
    let equal = if left.len() == right.len() {
        let pairs = left.iter().zip(right);
        let equal = pairs.map(|(left, right)| compare(left, Comparison::Equal, right, location));
        Condition::all(equal.collect::<Result<Vec<_>, _>>()?)
    } else {
        Condition::Constant(false)
    };
    match comparison {
        Comparison::Equal => Ok(equal),
        Comparison::NotEqual => {
            let defined = left.iter().chain(right).map(present);
            let defined = Condition::all(defined);
            Ok(Condition::all([defined, equal.negated(location)]))
        }
        _ => {
            let message = "both rhs and lhs non-scalar/non-ground";
            Err(Unsupported::at(location, message))
        }
    }
}

/// Tests whether a string contains another. An operand of another type makes the call undefined.
fn text_test(
    place: MatchPosition,
    text: &Operand,
    part: &Operand,
    location: &Location,
) -> Result<Verdict, Unsupported> {
    let verdict = |holds, defined| Ok(Verdict { holds, defined });
    let never = || Condition::Constant(false);
    match (text, part) {
        (Operand::Column(column), Operand::Constant(Value::String(part))) => {
            let text_condition =
                |place, part: &str| test(column, Predicate::Text(place, part.into()), location);
            verdict(
                text_condition(place, part),
                text_condition(MatchPosition::Start, ""),
            )
        }
        (Operand::Constant(Value::String(text)), Operand::Constant(Value::String(part))) => {
            let holds = place.holds(text, part);
            verdict(Condition::Constant(holds), Condition::Constant(true))
        }
        (Operand::Choice(cases), part) => {
            let mut holds = Vec::new();
            let mut defined = Vec::new();
            for (text, when) in cases {
                let of_case = text_test(place, text, part, location)?;
                holds.push(Condition::all([when.clone(), of_case.holds]));
                defined.push(Condition::all([when.clone(), of_case.defined]));
            }
            verdict(Condition::any(holds), Condition::any(defined))
        }
        (Operand::Constant(_), Operand::Constant(_))
        | (Operand::Column(_), Operand::Constant(_)) => verdict(never(), never()),
        _ => {
            let message = format!("rhs of {} must be known", place.name());
            Err(Unsupported::at(location, message))
        }
    }
}
