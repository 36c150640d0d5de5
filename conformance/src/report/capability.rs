//! Capabilities: claims of a target and the results of the run, with the score of each capability
//! and API.

use serde::Serialize;

use crate::catalogue::{Catalogue, Document, Level};
use crate::judge::verdict::{Reason, Verdict};
use crate::report::{Digest, Row};

/// Number of proven rules among the chosen ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Number of rules that were run and passed.
    pub proven: usize,
    /// Number of all chosen rules.
    pub rules: usize,
}

/// Result of one capability in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Capability {
    /// Name of the capability.
    pub name: String,
    /// Support of the capability by the target.
    pub support: Support,
    /// Score of the capability's rules.
    #[serde(flatten)]
    pub score: Score,
    /// Number of passing rules although the target does not claim the capability; known only for a
    /// run that [probes](crate::SuiteBuilder::probe).
    pub unclaimed_hold: usize,
}

/// Support of a capability by a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// Claimed, and every rule of the capability is proven.
    Full,
    /// Claimed, and some rule of the capability is not proven.
    Partial,
    /// Not claimed.
    NotClaimed,
}

/// Computes the score of some rows.
pub fn score<'a>(rows: impl Iterator<Item = &'a Row>) -> Score {
    let mut score = Score::default();
    for row in rows.filter(|row| row.judged.level == Level::Rule) {
        score.rules += 1;
        score.proven += usize::from(row.is_proven());
    }
    score
}

/// Computes the score of those rows whose capability the target claims.
pub fn claimed<'a>(digest: &Digest, rows: impl Iterator<Item = &'a Row>) -> Score {
    score(rows.filter(|row| is_claimed(digest, row)))
}

/// Whether the target claims the capability of a row; for a clause that this suite does not know,
/// the verdict decides.
fn is_claimed(digest: &Digest, row: &Row) -> bool {
    if row.judged.verdict == Verdict::NotRun(Reason::RuleNotClaimed) {
        return false;
    }
    let clause = Catalogue::embedded().ok();
    let clause = clause.and_then(|catalogue| catalogue.clause(&row.judged.rule));
    match (clause, &digest.started) {
        (Some(clause), Some(started)) => started.target.capabilities.contains(&clause.capability),
        _ => !matches!(
            row.judged.verdict,
            Verdict::NotRun(
                Reason::NotClaimed(_) | Reason::HoldsUnclaimed(_) | Reason::NotSupported(_)
            )
        ),
    }
}

/// Formats the score: number of proven and of claimed rules, and of all. A proven rule is claimed.
pub(crate) fn format_score(claimed: Score, all: Score) -> String {
    let Score { proven, rules } = claimed;
    match rules == all.rules {
        true => format!("proven {proven} of {rules} rules"),
        false => format!(
            "proven {proven} of {rules} claimed rules ({} in all)",
            all.rules
        ),
    }
}

/// Returns the capabilities of one document for which the choice has rules.
pub fn capabilities(digest: &Digest, document: Document) -> Vec<Capability> {
    let (Ok(catalogue), Some(started)) = (Catalogue::embedded(), &digest.started) else {
        return Vec::new();
    };
    let names = catalogue.capabilities().iter().map(|known| &known.name);
    let capability = |name: &String| {
        let rows = || {
            digest.rows.iter().filter(|row| {
                let clause = catalogue.clause(&row.judged.rule);
                row.document == Some(document)
                    && clause.is_some_and(|clause| clause.capability == *name)
            })
        };
        let score = score(rows());
        let support = match started.target.capabilities.contains(name) {
            true if score.proven == score.rules => Support::Full,
            true => Support::Partial,
            false => Support::NotClaimed,
        };
        let passes_unclaimed = |row: &&Row| {
            row.judged.level == Level::Rule
                && matches!(
                    row.judged.verdict,
                    Verdict::NotRun(Reason::HoldsUnclaimed(_))
                )
        };
        (score.rules > 0).then(|| Capability {
            name: name.clone(),
            support,
            score,
            unclaimed_hold: rows().filter(passes_unclaimed).count(),
        })
    };
    names.filter_map(capability).collect()
}

impl Capability {
    /// Whether the target passes all rules of the capability without claiming it.
    pub fn works_unclaimed(&self) -> bool {
        self.support == Support::NotClaimed && self.unclaimed_hold == self.score.rules
    }
}

/// Formats a document's score and capabilities for people, line by line.
pub(crate) fn lines(digest: &Digest, document: Document) -> Vec<String> {
    let rows = || {
        let rows = digest.rows.iter();
        rows.filter(|row| row.document == Some(document))
    };
    let capabilities = capabilities(digest, document);
    let mut lines = vec![format_score(claimed(digest, rows()), score(rows()))];
    for (support, title) in [
        (Support::Full, "full"),
        (Support::Partial, "partial"),
        (Support::NotClaimed, "not claimed"),
    ] {
        let names: Vec<_> = capabilities
            .iter()
            .filter(|one| one.support == support)
            .map(named)
            .collect();
        if !names.is_empty() {
            lines.push(format!("{title}: {}", names.join(", ")));
        }
    }
    let unclaimed = capabilities.iter().filter(|one| one.works_unclaimed());
    lines.extend(unclaimed.map(|one| format!("`{}` works, but is not claimed", one.name)));
    lines
}

fn named(one: &Capability) -> String {
    let Score { proven, rules } = one.score;
    match (one.support, one.unclaimed_hold) {
        (Support::Partial, _) => format!("{} ({proven} of {rules})", one.name),
        (Support::NotClaimed, passing @ 1..) => format!("{} ({passing} of {rules} hold)", one.name),
        _ => one.name.clone(),
    }
}

impl Digest {
    /// Numbers of proven and of chosen rules. A rule that was not run is not proven.
    pub fn score(&self) -> (usize, usize) {
        let score = score(self.rows.iter());
        (score.proven, score.rules)
    }

    /// Formats the score by the profile; without one, the numbers of proven, claimed and all rules.
    pub(super) fn score_text(&self) -> String {
        if let Some(standing) = self.standing() {
            return standing.to_string();
        }
        let rows = || self.rows.iter();
        format_score(claimed(self, rows()), score(rows()))
    }
}
