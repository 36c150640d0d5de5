//! Parses type system documents.

use super::ast::{
    ArgumentDefinition, Comments, Definition, DescriptionComments, DirectiveDefinition, EnumValue,
    FieldDefinition, OperationType, Position, Schema, SchemaDefinition,
};
use super::error::Result;
use super::lexer::{Kind, Token};
use super::parser::{Parser, unexpected};

/// Locations where directives may occur.
const LOCATIONS: [&str; 19] = [
    "QUERY",
    "MUTATION",
    "SUBSCRIPTION",
    "FIELD",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "VARIABLE_DEFINITION",
    "SCHEMA",
    "SCALAR",
    "OBJECT",
    "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION",
    "INTERFACE",
    "UNION",
    "ENUM",
    "ENUM_VALUE",
    "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
];

/// Description with the comments before and after it.
#[derive(Debug, Default)]
struct Intro {
    text: String,
    comments: DescriptionComments,
    position: Position,
}

pub(super) fn parse(text: &str) -> Result<Schema> {
    let mut parser = Parser::new(text);
    let mut document = Schema::default();
    loop {
        if parser.peek().kind == Kind::End {
            document.comment = parser.comments();
            return Ok(document);
        }
        let description = parser.description()?;
        if parser.peek().kind != Kind::Name {
            return parser.unexpected();
        }
        match parser.peek().text.as_str() {
            "scalar" | "type" | "interface" | "union" | "enum" | "input" => {
                let intro = parser.intro(description)?;
                document.definitions.push(parser.definition(intro, false)?);
            }
            "schema" => {
                let intro = parser.intro(description)?;
                parser.next()?;
                document.schema.push(parser.schema(intro)?);
            }
            "directive" => {
                let intro = parser.intro(description)?;
                document
                    .directives
                    .push(parser.directive_definition(intro)?);
            }
            "extend" => match description {
                Some(token) if !token.text.is_empty() => return Err(unexpected(&token)),
                _ => parser.extension(&mut document)?,
            },
            _ => return parser.unexpected(),
        }
    }
}

impl Parser<'_> {
    fn description(&mut self) -> Result<Option<Token>> {
        match self.peek().kind {
            Kind::String | Kind::Block => self.next().map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the introduction of a definition, up to its first keyword.
    fn intro(&self, description: Option<Token>) -> Result<Intro> {
        let (text, before) = match description {
            Some(token) => (token.text, token.comments),
            None => Default::default(),
        };
        Ok(Intro {
            text,
            comments: DescriptionComments {
                before_description_comment: before,
                after_description_comment: self.comments(),
            },
            position: self.peek().position,
        })
    }

    /// Parses the introduction of a nested definition.
    fn inner_intro(&mut self) -> Result<Intro> {
        let description = self.description()?;
        self.intro(description.filter(|token| !token.text.is_empty()))
    }

    fn extension(&mut self, document: &mut Schema) -> Result<()> {
        let comments = DescriptionComments {
            after_description_comment: self.comments(),
            ..DescriptionComments::default()
        };
        self.next()?;
        let intro = Intro {
            comments,
            ..Intro::default()
        };
        let schema = self.is_name("schema");
        let known = ["scalar", "type", "interface", "union", "enum", "input"];
        if !schema && !known.iter().any(|word| self.is_name(word)) {
            return self.unexpected();
        }
        if !schema {
            let extension = self.definition(intro, true)?;
            document.extensions.push(extension);
            return Ok(());
        }
        self.next()?;
        let extension = self.schema(intro)?;
        if extension.directives.is_empty() && extension.operation_types.is_empty() {
            return self.unexpected();
        }
        document.schema_extension.push(extension);
        Ok(())
    }

    fn schema(&mut self, intro: Intro) -> Result<SchemaDefinition> {
        let position = self.peek().position;
        let directives = self.directives(true)?;
        let (operation_types, end) = self.some(("{", "}"), |parser| {
            let position = parser.peek().position;
            let comment = parser.comments();
            let operation = parser.next()?;
            if !matches!(
                operation.text.as_str(),
                "query" | "mutation" | "subscription"
            ) {
                return Err(unexpected(&operation));
            }
            parser.expect(":")?;
            Ok(OperationType {
                operation: operation.text,
                kind: parser.name()?,
                comment,
                position,
            })
        })?;
        Ok(SchemaDefinition {
            description: intro.text,
            directives,
            operation_types,
            comments: intro.comments,
            end_of_definition_comment: end,
            position,
        })
    }

    /// Parses a type definition or extension, from its keyword on.
    fn definition(&mut self, intro: Intro, extends: bool) -> Result<Definition> {
        let word = self.next()?.text;
        let mut definition = Definition {
            kind: match word.as_str() {
                "type" => "OBJECT".to_owned(),
                "input" => "INPUT_OBJECT".to_owned(),
                other => other.to_uppercase(),
            },
            description: intro.text,
            position: self.peek().position,
            comments: intro.comments,
            ..Definition::default()
        };
        definition.name = self.name()?;
        if word == "type" || (word == "interface" && !extends) {
            definition.interfaces = self.interfaces()?;
        }
        definition.directives = self.directives(true)?;
        let mut end: Option<Comments> = None;
        match word.as_str() {
            "type" | "interface" => {
                (definition.fields, end) = self.some(("{", "}"), Self::field_definition)?;
            }
            "input" => (definition.fields, end) = self.some(("{", "}"), Self::input_field)?,
            "enum" => (definition.enum_values, end) = self.some(("{", "}"), Self::enum_value)?,
            "union" => {
                let members = self.members_of_union()?;
                (definition.types, definition.type_positions) = members.into_iter().unzip();
            }
            _ => {}
        }
        definition.end_of_definition_comment = end;
        let empty = definition.interfaces.is_empty()
            && definition.directives.is_empty()
            && definition.fields.is_empty()
            && definition.enum_values.is_empty()
            && definition.types.is_empty();
        if extends && empty {
            return self.unexpected();
        }
        Ok(definition)
    }

    fn interfaces(&mut self) -> Result<Vec<String>> {
        if !self.is_name("implements") {
            return Ok(Vec::new());
        }
        self.next()?;
        let names = self.separated("&")?.into_iter();
        Ok(names.map(|(name, _)| name).collect())
    }

    fn members_of_union(&mut self) -> Result<Vec<(String, Position)>> {
        match self.skip("=")? {
            true => self.separated("|"),
            false => Ok(Vec::new()),
        }
    }

    /// Parses names separated by a punctuator, which may also precede the first.
    fn separated(&mut self, mark: &str) -> Result<Vec<(String, Position)>> {
        self.skip(mark)?;
        let mut names = vec![(self.peek().position, self.name()?)];
        while self.skip(mark)? {
            names.push((self.peek().position, self.name()?));
        }
        Ok(names
            .into_iter()
            .map(|(position, name)| (name, position))
            .collect())
    }

    fn field_definition(&mut self) -> Result<FieldDefinition> {
        let intro = self.inner_intro()?;
        let name = self.name()?;
        let (arguments, _) = self.some(("(", ")"), Self::argument_definition)?;
        self.expect(":")?;
        Ok(FieldDefinition {
            description: intro.text,
            name,
            arguments,
            default_value: None,
            kind: self.type_reference()?,
            directives: self.directives(true)?,
            comments: intro.comments,
            position: intro.position,
        })
    }

    fn argument_definition(&mut self) -> Result<ArgumentDefinition> {
        let intro = self.inner_intro()?;
        let name = self.name()?;
        self.expect(":")?;
        let kind = self.type_reference()?;
        let default_value = match self.skip("=")? {
            true => Some(self.value(true)?),
            false => None,
        };
        Ok(ArgumentDefinition {
            description: intro.text,
            name,
            default_value,
            kind,
            directives: self.directives(true)?,
            comments: intro.comments,
            position: intro.position,
        })
    }

    fn input_field(&mut self) -> Result<FieldDefinition> {
        let field = self.argument_definition()?;
        Ok(FieldDefinition {
            description: field.description,
            name: field.name,
            arguments: Vec::new(),
            default_value: field.default_value,
            kind: field.kind,
            directives: field.directives,
            comments: field.comments,
            position: field.position,
        })
    }

    fn enum_value(&mut self) -> Result<EnumValue> {
        let intro = self.inner_intro()?;
        Ok(EnumValue {
            description: intro.text,
            name: self.name()?,
            directives: self.directives(true)?,
            comments: intro.comments,
            position: intro.position,
        })
    }

    fn directive_definition(&mut self, intro: Intro) -> Result<DirectiveDefinition> {
        self.next()?;
        self.expect("@")?;
        let position = self.peek().position;
        let name = self.name()?;
        let (arguments, _) = self.some(("(", ")"), Self::argument_definition)?;
        let is_repeatable = self.is_name("repeatable");
        if is_repeatable {
            self.next()?;
        }
        self.keyword("on")?;
        self.skip("|")?;
        let mut locations = vec![self.location()?];
        while self.skip("|")? {
            locations.push(self.location()?);
        }
        Ok(DirectiveDefinition {
            description: intro.text,
            name,
            arguments,
            locations,
            is_repeatable,
            comments: intro.comments,
            position,
        })
    }

    fn location(&mut self) -> Result<String> {
        let token = self.peek().clone();
        let name = self.name()?;
        if !LOCATIONS.contains(&name.as_str()) {
            return Err(unexpected(&token));
        }
        Ok(name)
    }
}
