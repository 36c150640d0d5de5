//! Bodies and their expressions.

use thin_vec::{ThinVec, thin_vec};

use super::{Parser, Saved};
use crate::syntax::token::{Keywords, Token};
use crate::syntax::{
    Body, Connective, Every, Expr, ExprTerms, Location, SomeDecl, Term, TermValue, Var, Version,
    With,
};

/// Limit for the text parsed for hints, in multiples of the source, so that nesting cannot multiply
/// it.
const MAX_HINTED: usize = 8;

impl Parser<'_> {
    /// Parses a body up to its closing token. An attempt may show that it is not a body, so its
    /// errors need no hints.
    pub(super) fn nested_body(&mut self, end: Token, attempt: bool) -> Option<Body> {
        self.nested(|parser| parser.body(end, attempt))
    }

    fn body(&mut self, end: Token, attempt: bool) -> Option<Body> {
        if self.token() == end {
            let here = self.here();
            self.error_once(&here, "found empty body");
            return None;
        }
        let mut body = Body::new();
        loop {
            append(&mut body, self.literal()?);
            if self.token() == Token::Semicolon {
                self.scan();
                continue;
            }
            if self.token() == end {
                body.shrink_to_fit();
                return Some(body);
            }
            if !self.state.after_line_break {
                if self.errors.is_empty() {
                    self.hint_infix_keyword(attempt);
                    let note = format!("expected \\n or ; or {}", end.name());
                    self.unexpected_but(&note);
                }
                return None;
            }
        }
    }

    /// Parses expressions outside of rules, as long as semicolons join them.
    pub(super) fn statement_body(&mut self) -> Option<Body> {
        let mut body = Body::new();
        loop {
            append(&mut body, self.literal()?);
            if self.token() != Token::Semicolon {
                return Some(body);
            }
            self.scan();
        }
    }

    /// Parses an expression with its modifiers and operators.
    pub(super) fn literal(&mut self) -> Option<Expr> {
        let (location, start) = (self.here(), self.offset());
        let outer = std::mem::take(&mut self.height);
        let expression = self.literal_here();
        self.height = self.height.max(outer);
        let mut expression = expression?;
        expression.location = self.until_last(&location, start);
        if let ExprTerms::Logic(logic) = &mut expression.terms
            && logic.connective == Connective::Not
        {
            // An operand that is negated without braces has the location of the negation.
            let operands = logic.operands.iter_mut();
            for operand in operands.filter(|operand| !operand.explicit) {
                for negated in &mut operand.body {
                    negated.location = expression.location.clone();
                }
            }
        }
        Some(expression)
    }

    fn literal_here(&mut self) -> Option<Expr> {
        if let Some(expression) = self.bracketed_literal()? {
            return Some(expression);
        }
        if self.reference_ahead() {
            return self.plain_literal(None);
        }
        let not = (self.token() == Token::Not).then(|| self.here());
        if not.is_some() {
            self.scan();
        }
        if let Some(not) = not.as_ref().filter(|_| self.negates_bodies)
            && let Some(side) = self.negated_bracket(not)?
        {
            return self.chain(side);
        }
        match self.token() {
            Token::Some if not.is_some() => {
                self.unexpected_but("illegal negation of 'some'");
                None
            }
            Token::Every if not.is_some() => {
                self.unexpected_but("illegal negation of 'every'");
                None
            }
            Token::Some => self.some(),
            Token::Every => self.every(),
            _ => self.plain_literal(not.as_ref()),
        }
    }

    /// Parses an expression that consists of terms, possibly after a `not`.
    fn plain_literal(&mut self, not: Option<&Location>) -> Option<Expr> {
        let (location, start) = (self.here(), self.offset());
        let saved = (self.version == Version::V0).then(|| self.save());
        let terms = self.expression()?;
        let mut expression = Expr {
            location: self.until_last(&location, start),
            ..self.new_expr(terms)
        };
        let with = (self.token() == Token::With).then(|| self.here());
        expression.with = self.modifiers()?;
        if let Some(saved) = saved
            && matches!(&expression.terms, ExprTerms::Term(term) if term.is_named("every"))
            && self.would_read(saved, |parser| parser.every().is_some())
        {
            self.hint("`import future.keywords.every` for `every x in xs { ... }` expressions");
        }
        match not {
            Some(not) if self.negates_bodies => expression = self.negate(expression, not)?,
            not => expression.negated = not.is_some(),
        }
        self.operators_after(expression, not.is_some(), with.as_ref())
    }

    pub(super) fn new_expr(&self, terms: ExprTerms) -> Expr {
        Expr {
            terms,
            negated: false,
            with: ThinVec::new(),
            index: 0,
            generated: false,
            assigned: false,
            location: self.here(),
        }
    }

    pub(super) fn expression(&mut self) -> Option<ExprTerms> {
        let left = self.infix()?;
        if let Some(operator) = self.assignment() {
            let right = self.infix()?;
            return Some(ExprTerms::Call(thin_vec![operator, left, right]));
        }
        Some(match left {
            Term {
                value: TermValue::Call(terms),
                ..
            } => ExprTerms::Call(terms),
            term => ExprTerms::Term(Box::new(term)),
        })
    }

    /// Parses the `with` modifiers, if there are any.
    pub(super) fn modifiers(&mut self) -> Option<ThinVec<With>> {
        let mut modifiers = ThinVec::new();
        while self.token() == Token::With {
            let (location, start) = (self.here(), self.offset());
            self.scan();
            if self.token() != Token::Ident {
                self.unexpected_but("expected ident");
                return None;
            }
            let target = self.term()?;
            if !matches!(target.value, TermValue::Ref(_) | TermValue::Var(_)) {
                self.unexpected_but("expected with target path");
            }
            if self.token() != Token::As {
                self.unexpected_but("expected as keyword");
                return None;
            }
            self.scan();
            let value = self.infix()?;
            modifiers.push(With {
                target,
                value,
                location: self.until_last(&location, start),
            });
        }
        Some(modifiers)
    }

    fn some(&mut self) -> Option<Expr> {
        let saved = self.save();
        self.scan();
        if let Some(term) = self.infix()
            && let TermValue::Call(call) = &term.value
        {
            if membership_operands(call).is_none() {
                let note = if is_membership(call) {
                    "illegal domain"
                } else {
                    "expected `x in xs` or `x, y in xs` expression"
                };
                self.unexpected_but(note);
                return None;
            }
            let with = self.modifiers()?;
            let symbols = thin_vec![term];
            return Some(Expr {
                with,
                ..self.new_expr(ExprTerms::Some(SomeDecl { symbols }))
            });
        }
        self.restore(saved.clone());
        if self.version == Version::V0 && self.would_read(saved, Self::membership_follows) {
            self.hint("`import future.keywords.in` for `some x in xs` expressions");
        }
        let mut symbols = ThinVec::new();
        loop {
            self.scan();
            if self.token() != Token::Ident {
                self.unexpected_but("expected var");
                return None;
            }
            symbols.push(self.variable());
            self.scan();
            if self.token() != Token::Comma {
                return Some(self.new_expr(ExprTerms::Some(SomeDecl { symbols })));
            }
        }
    }

    fn every(&mut self) -> Option<Expr> {
        self.scan();
        let term = self.infix()?;
        let (key, value, domain) = self.every_head(term)?;
        if self.token() != Token::LeftBrace {
            self.unexpected_but("missing body");
            return None;
        }
        self.scan();
        let body = self.nested_body(Token::RightBrace, false)?;
        self.scan();
        let with = self.modifiers()?;
        Some(Expr {
            with,
            ..self.new_expr(ExprTerms::Every(Box::new(Every {
                key,
                value,
                domain,
                body,
            })))
        })
    }

    fn every_head(&mut self, term: Term) -> Option<(Option<Term>, Term, Term)> {
        let call = match term.value {
            TermValue::Call(call) if is_membership(&call) => call,
            _ => {
                self.unexpected_but("expected `x[, y] in xs { ... }` expression");
                return None;
            }
        };
        let Some(operands) = membership_operands(&call).map(<[Term]>::to_vec) else {
            self.unexpected_but("illegal domain");
            return None;
        };
        let mut operands = operands.into_iter().rev();
        let (domain, value) = (operands.next()?, operands.next()?);
        let key = operands.next();
        let is_var = |term: &Term| matches!(term.value, TermValue::Var(_));
        if key.as_ref().is_some_and(|key| !is_var(key)) {
            self.unexpected_but("expected key to be a variable");
            return None;
        }
        if !is_var(&value) {
            self.unexpected_but("expected value to be a variable");
            return None;
        }
        Some((key, value, domain))
    }

    /// Adds a hint about an import if the import would make the token continue the expression.
    fn hint_infix_keyword(&mut self, attempt: bool) {
        if !self.hints.is_empty() || self.hinting {
            return;
        }
        let (keyword, example) = match (self.token(), self.lexeme()) {
            (Token::Ident, "in") => ("in", "x in xs"),
            (Token::Ident, "and") => ("and", "x and y"),
            (Token::Ident, "or") => ("or", "x or y"),
            // A comma within an attempted comprehension ends the attempt without an error.
            (Token::Comma, _) if !attempt && self.membership_is_next() => ("in", "x in xs"),
            _ => return,
        };
        self.hint(format!(
            "`import future.keywords.{keyword}` for `{example}` expressions"
        ));
    }

    fn membership_is_next(&mut self) -> bool {
        let saved = self.save();
        self.would_read(saved, Self::membership_follows)
    }

    /// Whether the term after the token contains an operator `in`.
    fn membership_follows(&mut self) -> bool {
        self.scan();
        matches!(self.infix(), Some(Term { value: TermValue::Call(call), .. })
            if is_membership(&call))
    }

    /// Whether a parse from a position would succeed with all keywords enabled. Restores the state.
    fn would_read(&mut self, from: Saved, read: impl FnOnce(&mut Self) -> bool) -> bool {
        if self.hinting || self.hinted > self.text.len().saturating_mul(MAX_HINTED) {
            return false;
        }
        let saved = self.save();
        let keywords = std::mem::replace(&mut self.keywords, Keywords::ALL);
        let plain = std::mem::take(&mut self.plain);
        self.restore(from);
        let start = self.offset();
        self.hinting = true;
        let found = read(self);
        self.hinting = false;
        self.hinted += self.offset().saturating_sub(start);
        self.plain = plain;
        self.keywords = keywords;
        self.restore(saved);
        found
    }
}

impl Expr {
    /// Whether the expression is only a set.
    pub(super) fn is_set(&self) -> bool {
        matches!(&self.terms, ExprTerms::Term(term) if matches!(term.value, TermValue::Set(_)))
    }
}

impl Term {
    /// Whether the expression is only the variable of this name.
    fn is_named(&self, name: &str) -> bool {
        matches!(&self.value, TermValue::Var(Var(own)) if **own == *name)
    }
}

/// Appends an expression, and sets its index.
pub(super) fn append(body: &mut Body, expression: Expr) {
    body.push(Expr {
        index: body.len(),
        ..expression
    });
}

/// Returns the generated body of a rule without one.
pub(super) fn generated_body(location: &Location) -> Body {
    let true_term = Term {
        value: TermValue::Bool(true),
        location: location.clone(),
    };
    thin_vec![Expr {
        terms: ExprTerms::Term(Box::new(true_term)),
        negated: false,
        with: ThinVec::new(),
        index: 0,
        generated: true,
        assigned: false,
        location: location.clone(),
    }]
}

/// Returns the arity of the called `in` function, if the call is one.
fn membership_arity(call: &[Term]) -> Option<usize> {
    let TermValue::Ref(operator) = &call.first()?.value else {
        return None;
    };
    match operator.as_slice() {
        [
            Term {
                value: TermValue::Var(module),
                ..
            },
            Term {
                value: TermValue::String(name),
                ..
            },
        ] if &*module.0 == "internal" => match &**name {
            "member_2" => Some(2),
            "member_3" => Some(3),
            _ => None,
        },
        _ => None,
    }
}

fn is_membership(call: &[Term]) -> bool {
    membership_arity(call).is_some()
}

/// Returns the operands of a call of an `in` function without an operand for the result.
fn membership_operands(call: &[Term]) -> Option<&[Term]> {
    let operands = call.get(1..)?;
    (membership_arity(call)? == operands.len()).then_some(operands)
}
