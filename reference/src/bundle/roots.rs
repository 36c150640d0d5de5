//! The parts of the documents that bundles own.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};

/// What is escaped in a step of a root: all that a segment of a URL would not show as it is.
pub(crate) const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b':')
    .remove(b'=')
    .remove(b'@');

/// Paths of documents, none of which lies in another. The empty path is the root document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// As they were written, without the slashes at their ends.
    texts: Vec<String>,
    /// INVARIANT: sorted, so that what lies in a path stands right behind it.
    paths: Vec<Vec<String>>,
}

impl Roots {
    /// The paths that a manifest names, with or without slashes at their ends; segments may be
    /// percent-encoded.
    ///
    /// # Errors
    /// When one lies in another, or is not UTF-8.
    pub(super) fn read<'t>(given: impl Iterator<Item = &'t str>) -> Result<Self, String> {
        let texts: Vec<_> = given
            .map(|text| text.trim_matches('/').to_owned())
            .collect();
        let paths: Result<Vec<_>, _> = texts.iter().map(|text| segments(text)).collect();
        let mut paths = paths?;
        paths.sort_unstable();
        let mut pairs = paths.iter().zip(paths.iter().skip(1));
        if let Some((outer, inner)) = pairs.find(|(outer, inner)| inner.starts_with(outer)) {
            let (outer, inner) = (outer.join("/"), inner.join("/"));
            return Err(format!("the roots `{outer}` and `{inner}` overlap"));
        }
        Ok(Self { texts, paths })
    }

    /// The paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[String]> {
        self.paths.iter().map(Vec::as_slice)
    }

    /// As they were written, without the slashes at their ends.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether both have the same paths.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.paths == other.paths
    }

    /// The root that holds the document at a path.
    pub fn holding(&self, path: &[String]) -> Option<&[String]> {
        let before = self.paths.partition_point(|root| root.as_slice() <= path);
        let root = self.paths.get(before.checked_sub(1)?)?;
        path.starts_with(root).then_some(root)
    }

    /// The root that holds the document at a path, or lies in it.
    pub fn touching(&self, path: &[String]) -> Option<&[String]> {
        self.holding(path).or_else(|| {
            let before = self.paths.partition_point(|root| root.as_slice() < path);
            let root = self.paths.get(before)?;
            root.starts_with(path).then_some(root.as_slice())
        })
    }
}

impl Default for Roots {
    /// The whole root document.
    fn default() -> Self {
        Self {
            texts: vec![String::new()],
            paths: vec![Vec::new()],
        }
    }
}

impl fmt::Display for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.texts.join(" "))
    }
}

/// The segments of a path as bundles write it.
///
/// # Errors
/// When it is not UTF-8.
pub(super) fn segments(path: &str) -> Result<Vec<String>, String> {
    let trimmed = path.trim_matches('/');
    if trimmed.is_empty() {
        return Ok(Vec::new());
    }
    let segments = trimmed.split('/').map(|segment| {
        let decoded = percent_decode_str(segment).decode_utf8();
        let decoded = decoded.map_err(|_| format!("the path `{path}` is not UTF-8"))?;
        Ok(decoded.into_owned())
    });
    segments.collect()
}
