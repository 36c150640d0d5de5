//! Checks that overlapping fields can be merged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::ast::{Argument, Child, Definition, Field, Position, Selection, Type, Value, kind};
use super::walk::Walk;

/// Maximum number of fields collected and compared per document.
pub(super) const MAX_STEPS: usize = 1_000_000;

const TOO_MANY: &str = "there are too many fields to compare";

/// Number of bytes of a conflict's reason that count as one compared field.
const BYTES_OF_STEP: usize = 16;

/// Field and the type that it is selected on.
type FieldOfType<'d> = (&'d Field, Option<&'d Definition>);

/// Fields of a selection set and its inline fragments, and the fragments that it spreads.
#[derive(Debug, Default)]
struct Selected<'d> {
    /// Response names of the fields, in the order of the set.
    names: Vec<&'d str>,
    fields: BTreeMap<&'d str, Vec<FieldOfType<'d>>>,
    spreads: Vec<&'d str>,
}

/// Two fields with the same response name that cannot be merged.
#[derive(Debug)]
struct Conflict<'d> {
    name: &'d str,
    position: Position,
    reason: String,
}

impl<'d> Walk<'d> {
    /// Checks all fields that a set selects, and their selections.
    pub(super) fn overlaps(&mut self, parent: Option<&'d Definition>, set: &'d [Selection]) {
        if set.is_empty() || self.compared.steps > MAX_STEPS {
            return;
        }
        let mut conflicts = Vec::new();
        let selected = self.selected(parent, set);
        for name in &selected.names {
            let fields = selected.of(name);
            for (at, first) in fields.iter().enumerate() {
                for second in fields.iter().skip(at + 1) {
                    conflicts.extend(self.conflict(*first, *second, false));
                }
            }
        }
        self.compared.fragments.clear();
        for (at, first) in selected.spreads.iter().enumerate() {
            self.with_fragment(&selected, first, false, &mut conflicts);
            for second in selected.spreads.iter().skip(at + 1) {
                self.fragments_of_set(first, second, false, &mut conflicts);
            }
        }
        if self.compared.steps > MAX_STEPS {
            return self.report(Position::default(), TOO_MANY);
        }
        for Conflict {
            name,
            position,
            reason,
        } in conflicts
        {
            let message = format!(
                "Fields \"{name}\" conflict because {reason}. Use different aliases on the fields to fetch both if this was intentional."
            );
            self.report(position, message);
        }
    }

    /// Counts a field that is collected or compared. Returns whether the comparison continues.
    fn compares(&mut self, units: usize) -> bool {
        self.compared.steps += 1;
        self.compared.steps <= MAX_STEPS && self.step(units)
    }

    fn selected(&mut self, parent: Option<&'d Definition>, set: &'d [Selection]) -> Selected<'d> {
        let mut selected = Selected::default();
        self.select(parent, set, &mut selected);
        selected
    }

    fn select(
        &mut self,
        parent: Option<&'d Definition>,
        set: &'d [Selection],
        selected: &mut Selected<'d>,
    ) {
        for selection in set {
            if !self.compares(1) {
                return;
            }
            match selection {
                Selection::Field(field) => selected.push((field, parent)),
                Selection::Inline(fragment) => {
                    let parent = match fragment.type_condition.is_empty() {
                        true => parent,
                        false => self.types.get(&fragment.type_condition),
                    };
                    self.select(parent, &fragment.selection_set, selected);
                }
                Selection::Spread(spread) => selected.spreads.push(&spread.name),
            }
        }
    }

    fn fragment_fields(&mut self, name: &str) -> Option<Selected<'d>> {
        let fragment = self.fragments.get(name).copied()?;
        let parent = self.types.get(&fragment.type_condition);
        Some(self.selected(parent, &fragment.selection_set))
    }

    /// Compares the fields of one set with those of another.
    fn between(
        &mut self,
        first: &Selected<'d>,
        second: &Selected<'d>,
        exclusive: bool,
        conflicts: &mut Vec<Conflict<'d>>,
    ) {
        for name in &first.names {
            for one in first.of(name) {
                for other in second.of(name) {
                    conflicts.extend(self.conflict(*one, *other, exclusive));
                }
            }
        }
    }

    /// Compares fields with those of a fragment, and of the fragments that it spreads.
    fn with_fragment(
        &mut self,
        fields: &Selected<'d>,
        name: &'d str,
        exclusive: bool,
        conflicts: &mut Vec<Conflict<'d>>,
    ) {
        if !self.compared.fragments.insert(name) || !self.compares(1) {
            return;
        }
        let Some(others) = self.fragment_fields(name) else {
            return;
        };
        if fields.is_same(&others) {
            return;
        }
        self.between(fields, &others, exclusive, conflicts);
        for spread in others.spreads {
            deep(|| self.with_fragment(fields, spread, exclusive, conflicts));
        }
    }

    /// Compares the fields of two fragments, and of the fragments that they spread.
    fn fragments_of_set(
        &mut self,
        first: &'d str,
        second: &'d str,
        exclusive: bool,
        conflicts: &mut Vec<Conflict<'d>>,
    ) {
        let pairs = &mut self.compared.pairs;
        let before = pairs.get(&(first, second));
        if first == second || before.is_some_and(|were_exclusive| exclusive || !were_exclusive) {
            return;
        }
        pairs.insert((first, second), exclusive);
        pairs.insert((second, first), exclusive);
        if !self.compares(1) {
            return;
        }
        let (Some(of_first), Some(of_second)) =
            (self.fragment_fields(first), self.fragment_fields(second))
        else {
            return;
        };
        self.between(&of_first, &of_second, exclusive, conflicts);
        for spread in of_second.spreads {
            deep(|| self.fragments_of_set(first, spread, exclusive, conflicts));
        }
        for spread in of_first.spreads {
            deep(|| self.fragments_of_set(spread, second, exclusive, conflicts));
        }
    }

    /// Returns the conflict of two fields, unless they belong to mutually exclusive objects.
    fn conflict(
        &mut self,
        (first, first_parent): FieldOfType<'d>,
        (second, second_parent): FieldOfType<'d>,
        exclusive: bool,
    ) -> Option<Conflict<'d>> {
        // Another rule reports fields of unknown types.
        let (first_parent, second_parent) = (first_parent?, second_parent?);
        if std::ptr::eq(first, second) || !self.compares(2) {
            return None;
        }
        let first_kind = self.kind(first, first_parent);
        let second_kind = self.kind(second, second_parent);
        let are_objects = first_parent.kind == "OBJECT" && second_parent.kind == "OBJECT";
        let exclusive = exclusive
            || (are_objects
                && first_parent.name != second_parent.name
                && first_kind.is_some()
                && second_kind.is_some());
        let reason = if !exclusive && first.name != second.name {
            let (first, second) = (&first.name, &second.name);
            format!("\"{first}\" and \"{second}\" are different fields")
        } else if !exclusive && !are_same(&first.arguments, &second.arguments) {
            "they have differing arguments".to_owned()
        } else if let (Some(one), Some(other)) = (&first_kind, &second_kind)
            && self.shapes_differ(one, other)
        {
            format!("they return conflicting types \"{one}\" and \"{other}\"")
        } else {
            let first_set = self.selected_of(first, first_kind.as_deref());
            let second_set = self.selected_of(second, second_kind.as_deref());
            deep(|| self.subfields(&first_set, &second_set, exclusive))?
        };
        self.compared.steps += reason.len() / BYTES_OF_STEP;
        Some(Conflict {
            name: &first.alias,
            position: second.position,
            reason,
        })
    }

    fn kind(&self, field: &Field, parent: &'d Definition) -> Option<Cow<'d, Type>> {
        if field.name == "__typename" {
            let named_type = "String".to_owned();
            return Some(Cow::Owned(Type {
                named_type,
                ..Type::default()
            }));
        }
        let definition = self.types.field(parent, &field.name)?;
        Some(Cow::Borrowed(&definition.kind))
    }

    fn selected_of(&mut self, field: &'d Field, kind: Option<&Type>) -> Selected<'d> {
        let parent = kind.and_then(|kind| self.types.get(kind.name()));
        self.selected(parent, &field.selection_set)
    }

    /// Returns the conflicts between the selections of two fields as one message.
    fn subfields(
        &mut self,
        first: &Selected<'d>,
        second: &Selected<'d>,
        exclusive: bool,
    ) -> Option<String> {
        let mut conflicts = Vec::new();
        self.between(first, second, exclusive, &mut conflicts);
        for (fields, spreads) in [(first, &second.spreads), (second, &first.spreads)] {
            for spread in spreads {
                self.compared.fragments.clear();
                self.with_fragment(fields, spread, exclusive, &mut conflicts);
            }
        }
        for one in &first.spreads {
            for other in &second.spreads {
                self.fragments_of_set(one, other, exclusive, &mut conflicts);
            }
        }
        let mut text = String::new();
        for Conflict { name, reason, .. } in conflicts {
            let and = if text.is_empty() { "" } else { " and " };
            text += &format!("{and}subfields \"{name}\" conflict because {reason}");
        }
        (!text.is_empty()).then_some(text)
    }

    /// Whether values of these types have different shapes.
    fn shapes_differ(&self, one: &Type, other: &Type) -> bool {
        let is_leaf = |kind: &Type| {
            let definition = self.types.get(&kind.named_type);
            definition.is_some_and(|one| matches!(one.kind.as_str(), "SCALAR" | "ENUM"))
        };
        match (&one.elem, &other.elem) {
            (Some(one), Some(other)) => self.shapes_differ(one, other),
            (None, None) => {
                one.non_null != other.non_null
                    || (one.named_type != other.named_type && is_leaf(one) && is_leaf(other))
            }
            _ => true,
        }
    }
}

impl<'d> Selected<'d> {
    fn push(&mut self, field: FieldOfType<'d>) {
        let name = field.0.alias.as_str();
        let fields = self.fields.entry(name).or_default();
        if fields.is_empty() {
            self.names.push(name);
        }
        fields.push(field);
    }

    fn of(&self, name: &str) -> &[FieldOfType<'d>] {
        self.fields.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether both selections contain the same fields.
    fn is_same(&self, other: &Self) -> bool {
        let is_same = |name: &&str| {
            let (ours, theirs) = (self.of(name), other.of(name));
            let mut both = ours.iter().zip(theirs);
            ours.len() == theirs.len() && both.all(|(one, other)| std::ptr::eq(one.0, other.0))
        };
        self.names == other.names && self.names.iter().all(is_same)
    }
}

/// Whether two fields have the same arguments.
fn are_same(first: &[Argument], second: &[Argument]) -> bool {
    let is_in_second = |one: &Argument| {
        let mut others = second.iter();
        others.any(|other| one.name == other.name && is_same(&one.value, &other.value))
    };
    first.len() == second.len() && first.iter().all(is_in_second)
}

/// Whether two values are written alike, except for the order of object members.
fn is_same(first: &Value, second: &Value) -> bool {
    let (first_children, second_children) = (children(first), children(second));
    let mut pairs = first_children.iter().zip(&second_children);
    first.kind == second.kind
        && first.raw == second.raw
        && first_children.len() == second_children.len()
        && pairs.all(|(one, other)| {
            one.name == other.name && deep(|| is_same(&one.value, &other.value))
        })
}

/// Returns the items of a list, or the members of an object sorted by name.
fn children(value: &Value) -> Vec<&Child> {
    let mut children: Vec<_> = value.children.iter().collect();
    if value.kind == kind::OBJECT {
        children.sort_by_key(|child| &child.name);
    }
    children
}

/// Runs a function on a larger stack if the current one is nearly exhausted.
pub(super) fn deep<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 10, 1 << 20, run)
}
