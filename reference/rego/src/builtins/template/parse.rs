//! Reads templates.

/// A part of a template.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Output(Pipeline),
    /// Conditions in their order, and what is done when none holds.
    If(Vec<(Pipeline, Vec<Node>)>, Vec<Node>),
    With(Pipeline, Vec<Node>, Vec<Node>),
    Range(Pipeline, Vec<Node>, Vec<Node>),
    Break,
    Continue,
}

/// Commands, each with the result of the one before as its last operand.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    /// The variables that take the result, and whether they are declared here.
    pub(super) variables: Vec<String>,
    pub(super) declares: bool,
    pub(super) commands: Vec<Vec<Operand>>,
}

/// What a command is made of.
#[derive(Debug)]
pub(super) enum Operand {
    /// A value, and the fields to look up in it one after the other.
    Field(Box<Start>, Vec<String>),
    Function(String),
}

#[derive(Debug)]
pub(super) enum Start {
    Dot,
    Variable(String),
    Text(String),
    Integer(i64),
    Number(String),
    Bool(bool),
    Nil,
    Pipeline(Pipeline),
}

/// The line of a mistake, and what is wrong.
type Mistake = (usize, String);

/// Actions and parentheses may be nested so deep.
pub(super) const MAX_DEPTH: usize = 100;

pub(super) const FUNCTIONS: &[&str] = &[
    "and", "eq", "ge", "gt", "index", "le", "len", "lt", "ne", "not", "or", "print", "printf",
    "println",
];

/// Reads a whole template.
pub(super) fn parsed(text: &str) -> Result<Vec<Node>, Mistake> {
    let mut parser = Parser {
        text,
        at: 0,
        variables: vec!["$".to_owned()],
    };
    let (nodes, end) = parser.nodes(0)?;
    match end {
        End::Text => Ok(nodes),
        End::Closed => parser.wrong("unexpected {{end}}"),
        End::Else(_) => parser.wrong("unexpected {{else}}"),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The variables that are known here.
    variables: Vec<String>,
}

/// What ended a list of nodes.
enum End<'t> {
    Text,
    Closed,
    /// An `else`, and the action behind it.
    Else(&'t str),
}

impl<'t> Parser<'t> {
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Mistake> {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        Err((before.matches('\n').count() + 1, message.into()))
    }

    /// Reads up to the end of the text or of the action around.
    fn nodes(&mut self, depth: usize) -> Result<(Vec<Node>, End<'t>), Mistake> {
        if depth > MAX_DEPTH {
            return self.wrong("nested too deep");
        }
        let mut nodes = Vec::new();
        let mut trim = false;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest.split("{{").next().unwrap_or(rest);
            let behind = rest.get(plain.len()..).unwrap_or_default();
            let shown = if trim { plain.trim_start() } else { plain };
            let trims_before = behind.starts_with("{{- ") || behind.starts_with("{{-\n");
            let shown = if trims_before {
                shown.trim_end()
            } else {
                shown
            };
            if !shown.is_empty() {
                nodes.push(Node::Text(shown.to_owned()));
            }
            self.at += plain.len();
            if behind.is_empty() {
                return Ok((nodes, End::Text));
            }
            let action = self.action()?;
            trim = action.1;
            let action = action.0;
            if action.starts_with("/*") {
                continue;
            }
            let word = action
                .split([' ', '\t', '\n', '('])
                .next()
                .unwrap_or_default();
            let rest = action.get(word.len()..).unwrap_or_default().trim();
            let known = self.variables.len();
            match word {
                "end" => return Ok((nodes, End::Closed)),
                "else" => return Ok((nodes, End::Else(rest))),
                "break" => nodes.push(Node::Break),
                "continue" => nodes.push(Node::Continue),
                "if" => {
                    nodes.push(self.condition(rest, depth)?);
                    self.variables.truncate(known);
                }
                "with" | "range" => {
                    let pipeline = self.pipeline(rest)?;
                    let (body, otherwise) = self.body(depth)?;
                    self.variables.truncate(known);
                    nodes.push(match word {
                        "with" => Node::With(pipeline, body, otherwise),
                        _ => Node::Range(pipeline, body, otherwise),
                    });
                }
                _ => nodes.push(Node::Output(self.pipeline(action)?)),
            }
        }
    }

    /// Reads the inside of an action, and whether blanks behind it go.
    fn action(&mut self) -> Result<(&'t str, bool), Mistake> {
        let from = self.at + 2;
        let inside = self.text.get(from..).unwrap_or_default();
        let mut quote = None;
        let mut characters = inside.char_indices();
        while let Some((at, character)) = characters.next() {
            match (character, quote) {
                ('\\', Some('"')) => {
                    characters.next();
                }
                (character, Some(open)) if character == open => quote = None,
                (_, Some(_)) => {}
                ('"' | '`', None) => quote = Some(character),
                ('}', None) if inside.get(at..).is_some_and(|rest| rest.starts_with("}}")) => {
                    let whole = inside.get(..at).unwrap_or_default();
                    self.at = from + at + 2;
                    let trims = whole.ends_with(" -") || whole.ends_with("\n-");
                    let whole = if trims {
                        whole.get(..at - 1).unwrap_or(whole)
                    } else {
                        whole
                    };
                    let whole = whole.strip_prefix("- ").unwrap_or(whole);
                    return Ok((whole.trim(), trims));
                }
                _ => {}
            }
        }
        self.wrong("unclosed action")
    }

    fn condition(&mut self, first: &'t str, depth: usize) -> Result<Node, Mistake> {
        let mut branches = Vec::new();
        let mut condition = self.pipeline(first)?;
        loop {
            let (body, end) = self.nodes(depth + 1)?;
            branches.push((condition, body));
            match end {
                End::Closed => return Ok(Node::If(branches, Vec::new())),
                End::Text => return self.wrong("unexpected EOF"),
                End::Else(rest) => match rest.strip_prefix("if ") {
                    Some(rest) => condition = self.pipeline(rest)?,
                    None => {
                        let (otherwise, end) = self.nodes(depth + 1)?;
                        return match end {
                            End::Closed => Ok(Node::If(branches, otherwise)),
                            End::Else(_) => self.wrong("expected end; found {{else}}"),
                            End::Text => self.wrong("unexpected EOF"),
                        };
                    }
                },
            }
        }
    }

    fn body(&mut self, depth: usize) -> Result<(Vec<Node>, Vec<Node>), Mistake> {
        let (body, end) = self.nodes(depth + 1)?;
        match end {
            End::Closed => return Ok((body, Vec::new())),
            End::Text => return self.wrong("unexpected EOF"),
            End::Else(_) => {}
        }
        let (otherwise, end) = self.nodes(depth + 1)?;
        match end {
            End::Closed => Ok((body, otherwise)),
            End::Else(_) => self.wrong("expected end; found {{else}}"),
            End::Text => self.wrong("unexpected EOF"),
        }
    }

    fn pipeline(&mut self, text: &'t str) -> Result<Pipeline, Mistake> {
        let mut rest = text.trim_start();
        let pipeline = self.piped(&mut rest, 0)?;
        match rest.chars().next() {
            None if pipeline.commands.is_empty() => self.wrong("missing value for command"),
            None => Ok(pipeline),
            Some(other) => self.wrong(format!("unexpected {other:?} in command")),
        }
    }

    /// Reads commands up to the end or a closing parenthesis.
    fn piped(&mut self, rest: &mut &'t str, depth: usize) -> Result<Pipeline, Mistake> {
        if depth > MAX_DEPTH {
            return self.wrong("nested too deep");
        }
        let mut pipeline = Pipeline::default();
        if let Some((names, behind, declares)) = declared(rest) {
            *rest = behind.trim_start();
            for name in &names {
                if !declares && !self.variables.contains(name) {
                    return self.wrong(format!("undefined variable {name:?}"));
                }
            }
            pipeline.variables = names;
            pipeline.declares = declares;
        }
        let mut command = Vec::new();
        loop {
            *rest = rest.trim_start();
            match rest.chars().next() {
                None | Some(')') => break,
                Some('|') => {
                    *rest = rest.get(1..).unwrap_or_default();
                    if command.is_empty() {
                        return self.wrong("missing value for command");
                    }
                    pipeline.commands.push(std::mem::take(&mut command));
                }
                Some(_) => command.push(self.operand(rest, depth)?),
            }
        }
        if !command.is_empty() {
            pipeline.commands.push(command);
        }
        if pipeline.declares {
            self.variables.extend(pipeline.variables.iter().cloned());
        }
        Ok(pipeline)
    }

    fn operand(&mut self, rest: &mut &'t str, depth: usize) -> Result<Operand, Mistake> {
        let text = *rest;
        let start = match text.chars().next() {
            Some('.') => Start::Dot,
            Some('$') => {
                let name = word(text.get(1..).unwrap_or_default());
                let name = text.get(..name.len() + 1).unwrap_or_default();
                if !self.variables.iter().any(|known| known == name) {
                    return self.wrong(format!("undefined variable {name:?}"));
                }
                *rest = text.get(name.len()..).unwrap_or_default();
                Start::Variable(name.to_owned())
            }
            Some('(') => {
                *rest = text.get(1..).unwrap_or_default();
                let inner = self.piped(rest, depth + 1)?;
                match rest.strip_prefix(')') {
                    Some(behind) => *rest = behind,
                    None => return self.wrong("unclosed left paren"),
                }
                Start::Pipeline(inner)
            }
            Some(quote @ ('"' | '`')) => Start::Text(self.quoted(rest, quote)?),
            Some(digit) if digit.is_ascii_digit() || digit == '-' => {
                let end = text.find([' ', ')', '|', '\t', '\n']).unwrap_or(text.len());
                let (number, behind) = text.split_at(end);
                *rest = behind;
                match number.parse() {
                    Ok(integer) => Start::Integer(integer),
                    Err(_) if number.parse::<f64>().is_ok() => Start::Number(number.to_owned()),
                    Err(_) => return self.wrong(format!("bad number syntax: {number:?}")),
                }
            }
            _ => {
                let name = word(text);
                if name.is_empty() {
                    let found = text.chars().next().unwrap_or(' ');
                    return self.wrong(format!("unexpected {found:?} in operand"));
                }
                *rest = text.get(name.len()..).unwrap_or_default();
                match name {
                    "true" => Start::Bool(true),
                    "false" => Start::Bool(false),
                    "nil" => Start::Nil,
                    name if FUNCTIONS.contains(&name) => {
                        return Ok(Operand::Function(name.to_owned()));
                    }
                    name => return self.wrong(format!("function {name:?} not defined")),
                }
            }
        };
        let mut fields = Vec::new();
        while let Some(behind) = rest.strip_prefix('.') {
            let name = word(behind);
            *rest = behind.get(name.len()..).unwrap_or_default();
            if name.is_empty() {
                break;
            }
            fields.push(name.to_owned());
        }
        Ok(Operand::Field(Box::new(start), fields))
    }

    fn quoted(&self, rest: &mut &'t str, quote: char) -> Result<String, Mistake> {
        let mut out = String::new();
        let mut characters = rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                _ if character == quote => {
                    *rest = rest.get(at + 1..).unwrap_or_default();
                    return Ok(out);
                }
                '\\' if quote == '"' => match characters.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, 'r')) => out.push('\r'),
                    Some((_, other)) => out.push(other),
                    None => break,
                },
                other => out.push(other),
            }
        }
        self.wrong("unterminated quoted string")
    }
}

/// The name at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The variables before `:=` or `=`, what follows, and whether they are declared.
fn declared(text: &str) -> Option<(Vec<String>, &str, bool)> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let name = word(rest.strip_prefix('$')?);
        let end = name.len() + 1;
        names.push(rest.get(..end)?.to_owned());
        rest = rest.get(end..)?.trim_start();
        match rest.strip_prefix(',') {
            Some(behind) if names.len() < 2 => rest = behind.trim_start(),
            _ => break,
        }
    }
    if let Some(behind) = rest.strip_prefix(":=") {
        return Some((names, behind, true));
    }
    Some((names, rest.strip_prefix('=')?, false))
}
