//! Infix operators by precedence, all left-associative.

use thin_vec::{ThinVec, thin_vec};

use super::Parser;
use crate::syntax::token::Token;
use crate::syntax::{Location, Term, TermValue};

/// Precedence levels of operators, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Membership,
    Relation,
    Union,
    Intersection,
    Sum,
    Product,
}

impl Level {
    fn tighter(self) -> Option<Self> {
        match self {
            Self::Membership => Some(Self::Relation),
            Self::Relation => Some(Self::Union),
            Self::Union => Some(Self::Intersection),
            Self::Intersection => Some(Self::Sum),
            Self::Sum => Some(Self::Product),
            Self::Product => None,
        }
    }

    fn of(token: Token) -> Option<Self> {
        Some(match token {
            Token::In => Self::Membership,
            Token::Equal
            | Token::NotEqual
            | Token::Less
            | Token::Greater
            | Token::LessEqual
            | Token::GreaterEqual => Self::Relation,
            Token::Or => Self::Union,
            Token::And => Self::Intersection,
            Token::Plus | Token::Minus => Self::Sum,
            Token::Times | Token::Divide | Token::Remainder => Self::Product,
            _ => return None,
        })
    }
}

const MEMBER: &[&str] = &["internal", "member_2"];
const MEMBER_WITH_KEY: &[&str] = &["internal", "member_3"];

impl<'t> Parser<'t> {
    /// Parses a term with its operators, including `k, v in xs`.
    pub(super) fn infix(&mut self) -> Option<Term> {
        self.infix_after(None, self.offset(), true)
    }

    /// Parses a term with its operators, which a comma ends.
    pub(super) fn infix_in_list(&mut self) -> Option<Term> {
        self.infix_after(None, self.offset(), false)
    }

    /// Parses a term with its operators, from offset `start`. The first operand may be parsed
    /// already.
    pub(super) fn infix_after(
        &mut self,
        first: Option<Term>,
        start: usize,
        with_key: bool,
    ) -> Option<Term> {
        let read = first.is_some();
        let outer = if read {
            0
        } else {
            std::mem::take(&mut self.height)
        };
        let term = self.membership(first, start, with_key);
        self.height = self.height.max(outer);
        term
    }

    fn membership(&mut self, first: Option<Term>, start: usize, with_key: bool) -> Option<Term> {
        let mut left = self.level(Level::Relation, first, start)?;
        if with_key && self.token() == Token::Comma {
            let saved = self.save();
            match self.keyed_membership(left, start) {
                Ok(call) if self.token() != Token::In => return Some(call),
                Ok(call) => left = call,
                Err(term) => {
                    left = term;
                    self.restore(saved);
                }
            }
        }
        loop {
            self.reference_ahead();
            if self.token() != Token::In {
                break;
            }
            let at = self.here();
            self.scan();
            let Some(right) = self.level(Level::Relation, None, self.offset()) else {
                break;
            };
            let operator = self.operator(MEMBER, &at);
            left = self.call(thin_vec![operator, left, right], start)?;
            if self.token() != Token::In {
                break;
            }
        }
        Some(left)
    }

    /// Parses `, v in xs` after `k`, or returns `k`.
    fn keyed_membership(&mut self, key: Term, start: usize) -> Result<Term, Term> {
        self.scan();
        let Some(value) = self.level(Level::Relation, None, start) else {
            return Err(key);
        };
        if self.token() != Token::In {
            return Err(key);
        }
        let at = self.here();
        self.scan();
        let Some(domain) = self.level(Level::Relation, None, self.offset()) else {
            return Err(key);
        };
        let operator = self.operator(MEMBER_WITH_KEY, &at);
        let location = self.until_last(&key.location, start);
        Ok(Term {
            value: TermValue::Call(thin_vec![operator, key, value, domain]),
            location,
        })
    }

    /// Parses operands and the operators of one level, and of all that bind tighter.
    fn level(&mut self, level: Level, first: Option<Term>, start: usize) -> Option<Term> {
        let mut left = match (level.tighter(), first) {
            (Some(tighter), first) => self.level(tighter, first, start)?,
            (None, Some(first)) => first,
            (None, None) => self.term()?,
        };
        while Level::of(self.token()) == Some(level) {
            let (at, name) = (self.here(), self.token().name());
            self.scan();
            let right = match level.tighter() {
                Some(tighter) => self.level(tighter, None, self.offset()),
                None => self.term(),
            };
            let Some(right) = right else {
                break;
            };
            let operator = self.operator(&[name], &at);
            left = self.call(thin_vec![operator, left, right], start)?;
        }
        Some(left)
    }

    /// Returns the call of an operator, at the location of its first operand.
    fn call(&mut self, terms: ThinVec<Term>, start: usize) -> Option<Term> {
        self.higher()?;
        let location = match terms.get(1) {
            Some(Term { location, .. }) => self.until_last(location, start),
            None => self.here(),
        };
        Some(Term {
            value: TermValue::Call(terms),
            location,
        })
    }

    /// Parses `=` or `:=`, if the current token is one, and returns the operator.
    pub(super) fn assignment(&mut self) -> Option<Term> {
        if !matches!(self.token(), Token::Assign | Token::Unify) {
            return None;
        }
        let (at, name): (Location, _) = (self.here(), self.token().name());
        self.scan();
        Some(self.operator(&[name], &at))
    }
}
