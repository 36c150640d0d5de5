//! Parsing of the heads of rules.

use thin_vec::{ThinVec, thin_vec};

use super::Parser;
use super::terms::root;
use crate::syntax::token::Token;
use crate::syntax::{Head, Ref, Term, TermValue, Var};

/// A parsed head, and whether it contains the keyword `contains`.
pub(super) struct ParsedHead {
    pub(super) head: Head,
    pub(super) contains: bool,
}

impl Parser<'_> {
    /// Parses a head from its name to its key or value.
    pub(super) fn head(&mut self, default: bool) -> Option<ParsedHead> {
        let (location, start) = (self.here(), self.offset());
        let mut read = self.head_here(default)?;
        read.head.location = self.until_last(&location, start);
        if let Some(value) = read
            .head
            .value
            .as_mut()
            .filter(|_| read.head.value_generated)
        {
            value.location = read.head.location.clone();
        }
        Some(read)
    }

    fn head_here(&mut self, default: bool) -> Option<ParsedHead> {
        let mut head = self.head_reference()?;
        let name = Term {
            value: TermValue::Ref(head.reference.clone()),
            location: head.location.clone(),
        };
        match self.token() {
            Token::Contains => {
                if !head.args.is_empty() {
                    self.unexpected_but(&format!(
                        "the contains keyword can only be used with multi-value rule definitions (e.g., {name} contains <VALUE> {{ ... }})"
                    ));
                }
                self.scan();
                head.key = self.infix();
                if head.key.is_none() {
                    self.unexpected_but(&format!(
                        "expected rule key term (e.g., {name} contains <VALUE> {{ ... }})"
                    ));
                }
                return Some(ParsedHead {
                    head,
                    contains: true,
                });
            }
            Token::Unify => {
                self.scan();
                head.value = self.infix();
                if head.value.is_none() {
                    self.unexpected_but(&format!(
                        "expected rule value term (e.g., {name}[<nil>] = <VALUE> {{ ... }})"
                    ));
                }
            }
            Token::Assign => {
                self.scan();
                head.assign = true;
                head.value = self.infix();
                if head.value.is_none() {
                    let example = if !head.args.is_empty() {
                        format!(
                            "expected function value term (e.g., {name}(...) := <VALUE> {{ ... }})"
                        )
                    } else if default {
                        format!(
                            "expected default rule value term (e.g., default {name} := <VALUE>)"
                        )
                    } else {
                        format!("expected rule value term (e.g., {name} := <VALUE> {{ ... }})")
                    };
                    self.unexpected_but(&example);
                }
            }
            _ => {}
        }
        if head.value.is_none() && (head.reference.len() != 2 || !head.args.is_empty()) {
            head.set_true();
        }
        Some(ParsedHead {
            head,
            contains: false,
        })
    }

    /// Parses the name of a rule with its steps and parameters.
    fn head_reference(&mut self) -> Option<Head> {
        let start = self.offset();
        let name = self.variable();
        self.scan_whitespace();
        match self.token() {
            Token::Plus
            | Token::Minus
            | Token::Times
            | Token::Divide
            | Token::Remainder
            | Token::And
            | Token::Or
            | Token::Equal
            | Token::NotEqual
            | Token::Greater
            | Token::GreaterEqual
            | Token::Less
            | Token::LessEqual => self.unexpected(),
            Token::Whitespace => self.scan(),
            _ => {}
        }
        let term = match self.token() {
            Token::LeftParen | Token::Dot | Token::LeftBracket => self.finish_here(name, start),
            _ => Some(root(name)),
        };
        let Some(term) = term else {
            self.unexpected_but("expected rule head name");
            return None;
        };
        match term.value {
            TermValue::Var(_) => Some(Head::of(thin_vec![term])),
            TermValue::Ref(reference) => Some(Head::of(reference)),
            TermValue::Call(mut call) => {
                let args = call.split_off(1);
                let reference = match call.pop()?.value {
                    TermValue::Ref(reference) => reference,
                    _ => return None,
                };
                if !matches!(reference.first()?.value, TermValue::Var(_)) {
                    let invalid = Term {
                        value: TermValue::Ref(reference),
                        location: term.location,
                    };
                    self.unexpected_but(&format!("rule head ref {invalid} invalid"));
                    return None;
                }
                let mut head = Head::of(reference);
                head.args = args;
                Some(head)
            }
            _ => None,
        }
    }
}

impl Head {
    /// Creates a head from a reference, without key or value, at the location of the reference.
    pub(super) fn of(reference: Ref) -> Self {
        let location = match reference.first() {
            Some(first) => first.location.clone(),
            None => crate::syntax::Location {
                file: "".into(),
                row: 0,
                col: 0,
                offset: 0,
                length: 0,
            },
        };
        let mut head = Self {
            name: None,
            reference,
            args: ThinVec::new(),
            key: None,
            value: None,
            assign: false,
            value_generated: false,
            location,
        };
        if head.reference.len() == 1 {
            head.name = head.first_name();
        }
        head
    }

    /// Returns the variable at the start of the reference.
    pub(super) fn first_name(&self) -> Option<Var> {
        match &self.reference.first()?.value {
            TermValue::Var(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// Sets the default value `true` of a head without a value.
    pub(super) fn set_true(&mut self) {
        self.value_generated = true;
        self.value = Some(Term {
            value: TermValue::Bool(true),
            location: self.location.clone(),
        });
    }
}
