//! Parses templates.

use super::node::{Branches, Invocation, Node, Pipeline, Templates, is_empty};
use super::token::{Kind, Token, Tokens};
use super::{TemplateError, unquote};
use crate::builtins::{Call, Failure};
use crate::value::quoted_bytes;

/// Maximum nesting depth of actions and parentheses.
pub(super) const MAX_DEPTH: usize = 200;

/// Syntax error, or the end of the evaluation.
#[derive(Debug)]
pub(super) enum AbortReason {
    Mistake(TemplateError),
    Failure(Failure),
}

impl From<Failure> for AbortReason {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Parses a template and the templates that it defines.
pub(super) fn parsed(call: &Call<'_>, name: &str, text: &str) -> Result<Templates, AbortReason> {
    let mut parser = Parser {
        call,
        tokens: Tokens::new(text),
        ahead: Vec::new(),
        line: 1,
        scope: Scope::default(),
        depth: 0,
        templates: Templates::new(),
    };
    let nodes = parser.parse_all()?;
    parser.add(name.as_bytes().to_owned(), nodes)?;
    Ok(parser.templates)
}

pub(super) struct Parser<'p, 'c, 't> {
    pub(super) call: &'p Call<'c>,
    tokens: Tokens<'t>,
    /// Lookahead tokens, the next one last.
    ahead: Vec<Token<'t>>,
    /// Line of the last token.
    line: usize,
    pub(super) scope: Scope,
    depth: usize,
    templates: Templates,
}

/// Scope of one template.
pub(super) struct Scope {
    pub(super) variables: Vec<String>,
    /// Number of enclosing loops.
    ranges: usize,
    /// Line on which the current action starts.
    action: Option<usize>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            variables: vec!["$".to_owned()],
            ranges: 0,
            action: None,
        }
    }
}

/// Token that ended a list of nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Else,
}

impl End {
    fn text(self) -> &'static str {
        match self {
            Self::Closed => "{{end}}",
            Self::Else => "{{else}}",
        }
    }
}

enum ParsedItem {
    Node(Node),
    End(End),
}

impl<'t> Parser<'_, '_, 't> {
    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, AbortReason> {
        Err(AbortReason::Mistake(TemplateError {
            line: self.line,
            message: message.into(),
        }))
    }

    pub(super) fn unexpected<T>(&self, token: Token<'t>, context: &str) -> Result<T, AbortReason> {
        if token.kind != Kind::Invalid {
            return self.fail(format!("unexpected {token} in {context}"));
        }
        let message = self.tokens.error_message();
        let action = self.scope.action.filter(|line| *line != token.line);
        let Some(line) = action else {
            return self.fail(message);
        };
        let word = if message.ends_with(" action") {
            ""
        } else {
            " in action"
        };
        self.fail(format!("{message}{word} started at template:{line}"))
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        self.ahead.pop().unwrap_or_else(|| {
            let token = self.tokens.next();
            self.line = token.line;
            token
        })
    }

    pub(super) fn next_visible(&mut self) -> Token<'t> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    pub(super) fn put_back(&mut self, token: Token<'t>) {
        self.ahead.push(token);
    }

    pub(super) fn peek(&mut self) -> Token<'t> {
        let token = self.next();
        self.put_back(token);
        token
    }

    pub(super) fn peek_visible(&mut self) -> Token<'t> {
        let token = self.next_visible();
        self.put_back(token);
        token
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<(), AbortReason> {
        let token = self.next_visible();
        match token.kind == kind {
            true => Ok(()),
            false => self.unexpected(token, context),
        }
    }

    /// Parses one nesting level deeper.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, AbortReason>,
    ) -> Result<T, AbortReason> {
        self.call.check()?;
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deep");
        }
        self.depth += 1;
        let read = stacker::maybe_grow(64 << 10, 1 << 20, || read(self));
        self.depth -= 1;
        read
    }

    fn parse_all(&mut self) -> Result<Vec<Node>, AbortReason> {
        let mut nodes = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => return Ok(nodes),
                Kind::Open => {
                    let open = self.next();
                    let word = self.next_visible();
                    if word.kind == Kind::Keyword && word.text == "define" {
                        self.definition()?;
                        continue;
                    }
                    self.put_back(word);
                    self.put_back(open);
                }
                _ => {}
            }
            match self.part()? {
                ParsedItem::Node(node) => nodes.push(node),
                ParsedItem::End(end) => return self.fail(format!("unexpected {}", end.text())),
            }
        }
    }

    /// Parses a nested template definition, after its name.
    fn named(&mut self, name: Vec<u8>, context: &str, outer: Scope) -> Result<(), AbortReason> {
        let (nodes, end) = self.deeper(Self::nodes)?;
        if end == End::Else {
            return self.fail(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.scope = outer;
        self.add(name, nodes)
    }

    /// Adds a template, unless it is empty and the name is already defined.
    fn add(&mut self, name: Vec<u8>, nodes: Vec<Node>) -> Result<(), AbortReason> {
        let known = self.templates.get(&name);
        if known.is_none_or(|known| is_empty(known)) {
            self.templates.insert(name, nodes);
        } else if !is_empty(&nodes) {
            let name = quoted_bytes(&name);
            let message = format!("template: multiple definition of template {name}");
            return self.fail(message);
        }
        Ok(())
    }

    fn definition(&mut self) -> Result<(), AbortReason> {
        const CONTEXT: &str = "define clause";
        let outer = std::mem::take(&mut self.scope);
        let name = self.name(CONTEXT)?;
        self.expect(Kind::Close, CONTEXT)?;
        self.named(name, CONTEXT, outer)
    }

    /// Parses the name of a template.
    fn name(&mut self, context: &str) -> Result<Vec<u8>, AbortReason> {
        let token = self.next_visible();
        match token.kind {
            Kind::Quoted | Kind::RawText => match unquote::string(token.text) {
                Some(name) => Ok(name),
                None => self.fail("invalid syntax"),
            },
            _ => self.unexpected(token, context),
        }
    }

    /// Parses nodes up to the end of the enclosing action.
    fn nodes(&mut self) -> Result<(Vec<Node>, End), AbortReason> {
        let mut nodes = Vec::new();
        while self.peek_visible().kind != Kind::End {
            match self.part()? {
                ParsedItem::Node(node) => nodes.push(node),
                ParsedItem::End(end) => return Ok((nodes, end)),
            }
        }
        self.fail("unexpected EOF")
    }

    fn part(&mut self) -> Result<ParsedItem, AbortReason> {
        self.call.check()?;
        let token = self.next_visible();
        match token.kind {
            Kind::Text => Ok(ParsedItem::Node(Node::Text(token.text.to_owned()))),
            Kind::Open => {
                self.scope.action = Some(token.line);
                let part = self.action();
                self.scope.action = None;
                part
            }
            _ => self.unexpected(token, "input"),
        }
    }

    fn action(&mut self) -> Result<ParsedItem, AbortReason> {
        let token = self.next_visible();
        let word = match token.kind {
            Kind::Keyword => token.text,
            _ => "",
        };
        Ok(ParsedItem::Node(match word {
            "block" => self.block()?,
            "break" => self.leave("{{break}}", Node::Break)?,
            "continue" => self.leave("{{continue}}", Node::Continue)?,
            "else" => {
                let next = self.peek_visible();
                if next.kind != Kind::Keyword || !matches!(next.text, "if" | "with") {
                    self.expect(Kind::Close, "else")?;
                }
                return Ok(ParsedItem::End(End::Else));
            }
            "end" => {
                self.expect(Kind::Close, "end")?;
                return Ok(ParsedItem::End(End::Closed));
            }
            "if" => Node::If(self.branches("if")?),
            "with" => Node::With(self.branches("with")?),
            "range" => self.range()?,
            "template" => {
                let at = self.peek_visible().at;
                let name = self.name("template clause")?;
                let next = self.next_visible();
                let mut with = None;
                if next.kind != Kind::Close {
                    self.put_back(next);
                    with = Some(self.pipeline("template clause", Kind::Close)?);
                }
                Node::Template(Invocation { at, name, with })
            }
            _ => {
                self.put_back(token);
                Node::Output(self.pipeline("command", Kind::Close)?)
            }
        }))
    }

    fn leave(&mut self, keyword: &str, node: Node) -> Result<Node, AbortReason> {
        self.expect(Kind::Close, keyword)?;
        match self.scope.ranges {
            0 => self.fail(format!("{keyword} outside {{{{range}}}}")),
            _ => Ok(node),
        }
    }

    fn block(&mut self) -> Result<Node, AbortReason> {
        const CONTEXT: &str = "block clause";
        let at = self.peek_visible().at;
        let name = self.name(CONTEXT)?;
        let with = Some(self.pipeline(CONTEXT, Kind::Close)?);
        let outer = std::mem::take(&mut self.scope);
        self.named(name.clone(), CONTEXT, outer)?;
        Ok(Node::Template(Invocation { at, name, with }))
    }

    /// Parses an action such as `if`, after the word; `else` and the same word may continue it.
    fn branches(&mut self, word: &str) -> Result<Branches, AbortReason> {
        let known = self.scope.variables.len();
        let mut branches = Branches::default();
        loop {
            self.call.check()?;
            let condition = self.pipeline(word, Kind::Close)?;
            let (body, end) = self.deeper(Self::nodes)?;
            branches.conditions.push((condition, body));
            if end == End::Closed {
                break;
            }
            let next = self.peek();
            if next.kind == Kind::Keyword && next.text == word {
                self.next();
                continue;
            }
            branches.otherwise = self.otherwise()?;
            break;
        }
        self.scope.variables.truncate(known);
        Ok(branches)
    }

    /// Parses the `else` branch up to the end.
    fn otherwise(&mut self) -> Result<Vec<Node>, AbortReason> {
        let (nodes, end) = self.deeper(Self::nodes)?;
        match end {
            End::Closed => Ok(nodes),
            End::Else => self.fail("expected end; found {{else}}"),
        }
    }

    fn range(&mut self) -> Result<Node, AbortReason> {
        let known = self.scope.variables.len();
        let pipeline: Pipeline = self.pipeline("range", Kind::Close)?;
        self.scope.ranges += 1;
        let (body, end) = self.deeper(Self::nodes)?;
        self.scope.ranges -= 1;
        let otherwise = match end {
            End::Closed => Vec::new(),
            End::Else => self.otherwise()?,
        };
        self.scope.variables.truncate(known);
        Ok(Node::Range(pipeline, body, otherwise))
    }
}
