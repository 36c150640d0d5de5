//! Parses executable documents.

use super::ast::{
    Field, Fragment, FragmentSpread, InlineFragment, Operation, Query, Selection,
    VariableDefinition,
};
use super::error::Result;
use super::lexer::Kind;
use super::parser::Parser;

pub(super) fn parse(text: &str) -> Result<Query> {
    let mut parser = Parser::new(text);
    let mut document = Query::default();
    loop {
        let token = parser.peek();
        match (token.kind, token.text.as_str()) {
            (Kind::End, _) => return Ok(document),
            (Kind::Name, "query" | "mutation" | "subscription") | (Kind::Mark("{"), _) => {
                document.operations.push(parser.operation()?);
            }
            (Kind::Name, "fragment") => document.fragments.push(parser.fragment_definition()?),
            _ => return parser.unexpected(),
        }
    }
}

impl Parser<'_> {
    fn operation(&mut self) -> Result<Operation> {
        let position = self.peek().position;
        if self.is("{") {
            return Ok(Operation {
                operation: "query".to_owned(),
                selection_set: self.required_selections()?,
                position,
                ..Operation::default()
            });
        }
        let comment = self.comments();
        let operation = self.next()?.text;
        let name = match self.peek().kind {
            Kind::Name => self.next()?.text,
            _ => String::new(),
        };
        Ok(Operation {
            operation,
            name,
            variable_definitions: self.variable_definitions()?,
            directives: self.directives(false)?,
            selection_set: self.required_selections()?,
            comment,
            position,
        })
    }

    fn variable_definitions(&mut self) -> Result<Vec<VariableDefinition>> {
        let (definitions, _) = self.some(("(", ")"), |parser| {
            let position = parser.peek().position;
            let comment = parser.comments();
            parser.expect("$")?;
            let variable = parser.name()?;
            parser.expect(":")?;
            let kind = parser.type_reference()?;
            let default_value = match parser.skip("=")? {
                true => Some(parser.value(true)?),
                false => None,
            };
            Ok(VariableDefinition {
                variable,
                kind,
                default_value,
                directives: parser.directives(false)?,
                comment,
                used: false,
                position,
            })
        })?;
        Ok(definitions)
    }

    fn required_selections(&mut self) -> Result<Vec<Selection>> {
        if !self.is("{") {
            self.expect("{")?;
        }
        self.selections()
    }

    fn selections(&mut self) -> Result<Vec<Selection>> {
        self.nested(|parser| {
            let (selections, _) = parser.some(("{", "}"), Self::selection)?;
            Ok(selections)
        })
    }

    fn selection(&mut self) -> Result<Selection> {
        if self.is("...") {
            return self.fragment();
        }
        let position = self.peek().position;
        let comment = self.comments();
        let alias = self.name()?;
        let name = match self.skip(":")? {
            true => self.name()?,
            false => alias.clone(),
        };
        Ok(Selection::Field(Field {
            alias,
            name,
            arguments: self.arguments(false)?,
            directives: self.directives(false)?,
            selection_set: self.selections()?,
            comment,
            position,
        }))
    }

    fn fragment(&mut self) -> Result<Selection> {
        let comment = self.comments();
        self.next()?;
        let position = self.peek().position;
        if self.peek().kind == Kind::Name && !self.is_name("on") {
            return Ok(Selection::Spread(FragmentSpread {
                name: self.name()?,
                directives: self.directives(false)?,
                comment,
                position,
            }));
        }
        let type_condition = match self.is_name("on") {
            true => {
                self.next()?;
                self.name()?
            }
            false => String::new(),
        };
        Ok(Selection::Inline(InlineFragment {
            type_condition,
            directives: self.directives(false)?,
            selection_set: self.required_selections()?,
            comment,
            position,
        }))
    }

    fn fragment_definition(&mut self) -> Result<Fragment> {
        let position = self.peek().position;
        let comment = self.comments();
        self.next()?;
        if self.is_name("on") {
            return self.unexpected();
        }
        let name = self.name()?;
        let variable_definition = self.variable_definitions()?;
        self.keyword("on")?;
        Ok(Fragment {
            name,
            variable_definition,
            type_condition: self.name()?,
            directives: self.directives(false)?,
            selection_set: self.required_selections()?,
            comment,
            position,
        })
    }
}
