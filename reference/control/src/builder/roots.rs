//! Roots: the paths that a bundle owns, by source.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::utf8_percent_encode;

use super::mount;
use bundle::ESCAPED;

/// Characters that an unescaped path segment cannot contain.
const UNESCAPABLE: [char; 2] = ['/', '%'];

/// Maximum number of other roots that a conflict lists.
const MAX_NAMED_CONFLICTS: usize = 10;

/// Path below `data`.
pub(super) type Path = Vec<String>;

/// Roots of all sources.
#[derive(Debug, Default)]
pub(super) struct Roots {
    owners: BTreeMap<Path, String>,
    order: Vec<Path>,
}

impl Roots {
    /// Adds the paths of a source, without those below others of the same source.
    ///
    /// # Errors
    /// When one lies at, above or below a root of another source; names both.
    pub(super) fn claim(&mut self, source: &str, paths: &BTreeSet<Path>) -> Result<(), String> {
        let mut outermost: Vec<&Path> = Vec::new();
        for path in paths {
            // Sorting places a path directly before those below it.
            if !outermost
                .last()
                .is_some_and(|parent| path.starts_with(parent))
            {
                outermost.push(path);
            }
        }
        for path in &outermost {
            let conflicts = self.overlapping(path);
            if !conflicts.is_empty() {
                let package = mount::package(path);
                let head =
                    format!("requirement \"{source}\" contains conflicting package {package}");
                let lines = conflicts.into_iter().map(|(other, owner)| {
                    format!("- package {} from \"{owner}\"", mount::package(other))
                });
                let lines: Vec<String> = std::iter::once(head).chain(lines).collect();
                return Err(lines.join("\n"));
            }
        }
        for path in outermost {
            self.owners.insert(path.clone(), source.to_owned());
            self.order.push(path.clone());
        }
        Ok(())
    }

    fn overlapping(&self, path: &Path) -> Vec<(&Path, &String)> {
        let ancestors = (0..path.len()).filter_map(|length| {
            let ancestor = path.get(..length)?;
            self.owners.get_key_value(ancestor)
        });
        let descendants = self
            .owners
            .range::<Path, _>(path..)
            .take_while(|(other, _)| other.starts_with(path));
        ancestors
            .chain(descendants)
            .take(MAX_NAMED_CONFLICTS)
            .collect()
    }

    /// Returns the roots for a manifest, in the order in which sources were added. Engines match
    /// the escaped form for packages and the plain one for documents, so both are included.
    pub(super) fn to_strings(&self) -> Vec<String> {
        let forms = self
            .order
            .iter()
            .map(|path| (join_escaped(path), join_unescaped(path)));
        let forms = forms.map(|(escaped, unescaped)| {
            match unescaped.filter(|unescaped| *unescaped != escaped) {
                Some(unescaped) => vec![escaped, unescaped],
                None => vec![escaped],
            }
        });
        forms.flatten().collect()
    }

    /// Returns a path that no root covers, and its source.
    pub(super) fn first_uncovered(&self, roots: &[String]) -> Option<(String, &str)> {
        let is_covered = |path: &str| {
            let contains_path = |root: &String| {
                let rest = path.strip_prefix(root.as_str());
                root.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            roots.iter().any(contains_path)
        };
        let outside = self.owners.iter().find(|(path, _)| {
            !is_covered(&join_escaped(path))
                && !join_unescaped(path).is_some_and(|unescaped| is_covered(&unescaped))
        });
        outside.map(|(path, owner)| (join_escaped(path), owner.as_str()))
    }
}

/// Returns the root of an empty bundle. Engines do not load a bundle without roots, and would
/// retain its previous content; no other bundle uses this path.
pub(super) fn of_empty_bundle(bundle: &str) -> String {
    join_escaped(&["system".to_owned(), "empty".to_owned(), bundle.to_owned()])
}

/// Returns the longest prefix of a path that a root can name: engines compare the segments of roots
/// escaped with packages, and unescaped with documents.
///
/// # Errors
/// When there is none, so that only the root of all documents would match.
pub(super) fn longest_expressible(path: &[String]) -> Result<Path, String> {
    let steps = path.iter().take_while(|step| !step.contains(UNESCAPABLE));
    let steps: Path = steps.cloned().collect();
    match steps.is_empty() && !path.is_empty() {
        true => Err(format!(
            "no root can name `{}`: its first segment has a slash or a percent sign",
            mount::display(path)
        )),
        false => Ok(steps),
    }
}

/// Joins a path without escapes, if that is unambiguous.
fn join_unescaped(path: &[String]) -> Option<String> {
    let is_expressible = path.iter().all(|step| !step.contains(UNESCAPABLE));
    is_expressible.then(|| path.join("/"))
}

/// Joins a path with escapes.
fn join_escaped(path: &[String]) -> String {
    let steps = path
        .iter()
        .map(|step| utf8_percent_encode(step, ESCAPED).to_string());
    let steps: Vec<String> = steps.collect();
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn paths(texts: &[&str]) -> BTreeSet<Path> {
        let paths = texts.iter().map(|text| match *text {
            "" => Path::new(),
            text => text.split('.').map(str::to_owned).collect(),
        });
        paths.collect()
    }

    #[rstest]
    #[case::nothing(&[], Ok(&[] as &[&str]))]
    #[case::plain(&["a", "b c", "é"], Ok(&["a", "b c", "é"] as &[&str]))]
    #[case::slash(&["a", "b/c", "d"], Ok(&["a"] as &[&str]))]
    #[case::percent_sign(&["a", "b", "100%"], Ok(&["a", "b"] as &[&str]))]
    #[case::slash_first(&["b/c", "d"], Err(()))]
    #[case::percent_sign_first(&["%"], Err(()))]
    fn roots_name_what_engines_find(#[case] steps: &[&str], #[case] expected: Result<&[&str], ()>) {
        let path = |steps: &[&str]| {
            steps
                .iter()
                .map(|step| (*step).to_owned())
                .collect::<Path>()
        };
        let found = longest_expressible(&path(steps));
        assert_eq!(found.map_err(drop), expected.map(path));
    }

    #[rstest]
    #[case::apart(&["a", "a.b", "ab", "c.d"], &["e"], Ok("a ab c/d e"))]
    #[case::escaped(&["a b"], &["a\u{e9}"], Ok("a%20b a b a%C3%A9 a\u{e9}"))]
    #[case::everything(&[""], &[], Ok(""))]
    #[case::slash_and_percent_sign(&["a%/b"], &[], Ok("a%25%2Fb"))]
    #[case::same(&["a"], &["a"], Err("package a\n- package a from \"one\""))]
    #[case::below(&["a.b"], &["a.b.c"], Err("package a.b.c\n- package a.b from \"one\""))]
    #[case::two_above(
        &["a.b.c", "a.b.d"],
        &["a.b"],
        Err("package a.b\n- package a.b.c from \"one\"\n- package a.b.d from \"one\"")
    )]
    #[case::everything_after(&["a"], &[""], Err("package data\n- package a from \"one\""))]
    #[case::everything_before(&[""], &["a"], Err("package a\n- package data from \"one\""))]
    #[case::similar_names(&["a.b"], &["a.bc", "ab"], Ok("a/b a/bc ab"))]
    fn sources_share_no_root(
        #[case] one: &[&str],
        #[case] other: &[&str],
        #[case] expected: Result<&str, &str>,
    ) {
        let mut roots = Roots::default();
        let claimed = roots.claim("one", &paths(one));
        let claimed = claimed.and_then(|()| roots.claim("other", &paths(other)));
        match expected {
            Ok(expected) => {
                assert_eq!(claimed, Ok(()));
                assert_eq!(roots.to_strings().join(" "), expected);
            }
            Err(expected) => {
                let message = format!("requirement \"other\" contains conflicting {expected}");
                assert_eq!(claimed, Err(message));
            }
        }
    }

    #[rstest]
    #[case::everything(&[""], None)]
    #[case::above(&["a", "c"], None)]
    #[case::same_and_more(&["a/b", "c", "d"], None)]
    #[case::below(&["a/b/c", "c"], Some("a/b"))]
    #[case::one_missing(&["a"], Some("c"))]
    #[case::similar_name(&["a/bc", "c"], Some("a/b"))]
    #[case::none(&[], Some("a/b"))]
    fn given_roots_must_hold_all(
        #[case] declared: &[&str],
        #[case] expected: Option<&str>,
    ) -> Result<(), String> {
        let mut roots = Roots::default();
        roots.claim("one", &paths(&["a.b", "c"]))?;
        let declared: Vec<String> = declared.iter().map(|root| (*root).to_owned()).collect();
        let outside = roots.first_uncovered(&declared).map(|(path, _)| path);
        assert_eq!(outside.as_deref(), expected);
        Ok(())
    }
}
