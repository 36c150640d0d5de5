//! Validates a query against a schema.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{
    Argument, ArgumentDefinition, Definition, Directive, Field, FieldDefinition, Fragment,
    FragmentSpread, InlineFragment, Operation, Position, Query, Selection,
};
use super::error::GraphqlError;
use super::overlap::deep;
use super::suggest;
use super::types::Types;
use super::values::Expected;
use super::walk::{Compared, Walk};
use crate::meter::{AbortReason, Meter};

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 100;

/// Returns all errors of a query.
///
/// # Errors
/// When the evaluation has to end.
pub(super) fn check(
    types: &Types,
    query: &Query,
    meter: &Meter,
) -> Result<Vec<GraphqlError>, AbortReason> {
    let mut fragments = BTreeMap::new();
    for fragment in &query.fragments {
        fragments.entry(fragment.name.as_str()).or_insert(fragment);
    }
    let mut walk = Walk {
        types,
        query,
        fragments,
        operation: None,
        used: BTreeSet::new(),
        visited: BTreeSet::new(),
        spread: BTreeSet::new(),
        is_past_fragment: false,
        searched: BTreeSet::new(),
        misplaced: BTreeSet::new(),
        compared: Compared::default(),
        meter,
        ended: None,
        errors: Vec::new(),
    };
    let mut names = BTreeSet::new();
    for operation in &query.operations {
        walk.operation(operation, names.insert(&operation.name));
    }
    let mut names = BTreeSet::new();
    for fragment in &query.fragments {
        walk.fragment(fragment);
        if !names.insert(&fragment.name) {
            let name = &fragment.name;
            let message = format!("There can be only one fragment named \"{name}\".");
            walk.report(fragment.position, message);
        }
    }
    walk.ended.map_or(Ok(walk.errors), Err)
}

impl<'d> Walk<'d> {
    /// Charges steps of the traversal. Returns whether it continues.
    pub(super) fn step(&mut self, units: usize) -> bool {
        if self.ended.is_none() {
            self.ended = self.meter.spend(units).err();
        }
        self.ended.is_none()
    }

    pub(super) fn report(&mut self, position: Position, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(GraphqlError::at(position, message));
        }
    }

    fn operation(&mut self, operation: &'d Operation, is_first: bool) {
        let types = self.types;
        self.operation = Some(operation);
        self.used.clear();
        self.visited.clear();
        for variable in &operation.variable_definitions {
            let name = variable.kind.name();
            if types.get(name).is_none() {
                self.report(variable.position, format!("Unknown type \"{name}\"."));
            }
        }
        for variable in &operation.variable_definitions {
            if let Some(default) = &variable.default_value {
                let expected = Expected {
                    kind: Some(&variable.kind),
                    definition: types.get(variable.kind.name()),
                    has_default: false,
                };
                self.value(default, expected);
            }
            self.directives(&variable.directives, "VARIABLE_DEFINITION");
        }
        let (kind, place) = match operation.operation.as_str() {
            "mutation" => ("mutation", "MUTATION"),
            "subscription" => ("subscription", "SUBSCRIPTION"),
            _ => ("query", "QUERY"),
        };
        let root = types.root(kind);
        self.directives(&operation.directives, place);
        self.selections(root, &operation.selection_set);
        if root.is_none() {
            let message = format!("Schema does not support operation type \"{kind}\"");
            self.report(operation.position, message);
        }
        if operation.name.is_empty() && self.query.operations.len() > 1 {
            self.report(
                operation.position,
                "This anonymous operation must be the only defined operation.",
            );
        }
        self.unused_variables(operation);
        self.overlaps(root, &operation.selection_set);
        if kind == "subscription" && root.is_some() {
            self.subscription(operation);
        }
        if !is_first {
            let name = &operation.name;
            let message = format!("There can be only one operation named \"{name}\".");
            self.report(operation.position, message);
        }
        self.variables(operation);
        self.operation = None;
    }

    fn unused_variables(&mut self, operation: &'d Operation) {
        let mut seen = BTreeSet::new();
        let within = match operation.name.is_empty() {
            true => String::new(),
            false => format!(" in operation \"{}\"", operation.name),
        };
        for variable in &operation.variable_definitions {
            let name = variable.variable.as_str();
            let first = seen.insert(name);
            if !first || !self.used.contains(name) {
                let message = format!("Variable \"${name}\" is never used{within}.");
                self.report(variable.position, message);
            }
        }
    }

    fn variables(&mut self, operation: &'d Operation) {
        let mut seen = BTreeSet::new();
        for variable in &operation.variable_definitions {
            let name = variable.variable.as_str();
            if !seen.insert(name) {
                let message = format!("There can be only one variable named \"${name}\".");
                self.report(variable.position, message);
            }
        }
        for variable in &operation.variable_definitions {
            let (name, kind) = (&variable.variable, &variable.kind);
            let definition = self.types.get(kind.name());
            if definition.is_some_and(|definition| !definition.is_input()) {
                let message = format!("Variable \"${name}\" cannot be non-input type \"{kind}\".");
                self.report(variable.position, message);
            }
        }
    }

    /// Checks that a subscription has a single top-level field.
    fn subscription(&mut self, operation: &'d Operation) {
        let mut fields = Vec::new();
        self.top_fields(&operation.selection_set, &mut fields, &mut BTreeSet::new());
        let mut seen = BTreeSet::new();
        fields.retain(|field| seen.insert(&field.name));
        let name = match operation.name.is_empty() {
            true => "Anonymous Subscription".to_owned(),
            false => format!("Subscription \"{}\"", operation.name),
        };
        if let [_, second, ..] = fields.as_slice() {
            let message = format!("{name} must select only one top level field.");
            self.report(second.position, message);
        }
        for field in fields.iter().filter(|field| field.name.starts_with("__")) {
            let message = format!("{name} must not select an introspection top level field.");
            self.report(field.position, message);
        }
    }

    fn top_fields(
        &self,
        set: &'d [Selection],
        fields: &mut Vec<&'d Field>,
        visited: &mut BTreeSet<&'d str>,
    ) {
        for selection in set {
            match selection {
                Selection::Field(field) => fields.push(field),
                Selection::Inline(fragment) => {
                    self.top_fields(&fragment.selection_set, fields, visited);
                }
                Selection::Spread(spread) => {
                    let fragment = self.fragments.get(spread.name.as_str());
                    if let Some(fragment) = fragment.filter(|one| visited.insert(&one.name)) {
                        deep(|| self.top_fields(&fragment.selection_set, fields, visited));
                    }
                }
            }
        }
    }

    fn fragment(&mut self, fragment: &'d Fragment) {
        self.visited.clear();
        let (name, condition) = (&fragment.name, &fragment.type_condition);
        let definition = self.types.get(condition);
        self.directives(&fragment.directives, "FRAGMENT_DEFINITION");
        self.selections(definition, &fragment.selection_set);
        match definition {
            Some(definition) if !definition.is_composite() => self.report(
                fragment.position,
                format!(
                    "Fragment \"{name}\" cannot condition on non composite type \"{condition}\"."
                ),
            ),
            Some(_) => {}
            None => {
                let known = self.types.types.keys().map(String::as_str);
                let suggestion = suggest::suggestion(condition, known, "Did you mean");
                let message = format!("Unknown type \"{condition}\".{suggestion}");
                self.report(fragment.position, message);
            }
        }
        self.cycles(fragment, &mut Vec::new());
        self.is_past_fragment = true;
        if !self.spread.contains(name.as_str()) {
            self.report(
                fragment.position,
                format!("Fragment \"{name}\" is never used."),
            );
        }
        self.overlaps(definition, &fragment.selection_set);
    }

    /// Reports fragments that spread themselves, each cycle once.
    fn cycles(&mut self, fragment: &'d Fragment, path: &mut Vec<(&'d str, &'d FragmentSpread)>) {
        if !self.searched.insert(&fragment.name) {
            return;
        }
        for spread in spreads(&fragment.selection_set) {
            if !self.step(1 + path.len() / 16) {
                return;
            }
            path.push((&fragment.name, spread));
            let start = path.iter().position(|(name, _)| *name == spread.name);
            let next = self.fragments.get(spread.name.as_str()).copied();
            match (start, next) {
                (Some(start), _) => {
                    let between = path.iter().skip(start).map(|(_, spread)| &spread.name);
                    let between: Vec<String> = between.map(|name| format!("\"{name}\"")).collect();
                    let via = match between.split_last() {
                        Some((_, [])) | None => String::new(),
                        Some((_, between)) => format!(" via {}", between.join(", ")),
                    };
                    let name = &spread.name;
                    let message = format!("Cannot spread fragment \"{name}\" within itself{via}.");
                    self.report(spread.position, message);
                }
                (None, Some(next)) => deep(|| self.cycles(next, path)),
                (None, None) => {}
            }
            path.pop();
        }
    }

    fn selections(&mut self, parent: Option<&'d Definition>, set: &'d [Selection]) {
        for selection in set {
            if !self.step(1) {
                return;
            }
            match selection {
                Selection::Field(field) => self.field(parent, field),
                Selection::Inline(fragment) => self.inline(parent, fragment),
                Selection::Spread(spread) => self.spread(parent, spread),
            }
        }
    }

    fn field(&mut self, parent: Option<&'d Definition>, field: &'d Field) {
        let types = self.types;
        let type_name = field.name == "__typename";
        let definition = match parent {
            Some(parent) if !type_name => types.field(parent, &field.name),
            _ => None,
        };
        let known: &[ArgumentDefinition] = definition.map_or(&[], |one| &one.arguments);
        self.arguments(&field.arguments, known);
        self.directives(&field.directives, "FIELD");
        let inner = match type_name {
            true => types.get("String"),
            false => definition.and_then(|definition| types.get(definition.kind.name())),
        };
        self.selections(inner, &field.selection_set);
        if let (Some(parent), None, false) = (parent, definition, type_name) {
            self.unknown_field(parent, field);
        }
        if let Some(parent) = parent.filter(|_| definition.is_some() || type_name) {
            let of = format!("field \"{}.{}\"", parent.name, field.name);
            self.unknown_arguments(&field.arguments, known, &of, field.position);
        }
        // Fields of fragments are checked where an operation spreads them.
        if self.operation.is_some() {
            self.overlaps(inner, &field.selection_set);
        }
        let of = format!("Field \"{}\"", field.name);
        self.missing_arguments(&field.arguments, known, &of, field.position);
        if let Some(inner) = inner {
            self.leaf(field, definition, inner);
        }
        self.unique_arguments(&field.arguments);
    }

    /// Returns the possible types of an abstract type that have a field, and their interfaces that
    /// have it, sorted by how many of these types implement them, most first.
    fn having(&self, parent: &'d Definition, field: &str) -> Vec<&'d str> {
        let types = self.types;
        let has = |name: &str| {
            let definition = types.get(name);
            definition.filter(|definition| types.field(definition, field).is_some())
        };
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        let possible = types.possible(parent);
        for one in possible.iter().filter_map(|name| has(name)) {
            uses.entry(&one.name).or_default();
            for interface in one.interfaces.iter().filter_map(|name| has(name)) {
                *uses.entry(&interface.name).or_default() += 1;
            }
        }
        let mut having: Vec<(&str, usize)> = uses.into_iter().collect();
        having.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
        having.into_iter().map(|(name, _)| name).collect()
    }

    fn unknown_field(&mut self, parent: &'d Definition, field: &'d Field) {
        let name = &field.name;
        let message = format!("Cannot query field \"{name}\" on type \"{}\".", parent.name);
        let having = match parent.kind.as_str() {
            "OBJECT" => Vec::new(),
            _ => self.having(parent, name),
        };
        let suggestion = if !having.is_empty() {
            let having = suggest::list(&having);
            format!(" Did you mean to use an inline fragment on {having}?")
        } else if parent.kind == "UNION" {
            String::new()
        } else {
            let fields = parent.fields.iter().map(|field| field.name.as_str());
            suggest::suggestion(name, fields, "Did you mean")
        };
        self.report(field.position, message + &suggestion);
    }

    fn leaf(&mut self, field: &'d Field, definition: Option<&FieldDefinition>, inner: &Definition) {
        let name = &field.name;
        match (inner.is_composite(), field.selection_set.is_empty()) {
            (false, false) if inner.kind != "INPUT_OBJECT" => self.report(
                field.position,
                format!(
                    "Field \"{name}\" must not have a selection since type \"{}\" has no subfields.",
                    inner.name
                ),
            ),
            (true, true) => {
                let kind = definition.map(|one| one.kind.to_string()).unwrap_or_default();
                self.report(
                    field.position,
                    format!(
                        "Field \"{name}\" of type \"{kind}\" must have a selection of subfields. Did you mean \"{name} {{ ... }}\"?"
                    ),
                );
            }
            _ => {}
        }
    }

    fn inline(&mut self, parent: Option<&'d Definition>, fragment: &'d InlineFragment) {
        let condition = &fragment.type_condition;
        let inner = match condition.is_empty() {
            true => parent,
            false => self.types.get(condition),
        };
        self.directives(&fragment.directives, "INLINE_FRAGMENT");
        self.selections(inner, &fragment.selection_set);
        match inner {
            _ if condition.is_empty() => {}
            None => self.report(fragment.position, format!("Unknown type \"{condition}\".")),
            Some(inner) if !inner.is_composite() => self.report(
                fragment.position,
                format!("Fragment cannot condition on non composite type \"{condition}\"."),
            ),
            Some(_) => {}
        }
        self.overlaps(inner, &fragment.selection_set);
        if let (Some(parent), Some(inner)) = (parent, inner)
            && !condition.is_empty()
            && inner.is_composite()
            && !self.can_be(parent, inner)
        {
            self.report(
                fragment.position,
                format!(
                    "Fragment cannot be spread here as objects of type \"{}\" can never be of type \"{condition}\".",
                    parent.name
                ),
            );
        }
    }

    /// Whether an object type can be of both types.
    fn can_be(&self, parent: &Definition, inner: &Definition) -> bool {
        if !parent.is_composite() {
            return true;
        }
        let possible = self.types.possible(parent);
        self.types
            .possible(inner)
            .iter()
            .any(|one| possible.contains(one))
    }

    fn spread(&mut self, parent: Option<&'d Definition>, spread: &'d FragmentSpread) {
        let name = spread.name.as_str();
        self.directives(&spread.directives, "FRAGMENT_SPREAD");
        let fragment = self.fragments.get(name).copied();
        if !self.is_past_fragment {
            self.spread.insert(name);
        }
        let Some(fragment) = fragment else {
            return self.report(spread.position, format!("Unknown fragment \"{name}\"."));
        };
        let inner = self.types.get(&fragment.type_condition);
        if self.visited.insert(name) {
            self.directives(&fragment.directives, "FRAGMENT_DEFINITION");
            deep(|| self.selections(inner, &fragment.selection_set));
        }
        if let (Some(parent), Some(inner)) = (parent, inner)
            && inner.is_composite()
            && !self.can_be(parent, inner)
        {
            self.report(
                spread.position,
                format!(
                    "Fragment \"{name}\" cannot be spread here as objects of type \"{}\" can never be of type \"{}\".",
                    parent.name, inner.name
                ),
            );
        }
    }

    fn directives(&mut self, directives: &'d [Directive], place: &str) {
        let mut seen = BTreeSet::new();
        for directive in directives {
            let (name, position) = (directive.name.as_str(), directive.position);
            let definition = self.types.directives.get(name);
            let known: &[ArgumentDefinition] = definition.map_or(&[], |one| &one.arguments);
            self.arguments(&directive.arguments, known);
            if let Some(definition) = definition {
                let of = format!("directive \"@{name}\"");
                self.unknown_arguments(&directive.arguments, known, &of, position);
                let is_allowed = definition
                    .locations
                    .iter()
                    .any(|location| location == place);
                let place_of = (name, position.line, position.column);
                if !is_allowed && self.misplaced.insert(place_of) {
                    let message = format!("Directive \"@{name}\" may not be used on {place}.");
                    self.report(position, message);
                }
                let of = format!("Directive \"@{name}\"");
                self.missing_arguments(&directive.arguments, known, &of, position);
            } else {
                self.report(position, format!("Unknown directive \"@{name}\"."));
            }
            self.unique_arguments(&directive.arguments);
            let repeatable = definition.is_some_and(|definition| definition.is_repeatable);
            if !seen.insert(name) && !repeatable {
                let message =
                    format!("The directive \"@{name}\" can only be used once at this location.");
                self.report(position, message);
            }
        }
    }

    fn arguments(&mut self, arguments: &'d [Argument], known: &'d [ArgumentDefinition]) {
        for argument in arguments {
            let definition = known.iter().find(|known| known.name == argument.name);
            let expected = definition.map(|definition| Expected {
                kind: Some(&definition.kind),
                definition: self.types.get(definition.kind.name()),
                has_default: definition
                    .default_value
                    .as_ref()
                    .is_some_and(|default| default.kind != super::ast::kind::NULL),
            });
            self.value(&argument.value, expected.unwrap_or_default());
        }
    }

    fn unknown_arguments(
        &mut self,
        arguments: &[Argument],
        known: &[ArgumentDefinition],
        of: &str,
        position: Position,
    ) {
        for argument in arguments {
            let names = known.iter().map(|known| known.name.as_str());
            if !names.clone().any(|name| name == argument.name) {
                let suggestion = suggest::suggestion(&argument.name, names, "Did you mean");
                let name = &argument.name;
                self.report(
                    position,
                    format!("Unknown argument \"{name}\" on {of}.{suggestion}"),
                );
            }
        }
    }

    fn missing_arguments(
        &mut self,
        arguments: &[Argument],
        known: &[ArgumentDefinition],
        of: &str,
        position: Position,
    ) {
        for known in known {
            let optional = !known.kind.non_null || known.default_value.is_some();
            if optional || arguments.iter().any(|argument| argument.name == known.name) {
                continue;
            }
            let (name, kind) = (&known.name, &known.kind);
            self.report(
                position,
                format!("{of} argument \"{name}\" of type \"{kind}\" is required, but it was not provided."),
            );
        }
    }

    fn unique_arguments(&mut self, arguments: &[Argument]) {
        let mut seen = BTreeSet::new();
        for argument in arguments {
            if !seen.insert(&argument.name) {
                let name = &argument.name;
                let message = format!("There can be only one argument named \"{name}\".");
                self.report(argument.position, message);
            }
        }
    }
}

/// Returns the fragments that a set spreads at any depth.
fn spreads(set: &[Selection]) -> Vec<&FragmentSpread> {
    let mut found = Vec::new();
    let mut open = vec![set];
    while let Some(set) = open.pop() {
        for selection in set {
            match selection {
                Selection::Field(field) => open.push(&field.selection_set),
                Selection::Inline(inline) => open.push(&inline.selection_set),
                Selection::Spread(spread) => found.push(spread),
            }
        }
    }
    found
}
