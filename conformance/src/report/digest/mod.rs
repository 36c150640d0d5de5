//! Digest of a run: its events summarized, with known deviations applied.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::catalogue::{Binding, Catalogue, Document, Level, Profile};
use crate::evidence::{
    ChosenRule, ClauseVerdict, Defect, Event, Exchange, ProfileRef, RunFinished, RunStarted,
};
use crate::judge::verdict::{Failure, Reason, Verdict};
use crate::known_deviations::KnownList;
use crate::report::stability::Stability;
use crate::scenario::UNNAMED;

/// Result of a run, as reports show it.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// Chosen rules and target of the run.
    pub started: Option<RunStarted>,
    /// The profile that the target was judged by, if this program knows it.
    pub profile: Option<&'static Profile>,
    /// End of the run; none if the evidence is incomplete.
    pub finished: Option<RunFinished>,
    /// Every chosen clause with its result, in the order of the choice.
    pub rows: Vec<Row>,
    /// Paths of the run's resources that remained after it.
    pub leaked: Vec<String>,
    /// Changes of the target's content between the start and the end of the run.
    pub changed: Vec<String>,
    /// Content that was not compared with the state before the run, and why.
    pub not_compared: Vec<String>,
    /// Entries of lists of known deviations that are no longer valid.
    pub stale: Vec<String>,
    /// Comparison with repeated runs, if any.
    pub stability: Option<Stability>,
    /// Defects of the suite itself.
    pub defects: Vec<Defect>,
    /// Requests and responses of each rule's scenario, if the events contain them.
    pub exchanges: HashMap<String, Vec<Exchange>>,
    /// The command line that judges in the same way, without the rules. Evidence does not contain
    /// it, so it is `None` for a stored run.
    pub rerun_command: Option<String>,
    /// Whether the rules ran one at a time; false if the evidence does not say.
    pub one_at_a_time: bool,
    /// Rules that the user named explicitly: if one is not judged, the run is incomplete.
    named: Vec<String>,
}

/// One clause of the choice and its result.
#[derive(Debug, Clone)]
pub struct Row {
    /// The verdict before the known deviations are applied.
    pub judged: ClauseVerdict,
    /// The document of the clause.
    pub document: Option<Document>,
    /// The verdict after applying the known deviations and the profile.
    pub outcome: Outcome,
    /// How binding the run's profile makes the clause; none without a profile.
    pub binding: Option<Binding>,
    /// The reason in the known-deviation or flaky-rule entry that names the clause, if any.
    pub known: Option<String>,
    /// The file that contains the entry, if it is the user's own.
    pub list: Option<String>,
}

impl Row {
    /// Returns the failure, even if it is a known deviation.
    pub(super) fn any_failure(&self) -> Option<&Failure> {
        match &self.judged.verdict {
            Verdict::Fail(failure) => Some(failure),
            _ => None,
        }
    }

    /// Returns the failure if the outcome is one.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.any_failure().filter(|_| self.outcome == Outcome::Fail)
    }
}

/// A verdict after applying the known deviations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Passed.
    Pass,
    /// Failed.
    Fail,
    /// Failed, but only recommended by the profile.
    ShouldFail,
    /// Failed, as the list of known deviations says.
    ExpectedFail,
    /// Passed, though it is on the list of known deviations.
    UnexpectedPass,
    /// Passed or failed, but known to vary: proves nothing.
    Flaky,
    /// An open clause: recorded, not judged.
    Recorded,
    /// Not judged.
    NotRun,
}

impl Outcome {
    /// The name of the outcome in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::ShouldFail => "should-fail",
            Self::ExpectedFail => "expected-fail",
            Self::UnexpectedPass => "unexpected-pass",
            Self::Flaky => "flaky",
            Self::Recorded => "recorded",
            Self::NotRun => "not-run",
        }
    }
}

/// Conclusion of a run, ordered from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Everything that the target claims, as far as it was judged, passes.
    Conformant,
    /// Everything that was judged passes, but the run did not judge capabilities that the target
    /// does not show, or rules that the mode does not allow.
    Partial,
    /// Nothing was judged, or a rule that had to be judged was not.
    Incomplete,
    /// A rule fails, a known deviation passes, a rule has varying results, or an entry of a list
    /// has expired.
    NotConformant,
    /// The target cannot be reached or died.
    Unreachable,
    /// The suite itself has a defect: it sent a wrong request or left resources behind.
    Defective,
    /// The user stopped the run.
    Interrupted,
}

impl Conclusion {
    /// The exit code of the program for this conclusion.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Conformant => 0,
            Self::NotConformant => 1,
            Self::Incomplete => 3,
            Self::Partial => 6,
            Self::Unreachable => 4,
            Self::Defective => 5,
            Self::Interrupted => 130,
        }
    }

    /// Describes the conclusion, without a full stop; for a digest, use [`Digest::sentence`].
    fn sentence(self) -> &'static str {
        match self {
            Self::Conformant => "conformant: all that the target claims passes",
            Self::Partial => "nothing is broken, but not everything was tested, see above",
            Self::NotConformant => "not conformant",
            Self::Incomplete => "incomplete: something that had to be judged was not",
            Self::Unreachable => "the target cannot be reached, or died",
            Self::Defective => "the suite itself is at fault, see above",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Formats a number of rules.
fn count_rules(count: usize) -> String {
    match count {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    }
}

impl Digest {
    /// Digests the events of a run. `named` are the rules that the user named explicitly.
    pub fn of(
        events: impl IntoIterator<Item = Event>,
        known: &KnownList,
        named: &[String],
    ) -> Self {
        let mut digest = Self {
            named: named.to_vec(),
            stale: known.stale().to_vec(),
            ..Self::default()
        };
        let mut judged = HashMap::new();
        for event in events {
            match event {
                Event::RunStarted(started) => {
                    digest.profile = started.profile.as_ref().and_then(ProfileRef::known);
                    digest.started = Some(*started);
                }
                Event::Judged(verdict) => {
                    judged.insert(verdict.rule.clone(), *verdict);
                }
                Event::Leaked(leaked) => digest.leaked.extend(leaked.names),
                Event::Changed(changed) => digest.changed.extend(changed.what),
                Event::Defect(defect) => digest.defects.push(defect),
                Event::RunFinished(mut finished) => {
                    digest.not_compared.append(&mut finished.not_compared);
                    digest.finished = Some(finished);
                }
                Event::Exchange(exchange) => {
                    let of_rule = digest.exchanges.entry(exchange.rule.clone());
                    of_rule.or_default().push(*exchange);
                }
            }
        }
        let chosen = digest
            .started
            .as_ref()
            .map_or(&[][..], |started| &started.chosen);
        digest.rows = chosen
            .iter()
            .map(|rule| judged.remove(&rule.rule).unwrap_or_else(|| cut_off(rule)))
            .map(|judged| Row::of(judged, known).bound_by(digest.profile))
            .collect();
        digest
    }

    /// Number of clauses of a document by outcome.
    pub fn outcomes(&self, document: Document) -> BTreeMap<Outcome, usize> {
        let mut counts = BTreeMap::new();
        for row in self
            .rows
            .iter()
            .filter(|row| row.document == Some(document))
        {
            *counts.entry(row.outcome).or_default() += 1;
        }
        counts
    }

    /// Number of clauses of a document that were not run, by reason.
    pub fn reasons(&self, document: Document) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for row in self
            .rows
            .iter()
            .filter(|row| row.document == Some(document))
        {
            if let Some(reason) = row.reason() {
                *counts.entry(reason).or_default() += 1;
            }
        }
        counts
    }

    /// Findings other than the results of rules, each with its category. A run with findings is not
    /// entirely successful, so reports must show them.
    pub fn findings(&self) -> Vec<(&'static str, String)> {
        let defect = |defect: &Defect| ("defect", format!("{}: {}", defect.rule, defect.what));
        let mut findings: Vec<_> = self.defects.iter().map(defect).collect();
        for (name, what) in [
            ("leak", &self.leaked),
            ("changed", &self.changed),
            ("stale", &self.stale),
        ] {
            if !what.is_empty() {
                findings.push((name, what.join(", ")));
            }
        }
        let flaky = self.stability.iter().flat_map(|runs| &runs.moved);
        findings.extend(flaky.map(|flaky| ("moves", flaky.rule.clone())));
        let started = self.started.as_ref();
        let profile = started.and_then(|started| started.profile.as_ref());
        if let (Some(profile), None) = (profile, self.profile) {
            let ProfileRef { name, edition, .. } = profile;
            let what = format!("{name} {edition} is not known to this version");
            findings.push(("profile", what));
        }
        match &self.finished {
            None => findings.push(("interrupted", "the evidence breaks off".to_owned())),
            Some(finished) if finished.interrupted => {
                findings.push(("interrupted", "the run was stopped".to_owned()));
            }
            Some(finished) => {
                let unreachable = finished.unreachable.iter();
                findings.extend(unreachable.map(|reason| ("unreachable", reason.clone())));
            }
        }
        findings
    }

    /// Conclusion of the run.
    pub fn conclusion(&self) -> Conclusion {
        let any = |outcome: Outcome| self.rows.iter().any(|row| row.outcome == outcome);
        let reason = |predicate: &dyn Fn(&Row, &Reason) -> bool| {
            self.rows.iter().any(|row| match &row.judged.verdict {
                Verdict::NotRun(reason) => predicate(row, reason),
                _ => false,
            })
        };
        let finished = self.finished.as_ref();
        if finished.is_none_or(|finished| finished.interrupted) {
            Conclusion::Interrupted
        } else if !self.defects.is_empty() || reason(&|_, reason| *reason == Reason::Defect) {
            Conclusion::Defective
        } else if finished.is_some_and(|finished| finished.unreachable.is_some())
            || reason(&|_, reason| matches!(reason, Reason::Unreachable(_)))
        {
            Conclusion::Unreachable
        } else if any(Outcome::Fail)
            || any(Outcome::UnexpectedPass)
            || !self.stale.is_empty()
            || self.is_unstable()
        {
            Conclusion::NotConformant
        } else if !self.leaked.is_empty() || !self.changed.is_empty() {
            // A target that fails rules may have caused it; one that passes them has not.
            Conclusion::Defective
        } else if !self.has_verdicts()
            || reason(&|row, reason| self.was_required(row, reason))
            || self.undecided() > 0
        {
            Conclusion::Incomplete
        } else if !self.untested().is_empty() {
            Conclusion::Partial
        } else {
            Conclusion::Conformant
        }
    }

    /// Describes the conclusion in one sentence, without a full stop. Known deviations are counted
    /// wherever a target is called conformant.
    pub fn sentence(&self) -> String {
        let conclusion = self.conclusion();
        if let (Conclusion::Incomplete, Some(why)) = (conclusion, self.refused()) {
            return format!("not judged: {why}");
        }
        if conclusion == Conclusion::Incomplete && !self.has_verdicts() {
            return format!("incomplete: {}", self.nothing_judged());
        }
        if let (Conclusion::Incomplete, Some(profile), undecided @ 1..) =
            (conclusion, self.profile, self.undecided())
        {
            let (rules, verb) = match undecided {
                1 => ("rule", "was"),
                _ => ("rules", "were"),
            };
            return format!(
                "incomplete: {undecided} {rules} of {} {verb} not judged",
                profile.title()
            );
        }
        if conclusion == Conclusion::Defective && self.leaked.is_empty() && self.defects.is_empty()
        {
            return "the target holds other things than before, see above: does somebody else write to it?".into();
        }
        let known = |row: &&Row| row.outcome == Outcome::ExpectedFail;
        let known = self.rows.iter().filter(known).count();
        if let (Conclusion::Conformant, Some(profile)) = (conclusion, self.profile) {
            let suffix = match known {
                0 => String::new(),
                1 => " with 1 known deviation".to_owned(),
                known => format!(" with {known} known deviations"),
            };
            return format!("conformant to {}{suffix}", profile.title());
        }
        match (conclusion, known) {
            (Conclusion::Conformant, 1) => {
                "conformant with 1 known deviation: all else that the target claims passes".into()
            }
            (Conclusion::Conformant, known @ 2..) => format!(
                "conformant with {known} known deviations: all else that the target claims passes"
            ),
            _ => conclusion.sentence().into(),
        }
    }

    /// Describes the rules that a run without a profile should have judged and did not, a line for
    /// each cause: capabilities that the target does not show, and the mode of the run. A profile
    /// decides by itself which rules must be judged.
    pub fn untested(&self) -> Vec<String> {
        if self.profile.is_some() {
            return Vec::new();
        }
        let (mut absent, mut excluded) = (BTreeMap::new(), BTreeMap::new());
        let undetected = match &self.started {
            Some(started) => started.target.undetected.as_slice(),
            None => &[],
        };
        let rules = self.rows.iter();
        for row in rules.filter(|row| row.judged.level == Level::Rule) {
            let Verdict::NotRun(reason) = &row.judged.verdict else {
                continue;
            };
            match reason {
                Reason::NotClaimed(name) | Reason::HoldsUnclaimed(name)
                    if undetected.contains(name) =>
                {
                    *absent.entry(name.as_str()).or_insert(0) += 1;
                }
                Reason::NotInMode(mode) => *excluded.entry(mode.as_str()).or_insert(0) += 1,
                _ => {}
            }
        }
        let absent = absent.into_iter().map(|(name, count)| {
            format!(
                "not tested, because the server shows no {name}: {}",
                count_rules(count)
            )
        });
        let excluded = excluded
            .into_iter()
            .map(|(mode, count)| format!("not tested in the mode {mode}: {}", count_rules(count)));
        absent.chain(excluded).collect()
    }

    /// Describes why no rule was judged, by the most frequent reason.
    fn nothing_judged(&self) -> String {
        let rules = self.rows.iter();
        let rules = rules.filter(|row| row.judged.level == Level::Rule);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for reason in rules.filter_map(Row::reason) {
            *counts.entry(reason).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let most_common = counts.into_iter().max_by_key(|(_, count)| *count);
        match most_common {
            None => "no rule was chosen, only what is recorded and not judged".to_owned(),
            Some((reason, count)) if count == all => format!("no rule was judged: {reason}"),
            Some((reason, count)) => {
                format!("no rule was judged; {count} of {all}: {reason}")
            }
        }
    }

    /// Whether the target was unreachable or rejected all requests, so that reports omit the rules.
    pub(crate) fn is_unasked(&self) -> bool {
        let not_run = |row: &Row| matches!(row.judged.verdict, Verdict::NotRun(_));
        let finished = self.finished.as_ref();
        let unreached = finished.is_some_and(|finished| finished.unreachable.is_some());
        (unreached || self.refused().is_some()) && self.rows.iter().all(not_run)
    }

    /// Returns why the target rejected all requests, if no rule was judged because of that.
    fn refused(&self) -> Option<&str> {
        self.rows.iter().find_map(|row| match &row.judged.verdict {
            Verdict::NotRun(Reason::Refused(why)) => Some(why.as_str()),
            _ => None,
        })
    }

    /// Number of rules that were not judged because an address alone does not provide a setup, a
    /// fixture server, a token, or a separate server. 0 for a target that the suite starts.
    pub fn beyond_an_address(&self) -> usize {
        let target = self.started.as_ref().map(|started| &started.target);
        if !target.is_some_and(|target| target.by_address || target.name == UNNAMED) {
            return 0;
        }
        let beyond = |row: &&Row| {
            if row.judged.level != Level::Rule {
                return false;
            }
            use Reason::{NoMock, NoSetup, NoToken, NotStarted};
            let verdict = &row.judged.verdict;
            matches!(
                verdict,
                Verdict::NotRun(NoSetup(_) | NoMock(_) | NoToken(_) | NotStarted)
            )
        };
        self.rows.iter().filter(beyond).count()
    }

    /// Whether some rule had varying results in repeated runs.
    fn is_unstable(&self) -> bool {
        let stability = self.stability.as_ref();
        stability.is_some_and(|stability| !stability.moved.is_empty())
    }

    /// Whether any rule was judged; records of open clauses judge nothing.
    fn has_verdicts(&self) -> bool {
        let judged = |row: &Row| matches!(row.judged.verdict, Verdict::Pass | Verdict::Fail(_));
        self.rows.iter().any(judged)
    }

    /// Whether the run is incomplete because this clause was not judged: the user named it, or only
    /// the suite or the target's own description prevents a rule. A rule that a target does not
    /// claim, that is still to be written, or that needs more than plain addresses, is shown and
    /// counted as not proven instead.
    fn was_required(&self, row: &Row, reason: &Reason) -> bool {
        if row.binding == Some(Binding::Should) {
            return false;
        }
        if self.named.contains(&row.judged.rule) {
            return true;
        }
        let addresses_only = self
            .started
            .as_ref()
            .is_some_and(|started| started.target.by_address || started.target.name == UNNAMED);
        match reason {
            Reason::NoSetup(_) | Reason::NoMock(_) | Reason::NoToken(_) => {
                row.judged.level == Level::Rule && !addresses_only
            }
            Reason::NoSnapshot => true,
            _ => false,
        }
    }
}

/// Returns the result of a chosen clause that the run did not reach: not run.
fn cut_off(rule: &ChosenRule) -> ClauseVerdict {
    ClauseVerdict {
        rule: rule.rule.clone(),
        level: rule.level,
        section: String::new(),
        states: String::new(),
        verdict: Verdict::NotRun(Reason::Interrupted),
        milliseconds: 0.0,
        transcript: String::new(),
    }
}

impl Row {
    /// Applies the known deviations to a verdict.
    pub fn of(judged: ClauseVerdict, known: &KnownList) -> Self {
        let deviation = known.deviation(&judged.rule);
        let flaky = known.flaky(&judged.rule);
        let outcome = match (&judged.verdict, deviation) {
            (Verdict::Pass | Verdict::Fail(_), _) if flaky.is_some() => Outcome::Flaky,
            (Verdict::Pass, None) => Outcome::Pass,
            (Verdict::Pass, Some(_)) => Outcome::UnexpectedPass,
            (Verdict::Fail(_), None) => Outcome::Fail,
            (Verdict::Fail(_), Some(_)) => Outcome::ExpectedFail,
            (Verdict::Recorded, _) => Outcome::Recorded,
            (Verdict::NotRun(_), _) => Outcome::NotRun,
        };
        Self {
            document: Document::of(&judged.rule),
            outcome,
            binding: None,
            list: known.file(&judged.rule).map(str::to_owned),
            known: deviation.or(flaky).map(|entry| entry.reason.clone()),
            judged,
        }
    }

    /// Applies a profile: a failing rule that it only recommends does not fail the run.
    #[must_use]
    pub fn bound_by(mut self, profile: Option<&Profile>) -> Self {
        self.binding = profile.and_then(|profile| profile.binding(&self.judged.rule));
        if (self.binding, self.outcome) == (Some(Binding::Should), Outcome::Fail) {
            self.outcome = Outcome::ShouldFail;
        }
        self
    }

    /// Whether the clause was run, passed, and is not flaky.
    pub fn is_proven(&self) -> bool {
        self.judged.verdict == Verdict::Pass && self.outcome != Outcome::Flaky
    }

    /// Why the clause was not judged, if it was not.
    pub fn reason(&self) -> Option<String> {
        match &self.judged.verdict {
            Verdict::NotRun(Reason::NoScenario) => Some(no_scenario(&self.judged.rule)),
            Verdict::NotRun(reason) => Some(reason.to_string()),
            Verdict::Pass | Verdict::Fail(_) | Verdict::Recorded => None,
        }
    }
}

/// Returns why a clause has no scenario: its capability has none yet, or a reason of its own.
fn no_scenario(id: &str) -> String {
    let catalogue = Catalogue::embedded().ok();
    let clause = catalogue.and_then(|known| Some((known, known.clause(id)?)));
    match clause {
        Some((catalogue, clause)) if catalogue.pending(&clause.capability) => {
            format!(
                "scenarios of `{}` are still to be written",
                clause.capability
            )
        }
        Some((_, clause)) if clause.reason.is_some() => {
            "open, and the clause says why it has no scenario".to_owned()
        }
        _ => Reason::NoScenario.to_string(),
    }
}

#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;
