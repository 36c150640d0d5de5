//! Output variables of equalities.

use super::evaluable::{Safe, is_ref_safe, is_safe_value};
use super::vars::{PATTERN, Vars};
use crate::hash::HashMap;
use crate::syntax::visit::deep;
use crate::syntax::{Term, TermValue, Var};

/// Returns the variables that the unification of two terms binds, given the bound ones.
pub(super) fn unify<'t>(safe: Safe<'_>, left: &'t Term, right: &'t Term) -> Vars<'t> {
    let mut unifier = Unifier {
        safe,
        bound: Vars::default(),
        groups: Vec::new(),
        watching: HashMap::default(),
    };
    unifier.pair(left, right);
    unifier.bound
}

struct Unifier<'s, 't> {
    safe: Safe<'s>,
    bound: Vars<'t>,
    /// Equations of a variable and a collection: each side is bound once the other is.
    groups: Vec<Group<'t>>,
    /// Groups that contain a variable, as the whole or as a member.
    watching: HashMap<&'t Var, Vec<usize>>,
}

struct Group<'t> {
    whole: &'t Var,
    members: Vec<&'t Var>,
    /// Number of members that are not bound yet.
    open: usize,
}

impl<'t> Unifier<'_, 't> {
    fn is_safe(&self, var: &Var) -> bool {
        (self.safe)(var) || self.bound.contains(var)
    }

    fn pair(&mut self, left: &'t Term, right: &'t Term) {
        use TermValue as V;
        match (&left.value, &right.value) {
            (V::Var(left), V::Var(right)) => self.group(left, vec![right]),
            (V::Var(var), V::Array(_) | V::Object(_)) => self.var_and_pattern(var, right),
            (V::Array(_) | V::Object(_), V::Var(var)) => self.var_and_pattern(var, left),
            (V::Array(left), V::Array(right)) if left.len() == right.len() => {
                for (left, right) in left.iter().zip(right) {
                    deep(|| self.pair(left, right));
                }
            }
            (V::Array(_), V::Array(_)) => {}
            (V::Object(left), V::Object(right)) => self.objects(left, right),
            (V::Var(_) | V::Array(_) | V::Object(_), _) => {
                self.pattern_and_value(left, right, !matches!(left.value, V::Object(_)));
            }
            (_, V::Var(_) | V::Array(_) | V::Object(_)) => {
                let binds_pattern = match &left.value {
                    V::ArrayComprehension(_) => !matches!(right.value, V::Object(_)),
                    V::ObjectComprehension(_) => !matches!(right.value, V::Array(_)),
                    _ => matches!(right.value, V::Var(_)),
                };
                self.pattern_and_value(right, left, binds_pattern);
            }
            _ => {}
        }
    }

    fn objects(&mut self, left: &'t [(Term, Term)], right: &'t [(Term, Term)]) {
        if left.len() != right.len() {
            return;
        }
        let by_key: HashMap<_, _> = match left.len() {
            0 => return,
            _ => right.iter().map(|(key, value)| (Key(key), value)).collect(),
        };
        for (key, left) in left {
            if let Some(right) = by_key.get(&Key(key)) {
                deep(|| self.pair(left, right));
            }
        }
    }

    /// Unifies a pattern with a term that is not a pattern: a scalar, a set, a comprehension, a
    /// reference, a call. `binds_pattern` says whether a comprehension binds the pattern.
    fn pattern_and_value(&mut self, pattern: &'t Term, value: &'t Term, binds_pattern: bool) {
        let binds = match &value.value {
            TermValue::Ref(reference) => is_ref_safe(reference, self.safe),
            TermValue::Call(_) => is_safe_value(value, self.safe),
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => binds_pattern,
            _ => matches!(pattern.value, TermValue::Var(_)),
        };
        if binds {
            self.bind_all(pattern);
        }
    }

    fn bind_all(&mut self, pattern: &'t Term) {
        let mut vars = Vec::new();
        PATTERN.term(pattern, &mut |var, _| vars.push(var));
        vars.into_iter().for_each(|var| self.bind(var));
    }

    fn var_and_pattern(&mut self, var: &'t Var, pattern: &'t Term) {
        let members = PATTERN.of_term(pattern);
        self.group(var, members.into_iter().collect());
    }

    /// Records that a variable equals a collection of others.
    fn group(&mut self, whole: &'t Var, members: Vec<&'t Var>) {
        if self.is_safe(whole) {
            members.into_iter().for_each(|var| self.bind(var));
            return;
        }
        let members: Vec<_> = members
            .into_iter()
            .filter(|var| !self.is_safe(var))
            .collect();
        if members.is_empty() {
            self.bind(whole);
            return;
        }
        let index = self.groups.len();
        for var in members.iter().chain([&whole]) {
            self.watching.entry(var).or_default().push(index);
        }
        let open = members.len();
        self.groups.push(Group {
            whole,
            members,
            open,
        });
    }

    fn bind(&mut self, var: &'t Var) {
        let mut queue = vec![var];
        while let Some(var) = queue.pop() {
            if !self.bound.insert(var) {
                continue;
            }
            for index in self.watching.remove(var).unwrap_or_default() {
                let Some(group) = self.groups.get_mut(index) else {
                    continue;
                };
                if group.whole == var {
                    queue.append(&mut group.members);
                } else {
                    group.open = group.open.saturating_sub(1);
                    if group.open == 0 {
                        queue.push(group.whole);
                    }
                }
            }
        }
    }
}

/// Key of an object, hashed by its text for strings and variables.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'t>(&'t Term);

impl std::hash::Hash for Key<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0.value).hash(state);
        match &self.0.value {
            TermValue::String(text) => text.hash(state),
            TermValue::Bytes(bytes) => bytes.hash(state),
            TermValue::Var(var) => var.hash(state),
            _ => {}
        }
    }
}
