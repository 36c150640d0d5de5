//! Terms without operators: scalars, variables, references, calls.

use thin_vec::{ThinVec, thin_vec};

use super::Parser;
use crate::syntax::token::Token;
use crate::syntax::{Term, TermValue};

impl Parser<'_> {
    /// Parses a term without operators around it.
    pub(super) fn term(&mut self) -> Option<Term> {
        self.nested(Self::term_here)
    }

    fn term_here(&mut self) -> Option<Term> {
        let start = self.offset();
        // At the beginning of a term, `and(…)` and `or(…)` call the functions of these names.
        if matches!(self.token(), Token::LogicalAnd | Token::LogicalOr)
            && self.next_token() == Token::LeftParen
        {
            self.set_token(Token::Ident);
        }
        let term = match self.token() {
            Token::Null => self.scalar(TermValue::Null),
            Token::True => self.scalar(TermValue::Bool(true)),
            Token::False => self.scalar(TermValue::Bool(false)),
            Token::Minus => return self.negative(),
            Token::Dot | Token::Number => self.number()?,
            Token::String => self.string()?,
            Token::TemplatePart | Token::TemplateEnd => self.template(false)?,
            Token::RawTemplatePart | Token::RawTemplateEnd => self.template(true)?,
            Token::Ident | Token::Contains => self.variable(),
            Token::LeftBracket => self.array()?,
            Token::LeftBrace => self.set_or_object()?,
            Token::LeftParen => self.parenthesized()?,
            _ => {
                self.unexpected();
                return None;
            }
        };
        self.finish(term, start)
    }

    fn scalar(&self, value: TermValue) -> Term {
        Term {
            value,
            location: self.here(),
        }
    }

    fn parenthesized(&mut self) -> Option<Term> {
        let start = self.offset();
        self.scan();
        let term = self.infix()?;
        if self.token() != Token::RightParen {
            self.error_here("non-terminated expression");
            return None;
        }
        let location = self.spanning(&term.location, start, self.state.lexeme.end);
        Some(Term { location, ..term })
    }

    /// Parses a negative number, or a reference that is subtracted from zero.
    fn negative(&mut self) -> Option<Term> {
        let (start, at) = (self.offset(), self.here());
        let saved = self.save();
        self.scan();
        if !matches!(self.token(), Token::Ident | Token::Contains) {
            self.restore(saved);
            let number = self.number()?;
            return self.finish(number, start);
        }
        let inner = self.offset();
        let variable = self.variable();
        let term = self.finish(variable, inner)?;
        self.higher()?;
        let zero = Term {
            value: TermValue::Number(0_i64.into()),
            location: at.clone(),
        };
        let operator = self.operator(&["minus"], &at);
        let location = self.until_last(&at, start);
        Some(Term {
            value: TermValue::Call(thin_vec![operator, zero, term]),
            location,
        })
    }

    /// Parses the rest of a term after its head: steps and arguments, if no space precedes them.
    fn finish(&mut self, head: Term, start: usize) -> Option<Term> {
        self.scan_whitespace();
        self.finish_here(head, start)
    }

    /// Parses the steps and arguments that begin at the current token; a space ends the term.
    pub(super) fn finish_here(&mut self, head: Term, start: usize) -> Option<Term> {
        match self.token() {
            Token::LeftParen | Token::Dot | Token::LeftBracket => self.steps(head, start),
            token => {
                if token == Token::Whitespace {
                    self.scan();
                }
                Some(root(head))
            }
        }
    }

    fn steps(&mut self, head: Term, start: usize) -> Option<Term> {
        self.check_reference_head(&head);
        let location = head.location.clone();
        let mut reference = thin_vec![head];
        loop {
            match self.token() {
                Token::Dot => {
                    self.scan_whitespace();
                    if self.token() != Token::Ident && !self.is_reference_keyword() {
                        self.unexpected_but("expected identifier");
                        return None;
                    }
                    let name = self.lexeme();
                    let value = TermValue::String(self.name(name));
                    reference.push(self.scalar(value));
                    self.scan_whitespace();
                }
                Token::LeftBracket => {
                    self.scan();
                    let step = self.infix()?;
                    if self.token() != Token::RightBracket {
                        self.unexpected_but("expected [");
                        return None;
                    }
                    reference.push(step);
                    self.scan_whitespace();
                }
                Token::LeftParen => {
                    reference.shrink_to_fit();
                    let operator = Term {
                        value: TermValue::Ref(reference),
                        location: self.spanning(&location, start, self.offset()),
                    };
                    let (call, end) = self.arguments(operator)?;
                    let call = Term {
                        value: call,
                        location: self.spanning(&location, start, end),
                    };
                    match self.token() {
                        Token::Whitespace => self.scan(),
                        Token::Dot | Token::LeftBracket => {
                            self.higher()?;
                            self.check_reference_head(&call);
                            reference = thin_vec![call];
                            continue;
                        }
                        _ => {}
                    }
                    return Some(call);
                }
                token => {
                    if token == Token::Whitespace {
                        self.scan();
                    }
                    // Most terms are references, which have grown by doubling.
                    reference.shrink_to_fit();
                    return Some(Term {
                        value: TermValue::Ref(reference),
                        location: self.until_last(&location, start),
                    });
                }
            }
        }
    }

    fn check_reference_head(&mut self, head: &Term) {
        if !matches!(
            head.value,
            TermValue::Var(_)
                | TermValue::Array(_)
                | TermValue::Object(_)
                | TermValue::Set(_)
                | TermValue::ArrayComprehension(_)
                | TermValue::ObjectComprehension(_)
                | TermValue::SetComprehension(_)
                | TermValue::Call(_)
        ) {
            let kind = head.value.kind();
            self.error(
                &head.location,
                format!("illegal ref (head cannot be {kind})"),
            );
        }
    }

    /// Parses the arguments of a call, from its `(`; also returns the byte offset after its `)`.
    fn arguments(&mut self, operator: Term) -> Option<(TermValue, usize)> {
        self.higher()?;
        self.scan();
        if self.token() == Token::RightParen {
            let end = self.state.lexeme.end;
            self.scan_whitespace();
            let value = if is_set(&operator) {
                TermValue::Set(ThinVec::new())
            } else {
                TermValue::Call(thin_vec![operator])
            };
            return Some((value, end));
        }
        let terms = self.list(Token::RightParen, thin_vec![operator])?;
        let end = self.state.lexeme.end;
        self.scan_whitespace();
        Some((TermValue::Call(terms), end))
    }

    /// Whether the current token is a keyword that is allowed in a reference.
    pub(super) fn is_reference_keyword(&self) -> bool {
        self.token().is_keyword()
    }

    /// Converts the current token to a name if it is a keyword that begins a reference.
    pub(super) fn reference_ahead(&mut self) -> bool {
        let found = self.is_reference_keyword()
            && matches!(self.next_token(), Token::Dot | Token::LeftBracket);
        if found {
            self.set_token(Token::Ident);
        }
        found
    }
}

/// Returns a variable unchanged, or as a reference of one term if it is a root document.
pub(super) fn root(head: Term) -> Term {
    match &head.value {
        TermValue::Var(name) if matches!(&*name.0, "input" | "data") => Term {
            location: head.location.clone(),
            value: TermValue::Ref(thin_vec![head]),
        },
        _ => head,
    }
}

/// Whether an operator is `set`, the function that creates an empty set.
fn is_set(operator: &Term) -> bool {
    matches!(&operator.value, TermValue::Ref(steps)
        if matches!(steps.as_slice(), [Term { value: TermValue::Var(name), .. }] if &*name.0 == "set"))
}
