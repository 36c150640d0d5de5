//! Validates the definitions of a schema.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{
    ArgumentDefinition, Definition, Directive, FieldDefinition, Position, Type, kind,
};
use super::error::{GraphqlError, Result};
use super::types::Types;

fn fail<T>(position: Position, message: String) -> Result<T> {
    Err(GraphqlError::at(position, message))
}

pub(super) fn check(types: &Types) -> Result<()> {
    for definition in types.types.values() {
        check_definition(types, definition)?;
    }
    check_cycles(types)?;
    for directive in types.directives.values() {
        check_name(directive.position, &directive.name)?;
        check_arguments(types, &directive.arguments, Some(&directive.name))?;
    }
    Ok(())
}

fn check_name(position: Position, name: &str) -> Result<()> {
    if !name.starts_with("__") {
        return Ok(());
    }
    fail(
        position,
        format!(
            "Name \"{name}\" must not begin with \"__\", which is reserved by GraphQL introspection."
        ),
    )
}

fn check_reference(types: &Types, reference: &Type) -> Result<()> {
    match types.get(reference.name()) {
        Some(_) => Ok(()),
        None => fail(
            reference.position,
            format!("Undefined type {}.", reference.name()),
        ),
    }
}

fn check_arguments(
    types: &Types,
    arguments: &[ArgumentDefinition],
    of_directive: Option<&str>,
) -> Result<()> {
    for argument in arguments {
        check_name(argument.position, &argument.name)?;
        check_reference(types, &argument.kind)?;
        let definition = types.get(argument.kind.name());
        if let Some(definition) = definition.filter(|definition| !definition.is_input()) {
            return fail(
                argument.position,
                format!(
                    "cannot use {} as argument {} because {} is not a valid input type",
                    argument.kind, argument.name, definition.kind
                ),
            );
        }
        let place = "ARGUMENT_DEFINITION";
        check_directives(types, &argument.directives, place, of_directive, true)?;
    }
    Ok(())
}

/// Checks that directives may occur at a location. Those of a type and of its extensions form one
/// list, in which a directive may repeat unless `once` is set.
pub(super) fn check_directives(
    types: &Types,
    directives: &[Directive],
    place: &str,
    within: Option<&str>,
    once: bool,
) -> Result<()> {
    let mut seen = BTreeSet::new();
    for directive in directives {
        let (name, position) = (directive.name.as_str(), directive.position);
        check_name(position, name)?;
        if within == Some(name) {
            return fail(
                position,
                format!("Directive {name} cannot refer to itself."),
            );
        }
        let Some(definition) = types.directives.get(name) else {
            return fail(position, format!("Undefined directive {name}."));
        };
        if once && !seen.insert(name) && !definition.is_repeatable {
            return fail(
                position,
                format!("The directive {name} can only be used once at this location."),
            );
        }
        if !definition
            .locations
            .iter()
            .any(|location| location == place)
        {
            return fail(
                position,
                format!("Directive {name} is not applicable on {place}."),
            );
        }
        for argument in &directive.arguments {
            if !definition
                .arguments
                .iter()
                .any(|known| known.name == argument.name)
            {
                return fail(
                    argument.position,
                    format!("Undefined argument {} for directive {name}.", argument.name),
                );
            }
        }
        for known in &definition.arguments {
            let actual = directive
                .arguments
                .iter()
                .find(|actual| actual.name == known.name);
            let null = actual.is_none_or(|actual| actual.value.kind == kind::NULL);
            if known.kind.non_null && known.default_value.is_none() && null {
                return fail(
                    position,
                    format!(
                        "Argument {} for directive {name} cannot be null.",
                        known.name
                    ),
                );
            }
        }
    }
    Ok(())
}

fn check_definition(types: &Types, definition: &Definition) -> Result<()> {
    let Definition {
        name,
        kind,
        position,
        ..
    } = definition;
    for field in &definition.fields {
        check_name(field.position, &field.name)?;
        check_reference(types, &field.kind)?;
        check_arguments(types, &field.arguments, None)?;
        let place = match kind.as_str() {
            "INPUT_OBJECT" => "INPUT_FIELD_DEFINITION",
            _ => "FIELD_DEFINITION",
        };
        check_directives(types, &field.directives, place, None, true)?;
    }
    for member in &definition.types {
        match types.get(member).map(|member| member.kind.as_str()) {
            Some("OBJECT") => {}
            Some(_) => {
                return fail(
                    *position,
                    format!("{kind} type \"{member}\" must be OBJECT."),
                );
            }
            None => return fail(*position, format!("Undefined type \"{member}\".")),
        }
    }
    for interface in &definition.interfaces {
        check_implements(types, definition, interface)?;
    }
    match kind.as_str() {
        "OBJECT" | "INTERFACE" => {
            if definition.fields.is_empty() {
                return fail(
                    *position,
                    format!("{kind} {name}: must define one or more fields."),
                );
            }
            check_field_kinds(types, definition, |kind| kind != "INPUT_OBJECT")?;
        }
        "ENUM" => check_enum(types, definition)?,
        "INPUT_OBJECT" => {
            if definition.fields.is_empty() {
                return fail(
                    *position,
                    format!("{kind} {name}: must define one or more input fields."),
                );
            }
            let is_allowed = |kind: &str| matches!(kind, "SCALAR" | "ENUM" | "INPUT_OBJECT");
            check_field_kinds(types, definition, is_allowed)?;
        }
        _ => {}
    }
    check_unique(definition)?;
    if !definition.built_in {
        check_name(*position, name)?;
    }
    check_directives(types, &definition.directives, kind, None, false)
}

fn check_field_kinds(
    types: &Types,
    definition: &Definition,
    is_allowed: impl Fn(&str) -> bool,
) -> Result<()> {
    for field in &definition.fields {
        let Some(own) = types
            .get(field.kind.name())
            .filter(|own| !is_allowed(&own.kind))
        else {
            continue;
        };
        let message = match definition.kind.as_str() {
            "INPUT_OBJECT" => format!(
                "{} {}: field must be one of SCALAR, ENUM, INPUT_OBJECT.",
                own.kind, field.name
            ),
            _ => format!(
                "{} {}: field must be one of SCALAR, OBJECT, INTERFACE, UNION, ENUM.",
                definition.kind, definition.name
            ),
        };
        return fail(field.position, message);
    }
    Ok(())
}

fn check_enum(types: &Types, definition: &Definition) -> Result<()> {
    let Definition { name, position, .. } = definition;
    if definition.enum_values.is_empty() {
        return fail(
            *position,
            format!("ENUM {name}: must define one or more unique enum values."),
        );
    }
    for value in &definition.enum_values {
        if matches!(value.name.as_str(), "true" | "false" | "null") {
            return fail(
                *position,
                format!("ENUM {name}: non-enum value {}.", value.name),
            );
        }
        check_directives(types, &value.directives, "ENUM_VALUE", None, true)?;
    }
    Ok(())
}

fn check_unique(definition: &Definition) -> Result<()> {
    let name = &definition.name;
    let mut seen = BTreeSet::new();
    for field in &definition.fields {
        if !seen.insert(&field.name) {
            let message = format!("Field {name}.{} can only be defined once.", field.name);
            return fail(field.position, message);
        }
    }
    let mut seen = BTreeSet::new();
    for value in &definition.enum_values {
        if !seen.insert(&value.name) {
            let message = format!("Enum value {name}.{} can only be defined once.", value.name);
            return fail(value.position, message);
        }
    }
    let mut seen = BTreeSet::new();
    for (at, member) in definition.types.iter().enumerate() {
        if !seen.insert(member) {
            let message = format!("Union type {name} can only include type {member} once.");
            let position = definition.type_positions.get(at);
            return fail(*position.unwrap_or(&definition.position), message);
        }
    }
    Ok(())
}

fn check_implements(types: &Types, definition: &Definition, interface: &str) -> Result<()> {
    let (name, position) = (&definition.name, definition.position);
    let Some(interface) = types.get(interface) else {
        return fail(position, format!("Undefined type \"{interface}\"."));
    };
    let to_implement = format!("For {name} to implement {}", interface.name);
    if interface.kind != "INTERFACE" {
        return fail(
            position,
            format!(
                "\"{}\" is a non interface type {}.",
                interface.name, interface.kind
            ),
        );
    }
    for required in &interface.fields {
        let field = &required.name;
        let Some(found) = types.field(definition, field) else {
            return fail(
                position,
                format!("{to_implement} it must have a field called {field}."),
            );
        };
        if !is_covariant(types, &required.kind, &found.kind) {
            return fail(
                found.position,
                format!(
                    "{to_implement} the field {field} must have type {}.",
                    required.kind
                ),
            );
        }
        check_implemented_arguments(required, found, &to_implement)?;
    }
    for inherited in &interface.interfaces {
        if definition.interfaces.contains(inherited) {
            continue;
        }
        let message = match inherited == name {
            true => format!(
                "Type {name} cannot implement {} because it would create a circular reference.",
                interface.name
            ),
            false => format!(
                "Type {name} must implement {inherited} because it is implemented by {}.",
                interface.name
            ),
        };
        return fail(position, message);
    }
    Ok(())
}

fn check_implemented_arguments(
    required: &FieldDefinition,
    found: &FieldDefinition,
    to_implement: &str,
) -> Result<()> {
    let field = &required.name;
    for argument in &required.arguments {
        let own = found.arguments.iter().find(|own| own.name == argument.name);
        let Some(own) = own else {
            return fail(
                found.position,
                format!(
                    "{to_implement} the field {field} must have the same arguments but it is missing {}.",
                    argument.name
                ),
            );
        };
        if !is_compatible(&argument.kind, &own.kind) {
            return fail(
                own.position,
                format!(
                    "{to_implement} the field {field} must have the same arguments but {} has the wrong type.",
                    argument.name
                ),
            );
        }
    }
    for own in &found.arguments {
        let known = required
            .arguments
            .iter()
            .any(|known| known.name == own.name);
        if !known && own.kind.non_null && own.default_value.is_none() {
            return fail(
                own.position,
                format!(
                    "{to_implement} any additional arguments on {field} must be optional or have a default value but {} is required.",
                    own.name
                ),
            );
        }
    }
    Ok(())
}

fn is_covariant(types: &Types, required: &Type, actual: &Type) -> bool {
    if required.non_null && !actual.non_null {
        return false;
    }
    match (&required.elem, &actual.elem) {
        (Some(required), Some(actual)) => is_covariant(types, required, actual),
        (None, None) => {
            let possible = types
                .get(&required.named_type)
                .map(|one| types.possible(one));
            required.named_type == actual.named_type
                || possible.is_some_and(|all| all.contains(actual.named_type.as_str()))
        }
        _ => false,
    }
}

/// Whether a value of the type `actual` is valid where the type `expected` is expected.
pub(super) fn is_compatible(actual: &Type, expected: &Type) -> bool {
    let inner = match (&actual.elem, &expected.elem) {
        (Some(actual), Some(expected)) => is_compatible(actual, expected),
        (None, None) => actual.named_type == expected.named_type,
        _ => false,
    };
    inner && (actual.non_null || !expected.non_null)
}

/// Refuses input objects without possible values: each value would have to contain another one.
fn check_cycles(types: &Types) -> Result<()> {
    let inputs = || {
        types
            .types
            .values()
            .filter(|one| one.kind == "INPUT_OBJECT")
    };
    let mut needs: BTreeMap<&str, usize> = BTreeMap::new();
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for definition in inputs() {
        let fields = definition.fields.iter();
        let needed = fields.filter(|field| field.kind.non_null && field.kind.elem.is_none());
        let needed = needed.map(|field| field.kind.named_type.as_str());
        let is_input = |name: &&str| {
            types
                .get(name)
                .is_some_and(|one| one.kind == "INPUT_OBJECT")
        };
        let needed: Vec<&str> = needed.filter(is_input).collect();
        needs.insert(&definition.name, needed.len());
        for name in needed {
            users.entry(name).or_default().push(&definition.name);
        }
    }
    // A type without required inputs can have a value, as can one that only requires those.
    let free = needs.iter().filter(|(_, count)| **count == 0);
    let mut free: Vec<&str> = free.map(|(name, _)| *name).collect();
    while let Some(name) = free.pop() {
        needs.remove(name);
        for user in users.get(name).into_iter().flatten() {
            if let Some(count) = needs.get_mut(user) {
                *count -= 1;
                if *count == 0 {
                    free.push(user);
                }
            }
        }
    }
    let Some((first, _)) = needs.first_key_value() else {
        return Ok(());
    };
    // Each remaining type requires a remaining one, so this path reaches a cycle.
    let mut path: Vec<&FieldDefinition> = Vec::new();
    let mut starts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut name = *first;
    loop {
        let fields = types.get(name).map_or(&[][..], |one| &one.fields);
        let needed = fields.iter().find(|field| {
            let kind = &field.kind;
            kind.non_null && kind.elem.is_none() && needs.contains_key(kind.named_type.as_str())
        });
        let Some(field) = needed else {
            return Ok(());
        };
        starts.insert(name, path.len());
        path.push(field);
        name = &field.kind.named_type;
        let Some(start) = starts.get(name) else {
            continue;
        };
        let cycle = path.get(*start..).unwrap_or_default();
        let names: Vec<&str> = cycle.iter().map(|field| field.name.as_str()).collect();
        let position = cycle.first().map(|field| field.position);
        return fail(
            position.unwrap_or_default(),
            format!(
                "Cannot reference Input Object \"{name}\" within itself through a series of non-null fields: \"{}\".",
                names.join(".")
            ),
        );
    }
}
