//! Parses the common parts of queries and schemas: values, types, directives.

use super::ast::{Argument, Child, Comments, Directive, Type, Value, kind};
use super::error::{GraphqlError, Result};
use super::lexer::{Kind, Lexer, Token};

/// Maximum nesting depth of selections, values and types.
pub(super) const MAX_DEPTH: usize = 128;

#[derive(Debug)]
pub(super) struct Parser<'t> {
    lexer: Lexer<'t>,
    peeked: Token,
    depth: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut lexer = Lexer::new(text);
        let peeked = lexer.next();
        Self {
            lexer,
            peeked,
            depth: 0,
        }
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> &Token {
        &self.peeked
    }

    /// Returns the comments before the next token.
    pub(super) fn comments(&self) -> Option<Comments> {
        self.peeked.comments.clone()
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peeked.kind, Kind::Mark(peeked) if peeked == mark)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        self.peeked.kind == Kind::Name && self.peeked.text == name
    }

    /// Consumes the next token.
    pub(super) fn next(&mut self) -> Result<Token> {
        if self.peeked.kind == Kind::Invalid {
            return Err(GraphqlError::at(
                self.peeked.position,
                self.peeked.text.clone(),
            ));
        }
        let next = self.lexer.next();
        Ok(std::mem::replace(&mut self.peeked, next))
    }

    pub(super) fn unexpected<T>(&self) -> Result<T> {
        Err(unexpected(&self.peeked))
    }

    /// Consumes a punctuator if it is next.
    pub(super) fn skip(&mut self, mark: &str) -> Result<bool> {
        let found = self.is(mark);
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// Consumes a punctuator, which must be next.
    pub(super) fn expect(&mut self, mark: &str) -> Result<()> {
        if self.skip(mark)? {
            return Ok(());
        }
        self.expected(mark)
    }

    fn expected<T>(&self, expected_token: &str) -> Result<T> {
        let found = self.peeked.kind;
        Err(GraphqlError::at(
            self.peeked.position,
            format!("Expected {expected_token}, found {found}"),
        ))
    }

    pub(super) fn keyword(&mut self, word: &str) -> Result<Token> {
        if self.is_name(word) {
            return self.next();
        }
        Err(GraphqlError::at(
            self.peeked.position,
            format!("Expected \"{word}\", found {}", self.peeked),
        ))
    }

    pub(super) fn name(&mut self) -> Result<String> {
        match self.peeked.kind {
            Kind::Name => Ok(self.next()?.text),
            _ => self.expected("Name"),
        }
    }

    /// Parses one nesting level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(GraphqlError::at(
                self.peeked.position,
                format!("Nested too deep, {MAX_DEPTH} levels are allowed"),
            ));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Parses one or more items between two punctuators if the first one is next; also returns the
    /// comments before the last one.
    pub(super) fn some<T>(
        &mut self,
        (start, end): (&str, &str),
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<(Vec<T>, Option<Comments>)> {
        let mut items = Vec::new();
        if !self.skip(start)? {
            return Ok((items, None));
        }
        while !self.is(end) {
            items.push(read(self)?);
        }
        if items.is_empty() {
            return Err(GraphqlError::at(
                self.peeked.position,
                format!("expected at least one definition, found {end}"),
            ));
        }
        let comments = self.comments();
        self.next()?;
        Ok((items, comments))
    }

    pub(super) fn value(&mut self, constant: bool) -> Result<Value> {
        let position = self.peek().position;
        let comment = self.comments();
        let kind = match self.peek().kind {
            Kind::Mark("[") => {
                let children = self.nested(|parser| parser.list(constant))?;
                return Ok(Value {
                    children,
                    kind: kind::LIST,
                    comment,
                    position,
                    ..Value::default()
                });
            }
            Kind::Mark("{") => {
                let children = self.nested(|parser| parser.members(constant))?;
                return Ok(Value {
                    children,
                    kind: kind::OBJECT,
                    comment,
                    position,
                    ..Value::default()
                });
            }
            Kind::Mark("$") if !constant => {
                self.next()?;
                return Ok(Value {
                    raw: self.name()?,
                    kind: kind::VARIABLE,
                    position,
                    ..Value::default()
                });
            }
            Kind::Int => kind::INT,
            Kind::Float => kind::FLOAT,
            Kind::String => kind::STRING,
            Kind::Block => kind::BLOCK,
            Kind::Name => match self.peek().text.as_str() {
                "true" | "false" => kind::BOOLEAN,
                "null" => kind::NULL,
                _ => kind::ENUM,
            },
            _ => return self.unexpected(),
        };
        Ok(Value {
            raw: self.next()?.text,
            kind,
            position,
            ..Value::default()
        })
    }

    fn list(&mut self, constant: bool) -> Result<Vec<Child>> {
        self.next()?;
        let mut children = Vec::new();
        while !self.skip("]")? {
            children.push(Child {
                value: self.value(constant)?,
                ..Child::default()
            });
        }
        Ok(children)
    }

    fn members(&mut self, constant: bool) -> Result<Vec<Child>> {
        self.next()?;
        let mut children = Vec::new();
        while !self.skip("}")? {
            let position = self.peek().position;
            let comment = self.comments();
            let name = self.name()?;
            self.expect(":")?;
            children.push(Child {
                name,
                value: self.value(constant)?,
                comment,
                position,
            });
        }
        Ok(children)
    }

    pub(super) fn directives(&mut self, constant: bool) -> Result<Vec<Directive>> {
        let mut directives = Vec::new();
        while self.skip("@")? {
            directives.push(Directive {
                position: self.peek().position,
                name: self.name()?,
                arguments: self.arguments(constant)?,
                location: String::new(),
            });
        }
        Ok(directives)
    }

    pub(super) fn arguments(&mut self, constant: bool) -> Result<Vec<Argument>> {
        let (arguments, _) = self.some(("(", ")"), |parser| {
            let position = parser.peek().position;
            let comment = parser.comments();
            let name = parser.name()?;
            parser.expect(":")?;
            Ok(Argument {
                name,
                value: parser.value(constant)?,
                comment,
                position,
            })
        })?;
        Ok(arguments)
    }

    pub(super) fn type_reference(&mut self) -> Result<Type> {
        let list = self.skip("[")?;
        let position = self.peek().position;
        let mut reference = Type {
            position,
            ..Type::default()
        };
        if list {
            reference.elem = Some(Box::new(self.nested(Self::type_reference)?));
            self.expect("]")?;
        } else {
            reference.named_type = self.name()?;
        }
        reference.non_null = self.skip("!")?;
        Ok(reference)
    }
}

/// Returns the error of an unexpected token.
pub(super) fn unexpected(token: &Token) -> GraphqlError {
    GraphqlError::at(token.position, format!("Unexpected {token}"))
}
