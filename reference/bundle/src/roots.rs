//! Roots: the paths below `data` that a bundle owns.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};

/// Characters that are escaped in a segment of a root: all that a URL segment would escape.
pub const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
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

/// Paths of documents, none of which contains another. The empty path is the root document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// Paths as written, without leading and trailing slashes.
    texts: Vec<String>,
    /// INVARIANT: sorted, so that everything below a path directly follows it.
    paths: Vec<Vec<String>>,
    /// The paths in `paths` with their segments as written. INVARIANT: sorted.
    written: Vec<Vec<String>>,
}

impl Roots {
    /// Parses the roots of a manifest, with or without slashes at their ends; segments may be
    /// percent-encoded. A path may occur in several spellings.
    ///
    /// # Errors
    /// When a root contains another, is not UTF-8, or has a percent sign that begins no escape.
    pub(super) fn read<'t>(roots: impl Iterator<Item = &'t str>) -> Result<Self, String> {
        let texts: Vec<_> = roots
            .map(|text| text.trim_matches('/').to_owned())
            .collect();
        let mut written: Vec<_> = texts.iter().map(|text| split(text)).collect();
        written.sort_unstable();
        let mut pairs = written.iter().zip(written.iter().skip(1));
        if let Some((one, _)) = pairs.find(|(one, other)| one == other) {
            let root = one.join("/");
            return Err(format!("the roots `{root}` and `{root}` overlap"));
        }
        let paths: Result<Vec<_>, _> = written.iter().map(|path| decoded(path)).collect();
        let mut paths = paths?;
        paths.sort_unstable();
        paths.dedup();
        let mut pairs = paths.iter().zip(paths.iter().skip(1));
        if let Some((outer, inner)) = pairs.find(|(outer, inner)| inner.starts_with(outer)) {
            let (outer, inner) = (outer.join("/"), inner.join("/"));
            return Err(format!("the roots `{outer}` and `{inner}` overlap"));
        }
        Ok(Self {
            texts,
            paths,
            written,
        })
    }

    /// Iterates over the paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[String]> {
        self.paths.iter().map(Vec::as_slice)
    }

    /// Paths as written, without leading and trailing slashes.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether both roots have the same paths, however these are written.
    pub fn same(&self, other: &Self) -> bool {
        self.paths == other.paths
    }

    /// Returns the root that contains the document at a path.
    pub fn holding(&self, path: &[String]) -> Option<&[String]> {
        holding(&self.paths, path)
    }

    /// Returns a root that contains the document at a path, or is inside this document.
    pub fn touching(&self, path: &[String]) -> Option<&[String]> {
        touching(&self.paths, path)
    }

    /// Whether a directory of a bundle, with its name as written, contains a root or is inside one.
    /// Roots are compared as written: `a%20b` does not permit a directory `a b`.
    pub(super) fn permit_folder(&self, folder: &[String]) -> bool {
        touching(&self.written, folder).is_some()
    }

    /// Whether a directory is inside a root that is written with escapes.
    pub(super) fn escape(&self, folder: &[String]) -> bool {
        let root = holding(&self.written, folder);
        root.is_some_and(|root| root.iter().any(|segment| segment.contains('%')))
    }
}

/// Finds, in a sorted list of paths, the one that contains `path`.
fn holding<'p>(paths: &'p [Vec<String>], path: &[String]) -> Option<&'p [String]> {
    let before = paths.partition_point(|root| root.as_slice() <= path);
    let root = paths.get(before.checked_sub(1)?)?;
    path.starts_with(root).then_some(root)
}

/// Finds, in a sorted list of paths, one that contains `path` or is inside it.
fn touching<'p>(paths: &'p [Vec<String>], path: &[String]) -> Option<&'p [String]> {
    holding(paths, path).or_else(|| {
        let before = paths.partition_point(|root| root.as_slice() < path);
        let root = paths.get(before)?;
        root.starts_with(path).then_some(root.as_slice())
    })
}

impl Default for Roots {
    /// Returns the roots of a bundle that owns the whole root document.
    fn default() -> Self {
        Self {
            texts: vec![String::new()],
            paths: vec![Vec::new()],
            written: vec![Vec::new()],
        }
    }
}

impl fmt::Display for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.texts.join(" "))
    }
}

/// Splits a percent-encoded path into decoded segments.
///
/// # Errors
/// When a segment is not UTF-8, or has a percent sign that begins no escape.
pub(super) fn segments(path: &str) -> Result<Vec<String>, String> {
    decoded(&split(path))
}

/// Splits a path into segments as written.
fn split(path: &str) -> Vec<String> {
    let trimmed = path.trim_matches('/');
    let segments = trimmed.split('/').filter(|_| !trimmed.is_empty());
    segments.map(str::to_owned).collect()
}

/// Percent-decodes the segments.
///
/// # Errors
/// When a segment is not UTF-8, or has a percent sign that begins no escape.
pub(super) fn decoded(path: &[String]) -> Result<Vec<String>, String> {
    let segments = path.iter().map(|segment| {
        if !escapes_well(segment) {
            return Err(format!("the path `{}` is invalid", path.join("/")));
        }
        let decoded = percent_decode_str(segment).decode_utf8();
        let decoded = decoded.map_err(|_| format!("the path `{}` is not UTF-8", path.join("/")))?;
        Ok(decoded.into_owned())
    });
    segments.collect()
}

/// Whether two hexadecimal digits follow each percent sign.
fn escapes_well(segment: &str) -> bool {
    let mut parts = segment.split('%').skip(1);
    parts.all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
