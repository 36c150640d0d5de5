//! Profiles: frozen, named sets of rules, read from `specs/profiles/*.toml`.
//!
//! An edition of profiles never changes, so that a statement of conformance to a profile never
//! changes its meaning. A rule that is written later is in no profile until the next edition.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use super::{Catalogue, Level};
use crate::sha256::sha256;

/// Start of the paths of profiles below `specs/`.
pub(super) const FOLDER: &str = "profiles/";

/// Obligation of a rule for an implementation that claims a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// Required: a server that fails the rule does not conform to the profile.
    Must,
    /// Recommended: the rule is judged and reported, and does not decide conformance.
    Should,
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Must => "must",
            Self::Should => "should",
        })
    }
}

/// A named set of rules in one edition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name, such as `engine-decision`.
    pub name: String,
    /// The edition, a year and a month, such as `2026.12`.
    pub edition: String,
    /// The subject of its rules, in words.
    pub states: String,
    /// SHA-256 in hexadecimal of all profiles of the edition.
    pub frozen: String,
    /// Ids of the required rules, ascending.
    pub must: Vec<String>,
    /// Ids of the recommended rules, ascending.
    pub should: Vec<String>,
}

impl Profile {
    /// Name and edition, such as `engine-decision 2026.12`.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.edition)
    }

    /// Returns the obligation of a rule; `None` for rules outside the profile.
    pub fn binding(&self, rule: &str) -> Option<Binding> {
        let contains_rule =
            |ids: &[String]| ids.binary_search_by(|id| id.as_str().cmp(rule)).is_ok();
        match (contains_rule(&self.must), contains_rule(&self.should)) {
            (true, _) => Some(Binding::Must),
            (false, true) => Some(Binding::Should),
            (false, false) => None,
        }
    }

    /// The ids of all rules, the required ones first.
    pub fn rules(&self) -> impl Iterator<Item = &String> {
        self.must.iter().chain(&self.should)
    }

    /// Capabilities of the required rules, which a claim of the profile includes.
    pub fn capabilities<'c>(&self, catalogue: &'c Catalogue) -> BTreeSet<&'c str> {
        let clauses = self.must.iter().filter_map(|id| catalogue.clause(id));
        clauses.map(|clause| clause.capability.as_str()).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    edition: String,
    frozen: String,
    profile: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    states: String,
    must: Vec<String>,
    should: Vec<String>,
}

/// Reads one edition into the catalogue, which already contains all clauses.
pub(super) fn read(path: &str, text: &str, catalogue: &mut Catalogue, defects: &mut Vec<String>) {
    let mut defect = |message: String| defects.push(format!("specs/{path}.toml: {message}"));
    let file: File = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => return defect(error.to_string()),
    };
    if path.strip_prefix(FOLDER) != Some(file.edition.as_str()) {
        defect(format!(
            "the edition `{}` does not match the name of the file",
            file.edition
        ));
    }
    let digest = digest(&file.profile);
    if digest != file.frozen {
        defect(format!(
            "its rules are not those that were frozen: their digest is {digest}"
        ));
    }
    for entry in file.profile {
        for message in check(&entry, catalogue) {
            defect(format!("profile `{}`: {message}", entry.name));
        }
        let is_duplicate =
            |known: &Profile| known.name == entry.name && known.edition == file.edition;
        if catalogue.profiles.iter().any(is_duplicate) {
            defect(format!("profile `{}` is listed twice", entry.name));
        }
        catalogue.profiles.push(Profile {
            name: entry.name,
            edition: file.edition.clone(),
            states: entry.states,
            frozen: file.frozen.clone(),
            must: entry.must,
            should: entry.should,
        });
    }
}

/// SHA-256 of every profile, level and rule.
fn digest(profiles: &[Entry]) -> String {
    let mut lines = String::new();
    for profile in profiles {
        for (binding, ids) in [
            (Binding::Must, &profile.must),
            (Binding::Should, &profile.should),
        ] {
            for id in ids {
                // Writing to a string cannot fail.
                let _ = writeln!(lines, "{} {binding} {id}", profile.name);
            }
        }
    }
    sha256(lines.as_bytes())
}

fn check(entry: &Entry, catalogue: &Catalogue) -> Vec<String> {
    let mut defects = Vec::new();
    if entry.must.is_empty() {
        defects.push("`must` is empty".to_owned());
    }
    for ids in [&entry.must, &entry.should] {
        let pairs = ids.iter().zip(ids.iter().skip(1));
        let unsorted = pairs.filter(|(one, next)| one >= next);
        defects.extend(unsorted.map(|(one, next)| {
            format!("`{next}` follows `{one}`: expected sorted ids, without repetition")
        }));
    }
    let in_both = entry.must.iter().filter(|id| entry.should.contains(id));
    defects.extend(in_both.map(|id| format!("`{id}` is in both `must` and `should`")));
    for id in entry.must.iter().chain(&entry.should) {
        match catalogue.clause(id) {
            None => defects.push(format!("there is no rule `{id}`")),
            Some(clause) if clause.level != Level::Rule => {
                defects.push(format!("`{id}` is not a rule (level {})", clause.level));
            }
            Some(_) => {}
        }
    }
    defects
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Returns the defects of the catalogue with this profile file.
    fn defects_of(text: &str) -> String {
        let of_profiles = |path: &&str| path.starts_with(FOLDER);
        let files = crate::assets::SPECS.iter().copied();
        let mut files: Vec<_> = files.filter(|(path, _)| !of_profiles(path)).collect();
        files.push(("profiles/2020.01", text));
        match Catalogue::read(&files) {
            Ok(_) => String::new(),
            Err(error) => error.0.join("\n"),
        }
    }

    fn file(must: &str, should: &str) -> String {
        let ids = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let entry = Entry {
            name: "p".to_owned(),
            states: "s".to_owned(),
            must: ids(must),
            should: ids(should),
        };
        let (must, should) = (&entry.must, &entry.should);
        let lists = format!("name = 'p'\nstates = 's'\nmust = {must:?}\nshould = {should:?}\n");
        let frozen = digest(&[entry]);
        format!("edition = '2020.01'\nfrozen = '{frozen}'\n[[profile]]\n{lists}")
    }

    const A: &str = "engine/health/get/healthy-is-empty-object";
    const B: &str = "engine/v1/data/get/undefined-omits-result";

    #[rstest]
    #[case::good(file(A, B), "")]
    #[case::dropped(file(A, B).replace(&format!("{B:?}"), ""), "not those that were frozen")]
    #[case::another_name(
        file(A, B).replace("edition = '2020.01'", "edition = '2020.02'"),
        "`2020.02` does not match the name of the file"
    )]
    #[case::another_level(
        file(A, B)
            .replace("must =", "x =")
            .replace("should =", "must =")
            .replace("x =", "should ="),
        "not those that were frozen"
    )]
    #[case::nothing_decides(file("", A), "`must` is empty")]
    #[case::disordered(file(&format!("{B} {A}"), ""), "expected sorted ids")]
    #[case::twice(file(&format!("{A} {A}"), ""), "expected sorted ids")]
    #[case::two_levels(file(A, A), "is in both `must` and `should`")]
    #[case::unknown(file("engine/x/y", ""), "no rule `engine/x/y`")]
    #[case::open(
        file("engine/v1/config/get/server-error", ""),
        "is not a rule (level unobservable)"
    )]
    #[case::a_key(format!("{}more = 1\n", file(A, B)), "unknown field")]
    fn an_edition_is_read_as_it_was_frozen_or_not_at_all(
        #[case] text: String,
        #[case] expected: &str,
    ) {
        let defects = defects_of(&text);
        assert!(defects.contains(expected), "{defects}");
        assert_eq!(defects.is_empty(), expected.is_empty(), "{defects}");
    }
}
