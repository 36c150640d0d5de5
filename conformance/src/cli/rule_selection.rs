//! Selection of rules: ids, paths above ids, globs and `@FILE` on the command line.

use std::fs;

use super::Failed;
use crate::catalogue::pattern::Pattern;
use crate::catalogue::{Catalogue, Clause, Level, Profile};

/// The chosen clauses.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Ids of the chosen clauses, in the order of the clause files.
    pub(super) ids: Vec<String>,
    /// Ids of the clauses that the user named explicitly.
    pub(super) named: Vec<String>,
}

impl Choice {
    /// Keeps every Nth clause, starting at the Ith, so that shards take about equally long.
    ///
    /// # Errors
    /// The string is not `I/N` with I from 1 to N.
    pub(super) fn shard(mut self, shard: &str) -> Result<Self, Failed> {
        let wrong = || {
            Failed::usage(format!(
                "invalid shard `{shard}`: expected I/N with 1 ≤ I ≤ N"
            ))
        };
        let (number, total) = shard.split_once('/').ok_or_else(wrong)?;
        let number: usize = number.parse().map_err(|_| wrong())?;
        let total: usize = total.parse().map_err(|_| wrong())?;
        if !(1..=total).contains(&number) {
            return Err(wrong());
        }
        let mut place = 0;
        self.ids.retain(|_| {
            place += 1;
            place % total == number % total
        });
        self.named.retain(|id| self.ids.contains(id));
        Ok(self)
    }

    /// Selects the rules of a profile, except those that match a pattern of `skipped`.
    ///
    /// # Errors
    /// A pattern that is not a glob or matches nothing, a file that cannot be read.
    pub(super) fn of_profile(
        catalogue: &Catalogue,
        profile: &Profile,
        skipped: &[String],
    ) -> Result<Self, Failed> {
        let skipped = patterns(catalogue, skipped)?;
        let clauses = catalogue.clauses().iter().map(|clause| &clause.id);
        let of_profile = clauses.filter(|id| profile.binding(id).is_some());
        let remaining = of_profile.filter(|id| !skipped.iter().any(|one| one.matches(id)));
        Ok(Self {
            ids: remaining.cloned().collect(),
            named: Vec::new(),
        })
    }

    /// Selects every clause that matches a pattern of `requested` (all of the documents, if there
    /// is none) and no pattern of `skipped`. Clauses that HTTP cannot show are never selected.
    ///
    /// # Errors
    /// A pattern that is not a glob or matches nothing, a file that cannot be read, files without
    /// any pattern for `requested`, an id of a clause that HTTP cannot show.
    pub(super) fn of(
        catalogue: &Catalogue,
        requested: &[String],
        skipped: &[String],
    ) -> Result<Self, Failed> {
        let files = requested.join(" ");
        let requested = patterns(catalogue, requested)?;
        if requested.is_empty() && !files.is_empty() {
            return Err(Failed::usage(format!("no rule stands in {files}")));
        }
        let skipped = patterns(catalogue, skipped)?;
        let mut choice = Self::default();
        for clause in catalogue.chosen(&requested, &skipped) {
            let named = requested.iter().any(|pattern| pattern.names(&clause.id));
            if clause.level == Level::Unobservable {
                if named {
                    return Err(unobservable(clause));
                }
                continue;
            }
            choice.ids.push(clause.id.clone());
            if named {
                choice.named.push(clause.id.clone());
            }
        }
        Ok(choice)
    }
}

fn unobservable(clause: &Clause) -> Failed {
    let reason = clause.reason.as_deref().unwrap_or_default().trim();
    Failed::usage(format!("HTTP cannot show `{}`: {reason}", clause.id))
}

/// Parses patterns, including those in `@FILE`s, and rejects a pattern that matches nothing.
fn patterns(catalogue: &Catalogue, texts: &[String]) -> Result<Vec<Pattern>, Failed> {
    let mut patterns = Vec::new();
    for text in texts {
        match text.strip_prefix('@') {
            None => patterns.push(pattern(catalogue, text)?),
            Some(file) => {
                let content = fs::read_to_string(file)
                    .map_err(|error| Failed::usage(format!("{file}: {error}")))?;
                for (line, number) in content.lines().zip(1..) {
                    let line = line.split('#').next().unwrap_or_default().trim();
                    if !line.is_empty() {
                        let read = pattern(catalogue, line)
                            .map_err(|error| Failed::usage(format!("{file}:{number}: {error}")))?;
                        patterns.push(read);
                    }
                }
            }
        }
    }
    Ok(patterns)
}

fn pattern(catalogue: &Catalogue, text: &str) -> Result<Pattern, Failed> {
    if text.contains("://") {
        let message =
            format!("invalid rule `{text}`: pass an address with --engine-url or --control-url");
        return Err(Failed::usage(message));
    }
    let pattern = Pattern::parse(text).map_err(Failed::usage)?;
    let ids = catalogue.with_packs().map(|clause| clause.id.as_str());
    pattern.check(ids).map_err(Failed::usage)?;
    Ok(pattern)
}

/// Looks up a profile by name.
///
/// # Errors
/// No profile has this name.
pub(super) fn profile(
    catalogue: &'static Catalogue,
    name: &str,
) -> Result<&'static Profile, Failed> {
    catalogue.profile(name).ok_or_else(|| {
        let known = catalogue.profiles().iter();
        let known: Vec<&str> = known.map(|profile| profile.name.as_str()).collect();
        Failed::usage(format!(
            "no profile `{name}`; there are {}",
            known.join(", ")
        ))
    })
}
