//! Ground terms, and names of term kinds.

use crate::syntax::{Body, ExprTerms, Term, TermValue};

impl Term {
    /// Whether the term contains no variables; the head of a reference does not count.
    pub(crate) fn is_ground(&self) -> bool {
        match &self.value {
            TermValue::Null
            | TermValue::Bool(_)
            | TermValue::Number(_)
            | TermValue::String(_)
            | TermValue::Bytes(_) => true,
            TermValue::Var(_) | TermValue::Template(_) => false,
            TermValue::Ref(steps) => steps.iter().skip(1).all(Self::is_ground),
            TermValue::Array(terms) | TermValue::Set(terms) | TermValue::Call(terms) => {
                terms.iter().all(Self::is_ground)
            }
            TermValue::Object(members) => members
                .iter()
                .all(|(key, value)| key.is_ground() && value.is_ground()),
            TermValue::ArrayComprehension(parts) | TermValue::SetComprehension(parts) => {
                parts.term.is_ground() && is_ground_body(&parts.body)
            }
            TermValue::ObjectComprehension(parts) => {
                parts.key.is_ground() && parts.value.is_ground() && is_ground_body(&parts.body)
            }
        }
    }
}

fn is_ground_body(body: &Body) -> bool {
    body.iter().all(|expression| match &expression.terms {
        ExprTerms::Term(term) => term.is_ground(),
        ExprTerms::Call(terms) => terms.iter().skip(1).all(Term::is_ground),
        ExprTerms::Some(_) | ExprTerms::Every(_) => false,
        ExprTerms::Logic(logic) => logic
            .operands
            .iter()
            .all(|operand| is_ground_body(&operand.body)),
    })
}

impl TermValue {
    /// Returns the kind of the term, in messages and in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) | Self::Bytes(_) => "string",
            Self::Var(_) => "var",
            Self::Ref(_) => "ref",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Set(_) => "set",
            Self::ArrayComprehension(_) => "arraycomprehension",
            Self::ObjectComprehension(_) => "objectcomprehension",
            Self::SetComprehension(_) => "setcomprehension",
            Self::Call(_) => "call",
            Self::Template(_) => "templatestring",
        }
    }

    /// Returns the name in a reference that is only a variable, as the operators of most calls are.
    pub(crate) fn global_name(&self) -> Option<&str> {
        match self {
            Self::Ref(steps) => match steps.as_slice() {
                [
                    Term {
                        value: Self::Var(name),
                        ..
                    },
                ] => Some(&name.0),
                _ => None,
            },
            _ => None,
        }
    }
}
