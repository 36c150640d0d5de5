//! Parses pipelines and their commands.

use super::functions::function;
use super::node::{Command, Operand, Pipeline, Term};
use super::parse::{AbortReason, Parser};
use super::token::{Kind, Token};
use super::{number, unquote};

impl<'t> Parser<'_, '_, 't> {
    /// Parses commands up to the token that ends them.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipeline, AbortReason> {
        let mut pipeline = Pipeline {
            at: self.peek_visible().at,
            ..Pipeline::default()
        };
        self.declarations(context, &mut pipeline)?;
        loop {
            let token = self.next_visible();
            match token.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::Character
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawText
                | Kind::Quoted
                | Kind::Variable
                | Kind::LeftParen => {
                    self.put_back(token);
                    pipeline.commands.push(self.command()?);
                }
                _ => return self.unexpected(token, context),
            }
        }
        self.checked(context, pipeline)
    }

    fn checked(&self, context: &str, pipeline: Pipeline) -> Result<Pipeline, AbortReason> {
        if pipeline.commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        // Only the first command can be a constant.
        for (at, command) in pipeline.commands.iter().enumerate().skip(1) {
            let first = command.operands.first();
            if let Some(Term::Bool(_) | Term::Dot | Term::Nil | Term::Number(..) | Term::Text(..)) =
                first.map(|operand| &operand.term)
            {
                let stage = at + 1;
                return self.fail(format!("non executable command in pipeline stage {stage}"));
            }
        }
        Ok(pipeline)
    }

    /// Parses the variables that receive the result of a pipeline.
    fn declarations(&mut self, context: &str, pipeline: &mut Pipeline) -> Result<(), AbortReason> {
        loop {
            let variable = self.peek_visible();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            let following = self.peek();
            let next = self.peek_visible();
            let is_comma = next.kind == Kind::Other && next.text == ",";
            if !is_comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
                // Without an equals sign it is an operand.
                if following.kind == Kind::Space {
                    self.put_back(following);
                }
                self.put_back(variable);
                return Ok(());
            }
            self.next_visible();
            pipeline.declares = next.kind != Kind::Assign;
            pipeline.variables.push(variable.text.to_owned());
            self.scope.variables.push(variable.text.to_owned());
            if !is_comma {
                return Ok(());
            }
            if context != "range" || pipeline.variables.len() > 1 {
                return self.fail(format!("too many declarations in {context}"));
            }
            let next = self.peek_visible();
            if !matches!(next.kind, Kind::Variable | Kind::Close | Kind::RightParen) {
                return self.fail("range can only initialize variables");
            }
        }
    }

    fn command(&mut self) -> Result<Command, AbortReason> {
        let mut command = Command {
            at: self.peek_visible().at,
            operands: Vec::new(),
        };
        loop {
            self.peek_visible();
            if let Some(operand) = self.operand()? {
                command.operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::Close | Kind::RightParen => self.put_back(token),
                Kind::Pipe => {}
                _ => return self.unexpected(token, "operand"),
            }
            break;
        }
        match command.operands.is_empty() {
            true => self.fail("empty command"),
            false => Ok(command),
        }
    }

    /// Parses a term with its fields.
    fn operand(&mut self) -> Result<Option<Operand>, AbortReason> {
        let token = self.next_visible();
        let Some((term, field)) = self.term(token)? else {
            self.put_back(token);
            return Ok(None);
        };
        let inner = match &term {
            Term::Pipeline(pipeline) => pipeline.at,
            _ => token.at,
        };
        let mut operand = Operand {
            at: inner,
            inner,
            term,
            fields: field.into_iter().collect(),
        };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(operand));
        }
        operand.at = first.at;
        while self.peek().kind == Kind::Field {
            operand.fields.push(field_name(self.next()));
        }
        if let Term::Bool(_) | Term::Text(..) | Term::Number(..) | Term::Nil | Term::Dot =
            operand.term
        {
            let term = operand.term.to_string();
            return self.fail(format!("unexpected . after term {term:?}"));
        }
        Ok(Some(operand))
    }

    /// Parses the term that begins with this token. For a field, also returns its name.
    fn term(&mut self, token: Token<'t>) -> Result<Option<(Term, Option<String>)>, AbortReason> {
        let text = token.text;
        Ok(Some((
            match token.kind {
                Kind::Identifier => match function(text) {
                    Some(function) => Term::Function(function),
                    None => return self.fail(format!("function {text:?} not defined")),
                },
                Kind::Dot => Term::Dot,
                Kind::Nil => Term::Nil,
                Kind::Variable => {
                    self.call.spend(self.scope.variables.len() / 8)?;
                    if !self.scope.variables.iter().any(|known| known == text) {
                        return self.fail(format!("undefined variable {text:?}"));
                    }
                    Term::Variable(text.to_owned())
                }
                Kind::Field => return Ok(Some((Term::Fields, Some(field_name(token))))),
                Kind::Bool => Term::Bool(text == "true"),
                Kind::Character | Kind::Complex | Kind::Number => {
                    let number = match token.kind {
                        Kind::Character => number::of_character(text),
                        Kind::Complex => number::of_parts(text),
                        _ => number::of_text(text),
                    };
                    match number {
                        Ok(number) => Term::Number(number, text.to_owned()),
                        Err(message) => return self.fail(message),
                    }
                }
                Kind::LeftParen => Term::Pipeline(self.deeper(|parser| {
                    parser.pipeline("parenthesized pipeline", Kind::RightParen)
                })?),
                Kind::Quoted | Kind::RawText => match unquote::string(text) {
                    Some(decoded) => Term::Text(decoded, text.to_owned()),
                    None => return self.fail("invalid syntax"),
                },
                _ => return Ok(None),
            },
            None,
        )))
    }
}

fn field_name(token: Token<'_>) -> String {
    token.text.strip_prefix('.').unwrap_or_default().to_owned()
}
