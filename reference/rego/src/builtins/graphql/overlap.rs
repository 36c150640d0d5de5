//! Whether fields that answer under the same name can be one.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Argument, Definition, Field, Position, Selection, Type};
use super::validate::Walk;
use super::values::shown;

/// So many fields are collected and compared in one document.
pub(super) const MAX_STEPS: usize = 1_000_000;

const TOO_MANY: &str = "there are too many fields to compare";

/// A field and the type that it is selected on.
type Selected<'d> = (&'d Field, Option<&'d Definition>);

impl<'d> Walk<'d> {
    /// Looks at all fields that a set selects, and at what these select.
    pub(super) fn overlaps(&mut self, parent: Option<&'d Definition>, set: &'d [Selection]) {
        if self.steps > MAX_STEPS {
            return;
        }
        let mut fields = BTreeMap::new();
        self.collect(parent, set, &mut fields, &mut BTreeSet::new());
        if self.steps > MAX_STEPS {
            return self.wrong(Position::default(), TOO_MANY);
        }
        for (name, fields) in &fields {
            for (at, first) in fields.iter().enumerate() {
                for second in fields.iter().skip(at + 1) {
                    if let Some(reason) = self.conflict(*first, *second, false) {
                        let message = format!(
                            "Fields \"{name}\" conflict because {reason}. Use different aliases on the fields to fetch both if this was intentional."
                        );
                        self.wrong(second.0.position, message);
                        return;
                    }
                }
            }
        }
    }

    /// Collects the fields that a set selects: its own ones before those of fragments.
    fn collect(
        &mut self,
        parent: Option<&'d Definition>,
        set: &'d [Selection],
        fields: &mut BTreeMap<&'d str, Vec<Selected<'d>>>,
        spread: &mut BTreeSet<&'d str>,
    ) {
        let mut spreads = Vec::new();
        self.collect_own(parent, set, fields, &mut spreads);
        for name in spreads {
            let Some(fragment) = self.fragments.get(name).copied() else {
                continue;
            };
            if spread.insert(&fragment.name) {
                let parent = self.types.get(&fragment.type_condition);
                deep(|| self.collect(parent, &fragment.selection_set, fields, spread));
            }
        }
    }

    fn collect_own(
        &mut self,
        parent: Option<&'d Definition>,
        set: &'d [Selection],
        fields: &mut BTreeMap<&'d str, Vec<Selected<'d>>>,
        spreads: &mut Vec<&'d str>,
    ) {
        for selection in set {
            self.steps += 1;
            if self.steps > MAX_STEPS || !self.step(1) {
                return;
            }
            match selection {
                Selection::Field(field) => {
                    let same = fields.entry(&field.alias).or_default();
                    same.push((field, parent));
                }
                Selection::Inline(fragment) => {
                    let parent = match fragment.type_condition.is_empty() {
                        true => parent,
                        false => self.types.get(&fragment.type_condition),
                    };
                    self.collect_own(parent, &fragment.selection_set, fields, spreads);
                }
                Selection::Spread(one) => spreads.push(&one.name),
            }
        }
    }

    /// Why two fields cannot be one, unless they belong to objects that never are the same.
    fn conflict(
        &mut self,
        (first, first_parent): Selected<'d>,
        (second, second_parent): Selected<'d>,
        apart: bool,
    ) -> Option<String> {
        // Of fields of types that nobody knows another rule tells.
        if std::ptr::eq(first, second) || first_parent.is_none() || second_parent.is_none() {
            return None;
        }
        self.steps += 1;
        if self.steps > MAX_STEPS || !self.step(2) {
            return Some(TOO_MANY.to_owned());
        }
        let apart = apart
            || matches!((first_parent, second_parent), (Some(one), Some(other))
                if one.name != other.name && one.kind == "OBJECT" && other.kind == "OBJECT");
        if !apart {
            if first.name != second.name {
                return Some(format!(
                    "\"{}\" and \"{}\" are different fields",
                    first.name, second.name
                ));
            }
            if !same_arguments(&first.arguments, &second.arguments) {
                return Some("they have differing arguments".to_owned());
            }
        }
        let types = self.types;
        let kind = |field: &Field, parent: Option<&'d Definition>| {
            parent
                .and_then(|parent| types.field(parent, &field.name))
                .map(|field| &field.kind)
        };
        let first_kind = kind(first, first_parent);
        let second_kind = kind(second, second_parent);
        if let (Some(one), Some(other)) = (first_kind, second_kind)
            && self.shapes_differ(one, other)
        {
            return Some(format!(
                "they return conflicting types \"{one}\" and \"{other}\""
            ));
        }
        let mut fields = BTreeMap::new();
        let mut spread = BTreeSet::new();
        for (field, kind) in [(first, first_kind), (second, second_kind)] {
            let parent = kind.and_then(|kind| types.get(kind.name()));
            self.collect(parent, &field.selection_set, &mut fields, &mut spread);
        }
        for (name, fields) in &fields {
            for (at, one) in fields.iter().enumerate() {
                for other in fields.iter().skip(at + 1) {
                    if let Some(reason) = deep(|| self.conflict(*one, *other, apart)) {
                        return Some(format!("subfields \"{name}\" conflict because {reason}"));
                    }
                }
            }
        }
        None
    }

    /// Whether answers of these types look different.
    fn shapes_differ(&self, one: &Type, other: &Type) -> bool {
        if one.non_null != other.non_null {
            return true;
        }
        match (&one.elem, &other.elem) {
            (Some(one), Some(other)) => self.shapes_differ(one, other),
            (None, None) => {
                let leaf = |name| {
                    let definition = self.types.get(name);
                    definition.is_some_and(|one| matches!(one.kind.as_str(), "SCALAR" | "ENUM"))
                };
                let leaves = leaf(&one.named_type) || leaf(&other.named_type);
                leaves && one.named_type != other.named_type
            }
            _ => true,
        }
    }
}

fn same_arguments(first: &[Argument], second: &[Argument]) -> bool {
    let written = |arguments: &[Argument]| -> BTreeMap<String, String> {
        let arguments = arguments.iter();
        arguments
            .map(|argument| (argument.name.clone(), shown(&argument.value)))
            .collect()
    };
    first.len() == second.len() && (first.is_empty() || written(first) == written(second))
}

/// Goes on with a larger stack if this one ends soon.
pub(super) fn deep<T>(go_on: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 10, 1 << 20, go_on)
}
