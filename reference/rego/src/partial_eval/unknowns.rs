//! Unknowns: `input`, documents or parts of them.

use thin_vec::{ThinVec, thin_vec};

use crate::Value;
use crate::error::{Code, Errors, LanguageError};
use crate::syntax::terms::{constant, is_var};
use crate::syntax::{ExprTerms, Term, TermValue, Version, is_keyword, parse_query};

/// Root document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// `input`
    Input,
    /// `data`
    Data,
}

/// Path of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnknownPath {
    pub(super) root: Root,
    pub(super) steps: Vec<Value>,
}

/// References to unknown documents, or to rules that must not be inlined.
///
/// A reference covers the document at its path and everything below. A reference with a variable
/// covers the document that precedes the variable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct References {
    places: Vec<UnknownPath>,
}

impl References {
    /// Returns the reference to the whole `input`.
    pub fn input() -> Self {
        let steps = Vec::new();
        let root = Root::Input;
        Self {
            places: vec![UnknownPath { root, steps }],
        }
    }

    /// Parses references: `input.user`, `data.teams["a b"]`. A reference with another head is
    /// accepted and covers nothing.
    ///
    /// # Errors
    /// A string that is not a reference.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, Errors> {
        let mut places = Vec::new();
        for text in texts {
            if let Some(place) = parse_dotted(text) {
                places.push(place);
                continue;
            }
            let reference = reference(text)?;
            let Some((head, steps)) = reference.split_first() else {
                continue;
            };
            let root = if is_var(head, "input") {
                Root::Input
            } else if is_var(head, "data") {
                Root::Data
            } else {
                continue;
            };
            let steps = steps.iter().map_while(constant).collect();
            places.push(UnknownPath { root, steps });
        }
        Ok(Self { places })
    }

    /// Whether a document is covered by one of the references.
    pub(super) fn cover(&self, root: Root, path: &[Value]) -> bool {
        let mut places = self.places.iter();
        places.any(|place| place.root == root && path.starts_with(&place.steps))
    }

    /// Whether one of the references is below a path.
    pub(super) fn below(&self, root: Root, path: &[Value]) -> bool {
        self.under(root, path).next().is_some()
    }

    /// Whether one of the references is at a path, above it or below it.
    pub(super) fn overlap(&self, root: Root, path: &[Value]) -> bool {
        self.cover(root, path) || self.below(root, path)
    }

    /// Returns the steps that follow a path in the references below it.
    pub(super) fn under<'r>(
        &'r self,
        root: Root,
        path: &'r [Value],
    ) -> impl Iterator<Item = &'r Value> {
        self.places.iter().filter_map(move |place| {
            let below = place.root == root && place.steps.starts_with(path);
            below.then(|| place.steps.get(path.len()))?
        })
    }

    /// Returns the reference with the least `distance` to a prefix of a path that has the same
    /// length as the reference.
    pub(super) fn nearest(
        &self,
        root: Root,
        path: &[Value],
        distance: impl Fn(&[Value], &[Value]) -> Option<usize>,
    ) -> Option<&[Value]> {
        let places = self.places.iter().filter(|place| place.root == root);
        let near = places.filter_map(|place| {
            let beginning = path.get(..place.steps.len())?;
            Some((distance(&place.steps, beginning)?, &*place.steps))
        });
        near.min_by_key(|(distance, _)| *distance)
            .map(|(_, steps)| steps)
    }

    /// Returns the references without those at a path and below it.
    pub(super) fn without(&self, root: Root, path: &[Value]) -> Self {
        let retained = self
            .places
            .iter()
            .filter(|place| place.root != root || !place.steps.starts_with(path));
        Self {
            places: retained.cloned().collect(),
        }
    }
}

/// Parses the usual notation, names with dots between them; `None` for anything else, or if a name
/// may be a keyword.
fn parse_dotted(text: &str) -> Option<UnknownPath> {
    let mut names = text.split('.');
    let root = match names.next()? {
        "input" => Root::Input,
        "data" => Root::Data,
        _ => return None,
    };
    let is_plain = |name: &&str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !is_keyword(name, Version::V1)
    };
    let steps = names.map(|name| Some(name).filter(is_plain).map(Value::from));
    let steps = steps.collect::<Option<_>>()?;
    Some(UnknownPath { root, steps })
}

/// Parses a string as a reference.
fn reference(text: &str) -> Result<ThinVec<Term>, Errors> {
    let body = parse_query(text)?;
    if let [expr] = body.as_slice()
        && !expr.negated
        && expr.with.is_empty()
        && let ExprTerms::Term(term) = &expr.terms
    {
        match &term.value {
            TermValue::Ref(reference) => return Ok(reference.clone()),
            TermValue::Var(_) => return Ok(thin_vec![Term::clone(term)]),
            _ => {}
        }
    }
    let message = format!("expected a reference, found {text}");
    let location = body.first().map(|expr| expr.location.clone());
    Err(Errors(vec![LanguageError {
        code: Code::Parse,
        message,
        location,
        details: None,
    }]))
}
