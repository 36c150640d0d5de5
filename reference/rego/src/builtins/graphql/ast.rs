//! The syntax tree of GraphQL documents. Policies see its JSON form, without empty members and
//! without positions.

use serde::{Deserialize, Serialize};

/// Line and column, from 1; zero in a tree without source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Group of adjacent comments.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Comments {
    pub(super) list: Vec<Comment>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Comment {
    pub(super) value: String,
}

/// Executable document.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Query {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) operations: Vec<Operation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fragments: Vec<Fragment>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Operation {
    /// `query`, `mutation` or `subscription`.
    pub(super) operation: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) variable_definitions: Vec<VariableDefinition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) selection_set: Vec<Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct VariableDefinition {
    pub(super) variable: String,
    #[serde(rename = "Type")]
    pub(super) kind: Type,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default_value: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    pub(super) used: bool,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Fragment {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) variable_definition: Vec<VariableDefinition>,
    pub(super) type_condition: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) selection_set: Vec<Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

/// Selected field, fragment spread or inline fragment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, from = "SelectionMembers")]
pub(super) enum Selection {
    Field(Field),
    Inline(InlineFragment),
    Spread(FragmentSpread),
}

/// Union of the members of all selections; those present determine the variant.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct SelectionMembers {
    alias: Option<String>,
    name: Option<String>,
    arguments: Vec<Argument>,
    directives: Vec<Directive>,
    selection_set: Vec<Selection>,
    type_condition: Option<String>,
    comment: Option<Comments>,
}

impl From<SelectionMembers> for Selection {
    fn from(written: SelectionMembers) -> Self {
        let SelectionMembers {
            directives,
            selection_set,
            comment,
            ..
        } = written;
        let position = Position::default();
        match (written.alias, written.name, written.type_condition) {
            (Some(alias), name, _) => Self::Field(Field {
                name: name.unwrap_or_else(|| alias.clone()),
                alias,
                arguments: written.arguments,
                directives,
                selection_set,
                comment,
                position,
            }),
            (None, Some(name), None) if selection_set.is_empty() => Self::Spread(FragmentSpread {
                name,
                directives,
                comment,
                position,
            }),
            (None, _, condition) => Self::Inline(InlineFragment {
                type_condition: condition.unwrap_or_default(),
                directives,
                selection_set,
                comment,
                position,
            }),
        }
    }
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Field {
    pub(super) alias: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) arguments: Vec<Argument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) selection_set: Vec<Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InlineFragment {
    pub(super) type_condition: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) selection_set: Vec<Selection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct FragmentSpread {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Directive {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) arguments: Vec<Argument>,
    /// Always empty in the JSON form.
    pub(super) location: String,
    #[serde(skip)]
    pub(super) position: Position,
}

/// Kinds of values, as numbers.
pub(super) mod kind {
    pub(in super::super) const VARIABLE: u8 = 0;
    pub(in super::super) const INT: u8 = 1;
    pub(in super::super) const FLOAT: u8 = 2;
    pub(in super::super) const STRING: u8 = 3;
    pub(in super::super) const BLOCK: u8 = 4;
    pub(in super::super) const BOOLEAN: u8 = 5;
    pub(in super::super) const NULL: u8 = 6;
    pub(in super::super) const ENUM: u8 = 7;
    pub(in super::super) const LIST: u8 = 8;
    pub(in super::super) const OBJECT: u8 = 9;
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Value {
    pub(super) raw: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<Child>,
    /// One of [`kind`].
    pub(super) kind: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    pub(super) expected_type_has_default: bool,
    #[serde(skip)]
    pub(super) position: Position,
}

/// Item of a list or member of an object.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Child {
    pub(super) name: String,
    pub(super) value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

/// Named type, or list of an inner type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Type {
    pub(super) named_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) elem: Option<Box<Type>>,
    pub(super) non_null: bool,
    #[serde(skip)]
    pub(super) position: Position,
}

impl Type {
    /// Returns the name of the innermost type.
    pub(super) fn name(&self) -> &str {
        match &self.elem {
            Some(elem) if self.named_type.is_empty() => elem.name(),
            _ => &self.named_type,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.elem {
            Some(elem) if self.named_type.is_empty() => write!(f, "[{elem}]")?,
            _ => f.write_str(&self.named_type)?,
        }
        f.write_str(if self.non_null { "!" } else { "" })
    }
}

/// Type system document.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Schema {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) schema: Vec<SchemaDefinition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) schema_extension: Vec<SchemaDefinition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<DirectiveDefinition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) definitions: Vec<Definition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) extensions: Vec<Definition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct SchemaDefinition {
    pub(super) description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) operation_types: Vec<OperationType>,
    #[serde(flatten)]
    pub(super) comments: DescriptionComments,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_of_definition_comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

/// Comments before and after a description.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct DescriptionComments {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before_description_comment: Option<Comments>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after_description_comment: Option<Comments>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct OperationType {
    pub(super) operation: String,
    #[serde(rename = "Type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

/// Type definition or extension of any kind.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Definition {
    /// `SCALAR`, `OBJECT`, `INTERFACE`, `UNION`, `ENUM` or `INPUT_OBJECT`.
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) interfaces: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fields: Vec<FieldDefinition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) types: Vec<String>,
    /// Positions of the names in `types`.
    #[serde(skip)]
    pub(super) type_positions: Vec<Position>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) enum_values: Vec<EnumValue>,
    pub(super) built_in: bool,
    #[serde(flatten)]
    pub(super) comments: DescriptionComments,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_of_definition_comment: Option<Comments>,
    #[serde(skip)]
    pub(super) position: Position,
}

impl Definition {
    pub(super) fn is_input(&self) -> bool {
        matches!(self.kind.as_str(), "SCALAR" | "ENUM" | "INPUT_OBJECT")
    }

    pub(super) fn is_composite(&self) -> bool {
        matches!(self.kind.as_str(), "OBJECT" | "INTERFACE" | "UNION")
    }
}

/// Field of an object, an interface or an input object.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct FieldDefinition {
    pub(super) description: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) arguments: Vec<ArgumentDefinition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default_value: Option<Value>,
    #[serde(rename = "Type")]
    pub(super) kind: Type,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(flatten)]
    pub(super) comments: DescriptionComments,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ArgumentDefinition {
    pub(super) description: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default_value: Option<Value>,
    #[serde(rename = "Type")]
    pub(super) kind: Type,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(flatten)]
    pub(super) comments: DescriptionComments,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct EnumValue {
    pub(super) description: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<Directive>,
    #[serde(flatten)]
    pub(super) comments: DescriptionComments,
    #[serde(skip)]
    pub(super) position: Position,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct DirectiveDefinition {
    pub(super) description: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) arguments: Vec<ArgumentDefinition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) locations: Vec<String>,
    pub(super) is_repeatable: bool,
    #[serde(flatten)]
    pub(super) comments: DescriptionComments,
    #[serde(skip)]
    pub(super) position: Position,
}
