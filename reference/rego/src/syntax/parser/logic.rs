//! `and`, `or` and `not` of bodies.
//!
//! If these keywords are enabled, braces and parentheses at the beginning of an expression may
//! contain an operand or a value. The parser first tries to parse an operand.

use thin_vec::thin_vec;

use super::{MAX_NESTING, Parser, Saved};
use crate::syntax::token::{Keywords, Token};
use crate::syntax::{Body, Connective, Expr, ExprTerms, Location, Logic, Operand, Term, TermValue};
use crate::types::signature;

/// Limit for the contents of brackets that are parsed again, in multiples of the source's length,
/// so that nesting cannot multiply the work.
const MAX_SECOND_READINGS: usize = 8;

/// An operand and its location.
#[derive(Debug)]
pub(super) struct Side {
    operand: Operand,
    location: Location,
}

impl Side {
    fn of(expression: Expr) -> Self {
        Self {
            location: expression.location.clone(),
            operand: implicit(expression),
        }
    }
}

/// Content of parentheses.
#[derive(Debug)]
pub(super) enum Group {
    /// A value; the parser is positioned before it again.
    Value,
    /// An operand.
    Operand(Side),
}

impl Parser<'_> {
    /// Whether `and` or `or` is a keyword, so that brackets may contain operands.
    fn has_operators(&self) -> bool {
        self.keywords.has(Keywords::AND.with(Keywords::OR))
    }

    /// Returns the connective that the current token denotes.
    fn logical_operator(&self) -> Option<Connective> {
        match self.token() {
            Token::LogicalAnd => Some(Connective::And),
            Token::LogicalOr => Some(Connective::Or),
            _ => None,
        }
    }

    /// Parses an expression if it begins with a bracketed operand; `Some(None)` if it does not.
    pub(super) fn bracketed_literal(&mut self) -> Option<Option<Expr>> {
        match self.token() {
            Token::LeftBrace if self.has_operators() => self.braced_literal(),
            Token::LeftParen if self.has_operators() => match self.group(false, "")? {
                Group::Operand(side) => self.chain(side).map(Some),
                Group::Value => Some(None),
            },
            _ => Some(None),
        }
    }

    fn braced_literal(&mut self) -> Option<Option<Expr>> {
        let (saved, location) = (self.save(), self.here());
        self.scan();
        if let Some(body) = self.nested_body(Token::RightBrace, true) {
            self.scan();
            if self.logical_operator().is_some() {
                if is_ambiguous(&body, self.text) {
                    self.refuse_union(&location, &body, "");
                    return None;
                }
                return self.chain(explicit(body, location)).map(Some);
            }
        }
        self.read_again(saved)?;
        Some(None)
    }

    /// Parses the rest after an operand: further operands, then modifiers.
    pub(super) fn chain(&mut self, first: Side) -> Option<Expr> {
        let mut expression = self.operators(first)?;
        if self.token() == Token::With {
            expression.with = self.modifiers()?;
        }
        Some(expression)
    }

    /// Parses the operators after an operand; `and` binds tighter than `or`.
    fn operators(&mut self, first: Side) -> Option<Expr> {
        let mut left = self.conjunction(first)?;
        while self.token() == Token::LogicalOr {
            self.scan();
            let right = self.operand(Some(Connective::Or), "")?;
            let right = self.conjunction(right)?;
            left = self.connect(Connective::Or, left, right)?;
        }
        left.operand.body.pop()
    }

    fn conjunction(&mut self, first: Side) -> Option<Side> {
        let mut left = first;
        while self.token() == Token::LogicalAnd {
            self.scan();
            let right = self.operand(Some(Connective::And), "")?;
            left = self.connect(Connective::And, left, right)?;
        }
        Some(left)
    }

    fn connect(&mut self, connective: Connective, left: Side, right: Side) -> Option<Side> {
        for side in [&left, &right] {
            self.check_effects(&side.operand.body, connective);
        }
        let location = self.extended(&left.location);
        let operands = vec![left.operand, right.operand];
        let expression = self.logic(connective, operands, location)?;
        Some(Side::of(expression))
    }

    fn logic(
        &mut self,
        connective: Connective,
        operands: Vec<Operand>,
        location: Location,
    ) -> Option<Expr> {
        self.higher()?;
        let logic = Logic {
            connective,
            operands,
        };
        Some(Expr {
            location,
            ..self.new_expr(ExprTerms::Logic(Box::new(logic)))
        })
    }

    /// Returns the negation of an operand; its location extends from the `not` to the last token.
    fn negation(&mut self, operand: Operand, location: &Location) -> Option<Expr> {
        let location = self.extended(location);
        self.logic(Connective::Not, vec![operand], location)
    }

    /// Parses the operand of `not` if it is a body or a group; `Some(None)` if it is neither.
    pub(super) fn negated_bracket(&mut self, location: &Location) -> Option<Option<Side>> {
        let operand = match self.token() {
            Token::LeftBrace => self.operand(None, "not ")?.operand,
            Token::LeftParen => match self.group(true, "not ")? {
                Group::Operand(side) => side.operand,
                Group::Value => return Some(None),
            },
            _ => return Some(None),
        };
        Some(Some(Side::of(self.negation(operand, location)?)))
    }

    /// Negates a parsed expression; the modifiers of the expression become those of the negation.
    pub(super) fn negate(&mut self, mut expression: Expr, location: &Location) -> Option<Expr> {
        let with = std::mem::take(&mut expression.with);
        let negation = self.negation(implicit(expression), location)?;
        Some(Expr { with, ..negation })
    }

    /// Parses the operators after an expression that begins at a byte offset, if there are any.
    pub(super) fn operators_after(
        &mut self,
        expression: Expr,
        negated: bool,
        with: Option<&Location>,
    ) -> Option<Expr> {
        let Some(operator) = self.logical_operator() else {
            return Some(expression);
        };
        if let Some(with) = with {
            self.refuse_modifier(with, operator);
            return None;
        }
        let location = &expression.location;
        let text = text_of(location, self.text);
        if !negated && text.starts_with('{') {
            let is_empty = matches!(&expression.terms, ExprTerms::Term(term)
                if matches!(&term.value, TermValue::Object(members) if members.is_empty()));
            if is_empty {
                self.error_once(location, "found empty body");
            } else {
                self.refuse_brace(location, text, operator);
            }
            return None;
        }
        self.chain(Side::of(expression))
    }

    /// Parses an operand. Without a connective before it, the parse is an attempt that may fail.
    fn operand(&mut self, of: Option<Connective>, prefix: &str) -> Option<Side> {
        if self.token() == Token::LeftBrace {
            return self.braced_operand(of, prefix);
        }
        let not = (self.token() == Token::Not && !self.reference_ahead()).then(|| self.here());
        if not.is_some() {
            self.scan();
        }
        match &not {
            Some(not)
                if self.negates_bodies
                    && (self.token() == Token::LeftBrace || self.has_operators()) =>
            {
                if let Some(side) = self.negated_bracket(not)? {
                    return Some(side);
                }
            }
            None if self.token() == Token::LeftParen && self.has_operators() => {
                if let Group::Operand(side) = self.group(true, "")? {
                    return Some(side);
                }
            }
            _ => {}
        }
        let (location, start) = (self.here(), self.offset());
        let terms = self.expression()?;
        let mut expression = Expr {
            location: self.until_last(&location, start),
            ..self.new_expr(terms)
        };
        match &not {
            Some(not) if self.negates_bodies => expression = self.negate(expression, not)?,
            not => expression.negated = not.is_some(),
        }
        Some(Side::of(expression))
    }

    fn braced_operand(&mut self, of: Option<Connective>, prefix: &str) -> Option<Side> {
        let (saved, location) = (self.save(), self.here());
        self.scan();
        let is_empty = self.token() == Token::RightBrace;
        if let Some(body) = self.nested_body(Token::RightBrace, false) {
            self.scan();
            if is_ambiguous(&body, self.text) {
                self.refuse_union(&location, &body, prefix);
                // After `not` there is no alternative parse.
                if !prefix.is_empty() {
                    return None;
                }
            }
            return Some(explicit(body, location));
        }
        if is_empty || (of.is_none() && prefix.is_empty()) {
            return None;
        }
        // If the braces contain a value, that is the error to report.
        let before = saved.errors.min(self.errors.len());
        let mut errors = self.errors.split_off(before);
        let failed = self.save();
        self.read_again(saved)?;
        match self.infix() {
            Some(term) => {
                let text = self.slice(location.offset as usize, self.state.last_end);
                match of {
                    Some(operator) => self.refuse_brace(&location, text, operator),
                    None => self.refuse_value(&location, text, &term, prefix),
                }
            }
            None => {
                self.restore(failed);
                self.errors.truncate(before);
                self.errors.append(&mut errors);
            }
        }
        None
    }

    /// Parses parentheses that contain an operand, or are one because of the following tokens.
    fn group(&mut self, as_operand: bool, prefix: &str) -> Option<Group> {
        self.nested(|parser| parser.group_here(as_operand, prefix))
    }

    fn group_here(&mut self, as_operand: bool, prefix: &str) -> Option<Group> {
        let (saved, open) = (self.save(), self.here());
        self.scan();
        if self.token() == Token::RightParen {
            if as_operand {
                self.error(&open, "empty parenthesized group");
                return None;
            }
            self.restore(saved);
            return Some(Group::Value);
        }
        let Some(mut side) = self.operand(None, "") else {
            self.read_again(saved)?;
            return Some(Group::Value);
        };
        let Operand { body, explicit } = &mut side.operand;
        if self.logical_operator().is_some() {
            let expression = self.chain(side)?;
            return self.group_end(implicit(expression), &open);
        }
        match (self.token(), body.as_mut_slice()) {
            (Token::With, [only]) if !*explicit => {
                let with = self.here();
                only.with = self.modifiers()?;
                if let Some(operator) = self.logical_operator() {
                    self.refuse_modifier(&with, operator);
                    return None;
                }
                let group = self.group_end(side.operand, &open)?;
                if as_operand || self.logical_operator().is_some() {
                    return Some(group);
                }
            }
            _ if *explicit => {
                let text = self.slice(side.location.offset as usize, self.state.last_end);
                self.read_again(saved.clone())?;
                self.scan();
                let is_value = self.term().is_some();
                if !is_value {
                    self.restore(saved);
                    self.hint(format!(
                        "drop the parens to keep the body: `{prefix}{text}`"
                    ));
                    self.error(
                        &open,
                        "`(...)` in an operand position cannot contain a body",
                    );
                    return None;
                }
            }
            (_, [only]) if only.negated || matches!(only.terms, ExprTerms::Logic(_)) => {
                return self.group_end(side.operand, &open);
            }
            _ => {}
        }
        self.read_again(saved)?;
        Some(Group::Value)
    }

    fn group_end(&mut self, operand: Operand, open: &Location) -> Option<Group> {
        if self.token() != Token::RightParen {
            self.error_here("expected ) to close parenthesized group");
            return None;
        }
        self.scan();
        let location = self.extended(open);
        Some(Group::Operand(Side { operand, location }))
    }

    /// Backtracks to parse brackets again.
    fn read_again(&mut self, saved: Saved) -> Option<()> {
        self.read_again += self.offset().saturating_sub(saved.state.lexeme.start);
        let limit = self.text.len().saturating_mul(MAX_SECOND_READINGS);
        if self.read_again > limit.saturating_add(MAX_NESTING) {
            self.too_deep();
            return None;
        }
        self.restore(saved);
        Some(())
    }

    /// Returns a location, extended to the last token.
    fn extended(&self, location: &Location) -> Location {
        self.until_last(location, location.offset as usize)
    }

    /// Reports an operand that consists only of calls without results, which is always true.
    fn check_effects(&mut self, body: &[Expr], connective: Connective) {
        let mut first = None;
        for expression in body {
            let ExprTerms::Call(call) = &expression.terms else {
                return;
            };
            let name = call.first().map(ToString::to_string).unwrap_or_default();
            match signature(&name).filter(|function| function.void && !expression.negated) {
                Some(_) => first = first.or(Some((name, expression.location.clone()))),
                None => return,
            }
        }
        if let Some((name, location)) = first {
            self.hint(format!(
                "`{name}` produces no value and always succeeds, so the operand can never fail; \
                 move it out of the operand, or add an expression that can fail"
            ));
            let message = format!(
                "operand of `{}` cannot consist only of calls to `{name}`",
                connective.name()
            );
            self.error(&location, message);
        }
    }

    fn refuse_modifier(&mut self, with: &Location, operator: Connective) {
        let operator = operator.name();
        self.hint(format!(
            "Wrap the operand in `(...)` or `{{...}}` to scope, or move `with` after the \
             `{operator}` expression to apply it to the whole expression"
        ));
        let message = format!("`with` modifier is not allowed on operand of `{operator}`");
        self.error(with, message);
    }

    fn refuse_brace(&mut self, location: &Location, text: &str, operator: Connective) {
        let operator = operator.name();
        self.hint(format!(
            "wrap the operand to keep the value: `({text}) {operator} ...`"
        ));
        let message =
            format!("operand of `{operator}` cannot begin with `{{` unless the braces hold a body");
        self.error_once(location, message);
    }

    fn refuse_value(&mut self, location: &Location, text: &str, term: &Term, prefix: &str) {
        self.hint(format!(
            "write `{prefix}({text})` to negate the value, or `{prefix}{{{text}}}` for a body \
             holding it"
        ));
        let message = format!(
            "`{{...}}` in an operand position must contain expression(s), got: {}",
            first_value(term).value.kind()
        );
        self.error_once(location, message);
    }

    /// Reports braces with a bar in them, which look like a comprehension.
    fn refuse_union(&mut self, location: &Location, body: &[Expr], prefix: &str) {
        let start = location.offset as usize;
        let braces = self.slice(start, self.state.last_end);
        let union = body.first().map(|first| &first.location);
        let union = union.and_then(|union| {
            let from = (union.offset as usize).checked_sub(start)?;
            let to = from + union.length as usize;
            let parts = (
                braces.get(..from)?,
                braces.get(from..to)?,
                braces.get(to..)?,
            );
            Some(format!("{}({}){}", parts.0, parts.1, parts.2))
        });
        let union = union.unwrap_or_else(|| braces.to_owned());
        self.hint(format!(
            "write `{prefix}({braces})` for the comprehension, or `{prefix}{union}` for the set \
             union"
        ));
        self.error(
            location,
            "ambiguous `{ ... | ... }` operand: read as a body holding a set-union expression, \
             not as a comprehension",
        );
    }
}

fn implicit(expression: Expr) -> Operand {
    Operand {
        body: thin_vec![Expr {
            index: 0,
            ..expression
        }],
        explicit: false,
    }
}

fn explicit(body: Body, location: Location) -> Side {
    Side {
        operand: Operand {
            body,
            explicit: true,
        },
        location,
    }
}

fn text_of<'t>(location: &Location, text: &'t str) -> &'t str {
    let start = location.offset as usize;
    let end = start + location.length as usize;
    text.get(start..end).unwrap_or_default()
}

/// Whether a body begins with a union that is written with a bar and without parentheses.
fn is_ambiguous(body: &[Expr], text: &str) -> bool {
    let Some(first) = body.first() else {
        return false;
    };
    let ExprTerms::Call(call) = &first.terms else {
        return false;
    };
    call.first().is_some_and(|operator| {
        operator.value.global_name() == Some("or") && text_of(&operator.location, text) == "|"
    }) && !text_of(&first.location, text).trim_start().starts_with('(')
}

/// Returns the value at the beginning of a term: the first operand of nested operators.
fn first_value(term: &Term) -> &Term {
    let mut term = term;
    while let TermValue::Call(call) = &term.value
        && let [operator, first, ..] = call.as_slice()
        && let Some(function) = signature(&operator.to_string())
        && function.infix.is_some()
        && call.len() == function.arity + 1
    {
        term = first;
    }
    term
}
