//! Differences between runs as text, and as proposals of clauses.

use std::collections::BTreeSet;

use super::answers::DifferenceKind;
use super::requests::{SENT, folder};
use super::{Comparison, Open, Proposal};
use crate::catalogue::{Catalogue, Clause};
use crate::judge::truncate::shorten;

/// Maximum length of a value in a sentence, in characters.
const VALUE: usize = 90;
/// Maximum length of a recorded value, in characters.
const RECORD: usize = 160;
/// Maximum number of words of a location in an id.
const WORDS: usize = 6;

impl Comparison {
    /// Formats the comparison for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (mut lines, mut used) = (Vec::new(), BTreeSet::new());
        for moved in &self.moved {
            lines.push(format!(
                "VERDICT {}: {}",
                moved.rule,
                moved.outcomes.join(", ")
            ));
            lines.push(format!("  {}", moved.first));
            lines.push(format!("  {}", moved.other));
        }
        if !self.differs() {
            lines.push(format!("{} runs have the same results", self.labels.len()));
        }
        lines.extend(self.open.iter().map(|open| self.open_line(open)));
        let words = |one: &&Proposal| one.kind == DifferenceKind::Words;
        for proposal in self.proposals.iter().filter(|one| !words(one)) {
            lines.extend(self.proposal(proposal, &mut used));
        }
        lines.extend(self.proposals.iter().filter(words).map(|one| {
            let (file, what) = (&one.file, self.describe(one));
            format!("MESSAGE {file}: {what} ({})", shown_by(one))
        }));
        if !(self.open.is_empty() && self.proposals.is_empty()) {
            lines.push(format!(
                "no rule decides: {} facts of open clauses, {} places that no fact covers, {} wordings",
                self.open.len(),
                self.proposals.iter().filter(|one| !words(one)).count(),
                self.proposals.iter().filter(words).count()
            ));
        }
        lines
    }

    fn open_line(&self, open: &Open) -> String {
        let values = self.each(&open.values, RECORD);
        format!("OPEN CLAUSE {}: `{}` is {values}", open.rule, open.key)
    }

    fn proposal(&self, proposal: &Proposal, used: &mut BTreeSet<String>) -> Vec<String> {
        let (what, rules) = (self.describe(proposal), shown_by(proposal));
        let mut lines = vec![format!(
            "NOT COVERED {}: {what} ({rules}), e.g.",
            proposal.file
        )];
        let rule = &proposal.rule;
        lines.push(format!(
            "  {rule}, step {}: {}",
            proposal.step,
            shorten(&proposal.example)
        ));
        match &proposal.recorded {
            Some(open) => lines.push(format!("  the open clause {open} records this place")),
            None => lines.extend(skeleton(proposal, used)),
        }
        lines
    }

    /// Formats a difference as in: `/warning` is an object at opa; absent at reference
    fn describe(&self, proposal: &Proposal) -> String {
        let values = self.each(&proposal.values, VALUE);
        let word = match proposal.kind {
            _ if proposal.members => "has members that not all have,",
            DifferenceKind::Value | DifferenceKind::Words if proposal.rules.len() > 1 => {
                "differs, such as"
            }
            _ => "is",
        };
        format!("`{}` {word} {values}", proposal.place)
    }

    fn each(&self, values: &[String], longest: usize) -> String {
        let each = values.iter().zip(&self.labels);
        let each: Vec<String> = each
            .map(|(value, label)| format!("{} at {label}", cut(value, longest)))
            .collect();
        each.join("; ")
    }
}

fn shown_by(proposal: &Proposal) -> String {
    match proposal.rules.len() {
        1 => "1 rule's requests show it".to_owned(),
        count => format!("{count} rules' requests show it"),
    }
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Returns a draft of a clause for the file of the proposal, with an unused id. Its scenario, or
/// the reason why it has none, is still to be written.
fn skeleton(proposal: &Proposal, used: &mut BTreeSet<String>) -> Vec<String> {
    let rule = &proposal.rule;
    let known = Catalogue::embedded().ok();
    let siblings = |catalogue: &'static Catalogue| {
        let clauses = catalogue.clauses().iter();
        let of_file = clauses.filter(|clause| folder(&clause.id) == proposal.file);
        of_file.collect::<Vec<&Clause>>()
    };
    let siblings = known.map(siblings).unwrap_or_default();
    let sibling = known
        .and_then(|known| known.clause(rule))
        .filter(|clause| folder(&clause.id) == proposal.file)
        .or_else(|| siblings.first().copied());
    let is_taken = |id: &str| {
        let mut ids = siblings.iter().map(|clause| clause.id.rsplit('/').next());
        ids.any(|known| known == Some(id))
    };
    let id = words(proposal, rule);
    let mut ids = std::iter::once(id.clone()).chain((2..).map(|number| format!("{id}-{number}")));
    let id = ids.find(|id| !is_taken(id) && used.insert(format!("{}/{id}", proposal.file)));
    let id = id.unwrap_or_default();
    let states = states(proposal);
    let mut lines = vec![format!("  specs/{}.yaml:", proposal.file)];
    lines.push(format!("  - id: {id}"));
    lines.push(format!(
        "    section: {}",
        sibling.map_or("", |clause| clause.section)
    ));
    lines.push("    level: open".to_owned());
    lines.push(format!(
        "    capability: {}",
        sibling.map_or("", |clause| clause.capability.as_str())
    ));
    lines.push(format!("    states: {states}"));
    lines
}

/// Describes the behaviour that the clause would leave open, in words that need no quotes in YAML.
fn states(proposal: &Proposal) -> String {
    let (what, place) = match proposal.place.strip_prefix(SENT) {
        Some(place) => ("what the server sends", place),
        None => ("the answer", proposal.place.as_str()),
    };
    match (place, proposal.kind) {
        (place, _) if proposal.members => {
            format!("The documents do not say which other members `{place}` has in {what}.")
        }
        ("status", _) => "The documents do not say which status the response has.".to_owned(),
        ("media-type", _) => format!("The documents do not say which media type {what} has."),
        ("body", DifferenceKind::Shape) => {
            format!("The documents do not say what kind of body {what} has.")
        }
        (place, DifferenceKind::Shape) => {
            format!("The documents do not say whether {what} has `{place}`, or of which type.")
        }
        (place, DifferenceKind::Value | DifferenceKind::Words) => {
            format!("The documents do not say what value `{place}` has in {what}.")
        }
    }
}

/// Creates an id from the words of the location; a location without words uses those of the rule.
fn words(proposal: &Proposal, rule: &str) -> String {
    let mut text = proposal.place.clone();
    if !text.contains('/') {
        let slug = rule.rsplit('/').next().unwrap_or_default();
        text = format!("{text} of {slug}");
    }
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .map(str::to_ascii_lowercase)
        .collect();
    let id = words.join("-");
    match id.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        true => id,
        false => format!("member-{id}"),
    }
}
