//! Arrays, sets, objects and comprehensions.
//!
//! `{a | b}` is a comprehension, never a set with a union in it. Only if the text after the bar
//! cannot be a body, as in `{a | b, c}`, the bar is the operator.

use thin_vec::{ThinVec, thin_vec};

use super::Parser;
use crate::syntax::token::Token;
use crate::syntax::{Body, Comprehension, Location, ObjectComprehension, Term, TermValue};

impl Parser<'_> {
    /// Parses an array or array comprehension, up to its `]`.
    pub(super) fn array(&mut self) -> Option<Term> {
        let (location, start) = (self.here(), self.offset());
        self.scan();
        let value = self.array_value(start)?;
        Some(self.collection(value, &location, start))
    }

    fn collection(&self, value: TermValue, location: &Location, start: usize) -> Term {
        Term {
            value,
            location: self.spanning(location, start, self.state.lexeme.end),
        }
    }

    fn array_value(&mut self, start: usize) -> Option<TermValue> {
        if self.token() == Token::RightBracket {
            return Some(TermValue::Array(ThinVec::new()));
        }
        let comma_first = self.skip_comma();
        let first = self.offset();
        // Operators are not parsed yet, as a bar would be one.
        let head = self.term()?;
        if self.token() == Token::Or && !comma_first {
            match self.comprehension_body(start, Token::RightBracket)? {
                Some(body) => {
                    return Some(TermValue::ArrayComprehension(Box::new(Comprehension {
                        term: head,
                        body,
                    })));
                }
                None => self.plain.insert(start),
            };
        }
        let head = self.infix_after(Some(head), first, false)?;
        let items = self.list_after(head, Token::RightBracket)?;
        Some(TermValue::Array(items))
    }

    /// Skips a comma before the first member, as in old sources. Returns whether there was one.
    fn skip_comma(&mut self) -> bool {
        let found = self.token() == Token::Comma;
        if found {
            self.scan();
        }
        found
    }

    /// Parses a bar and a body. If a comma shows that no body follows, backtracks: `Some(None)`.
    fn comprehension_body(&mut self, start: usize, end: Token) -> Option<Option<Body>> {
        if self.plain.contains(&start) {
            return Some(None);
        }
        let saved = self.save();
        self.scan();
        if let Some(body) = self.nested_body(end, true) {
            return Some(Some(body));
        }
        if self.token() != Token::Comma {
            return None;
        }
        self.restore(saved);
        Some(None)
    }

    /// Parses a set, object or comprehension of either, up to its `}`.
    pub(super) fn set_or_object(&mut self) -> Option<Term> {
        let (location, start) = (self.here(), self.offset());
        self.scan();
        let value = self.set_or_object_value(start)?;
        Some(self.collection(value, &location, start))
    }

    fn set_or_object_value(&mut self, start: usize) -> Option<TermValue> {
        if self.token() == Token::RightBrace {
            return Some(TermValue::Object(ThinVec::new()));
        }
        let comma_first = self.skip_comma();
        let first = self.offset();
        let head = self.term()?;
        if self.token() == Token::Or && !comma_first {
            match self.comprehension_body(start, Token::RightBrace)? {
                Some(body) => {
                    return Some(TermValue::SetComprehension(Box::new(Comprehension {
                        term: head,
                        body,
                    })));
                }
                None => self.plain.insert(start),
            };
            let head = self.infix_after(Some(head), first, false)?;
            return Some(set(self.list_after(head, Token::RightBrace)?));
        }
        let head = self.infix_after(Some(head), first, false)?;
        match self.token() {
            Token::RightBrace | Token::Comma => {
                Some(set(self.list_after(head, Token::RightBrace)?))
            }
            Token::Colon => self.object_value(head, start, comma_first),
            _ => {
                self.unexpected_but("non-terminated set");
                None
            }
        }
    }

    /// Parses an object or object comprehension from its first colon.
    fn object_value(&mut self, key: Term, start: usize, comma_first: bool) -> Option<TermValue> {
        self.scan();
        let first = self.offset();
        let value = self.term()?;
        if self.token() == Token::Or && !comma_first && !self.plain.contains(&start) {
            let saved = self.save();
            self.scan();
            if let Some(body) = self.nested_body(Token::RightBrace, true) {
                let parts = ObjectComprehension { key, value, body };
                return Some(TermValue::ObjectComprehension(Box::new(parts)));
            }
            self.plain.insert(start);
            self.restore(saved);
        }
        let value = self.infix_after(Some(value), first, false)?;
        match self.token() {
            Token::RightBrace => Some(object(thin_vec![(key, value)])),
            Token::Comma => {
                self.scan();
                Some(object(self.pairs(thin_vec![(key, value)])?))
            }
            _ => {
                self.unexpected_but("non-terminated object");
                None
            }
        }
    }

    fn list_after(&mut self, head: Term, end: Token) -> Option<ThinVec<Term>> {
        let mut terms = thin_vec![head];
        match self.token() {
            token if token == end => Some(terms),
            Token::Comma => {
                self.scan();
                self.list(end, terms)
            }
            _ => {
                terms.clear();
                self.expected_comma(end);
                None
            }
        }
    }

    fn expected_comma(&mut self, end: Token) {
        self.unexpected_but(&format!("expected \",\" or \"{}\"", end.name()));
    }

    /// Parses the terms of a list up to its closing token, which a comma may precede.
    pub(super) fn list(&mut self, end: Token, mut terms: ThinVec<Term>) -> Option<ThinVec<Term>> {
        while self.token() != end {
            terms.push(self.infix_in_list()?);
            match self.token() {
                token if token == end => {}
                Token::Comma => self.scan(),
                _ => {
                    self.expected_comma(end);
                    return None;
                }
            }
        }
        // Most lists are short, and have grown by doubling.
        terms.shrink_to_fit();
        Some(terms)
    }

    fn pairs(&mut self, mut pairs: ThinVec<(Term, Term)>) -> Option<ThinVec<(Term, Term)>> {
        while self.token() != Token::RightBrace {
            let key = self.infix_in_list()?;
            if self.token() != Token::Colon {
                self.unexpected_but("expected \":\"");
                return None;
            }
            self.scan();
            let value = self.infix_in_list()?;
            pairs.push((key, value));
            match self.token() {
                Token::RightBrace => {}
                Token::Comma => self.scan(),
                _ => {
                    self.expected_comma(Token::RightBrace);
                    return None;
                }
            }
        }
        Some(pairs)
    }
}

/// Creates a set of sorted and unique members.
fn set(mut members: ThinVec<Term>) -> TermValue {
    members.sort();
    members.dedup();
    TermValue::Set(members)
}

/// Creates an object of members sorted by key; of equal keys the first is retained, with the last
/// value.
fn object(mut members: ThinVec<(Term, Term)>) -> TermValue {
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.dedup_by(|(later, value), (previous, previous_value)| {
        let same = later == previous;
        if same {
            std::mem::swap(value, previous_value);
        }
        same
    });
    TermValue::Object(members)
}
