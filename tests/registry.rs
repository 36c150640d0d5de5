//! Consistency of clauses, scenarios, snapshots and known deviations. Each test reports all missing
//! and all unused entries in one message.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
use std::collections::{BTreeMap, BTreeSet};

use conformance::assets::{FAULTS, KNOWN, SNAPSHOTS, TARGETS, VARIANTS};
use conformance::catalogue::{Catalogue, Clause, Document, Level, sections};
use conformance::client_conformance::Rules;
use conformance::faults::Fault;
use conformance::known_deviations::KnownList;
use conformance::rules;
use conformance::scenario::{Expectation, Scenario, Send, Step};
use conformance::variants::{OverStrict, Variant};

fn catalogue() -> &'static Catalogue {
    Catalogue::embedded().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns all scenarios by rule id, and the ids that occur twice.
fn scenarios() -> (BTreeMap<String, Scenario>, Vec<String>) {
    let mut scenarios = BTreeMap::new();
    let mut twice = Vec::new();
    for section in rules::sections() {
        for rule in section.rules {
            let id = format!("{}/{}", section.path, rule.slug);
            if scenarios.insert(id.clone(), (rule.scenario)()).is_some() {
                twice.push(id);
            }
        }
    }
    (scenarios, twice)
}

/// Panics with all findings, grouped by their kind; succeeds if there are none.
fn report(findings: Vec<(&str, Vec<String>)>) {
    let message: String = findings
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("\n{what} ({}):\n  {}\n", names.len(), names.join("\n  ")))
        .collect();
    assert!(message.is_empty(), "{message}");
}

#[test]
fn every_clause_is_shown_or_says_why_not() {
    let catalogue = catalogue();
    let (scenarios, twice) = scenarios();
    let clauses = |level: Level| {
        let of_level = move |clause: &&Clause| clause.level == level;
        catalogue.with_packs().filter(of_level)
    };
    let has_scenario = |clause: &&Clause| scenarios.contains_key(&clause.id);
    let pending = |clause: &&Clause| catalogue.pending(&clause.capability);
    let id = |clause: &Clause| clause.id.clone();
    report(vec![
        ("rules without a scenario", {
            let silent = |clause: &&Clause| !has_scenario(clause) && !pending(clause);
            clauses(Level::Rule).filter(silent).map(id).collect()
        }),
        ("open clauses without a scenario and without a reason", {
            let silent = |clause: &&Clause| {
                !has_scenario(clause) && !pending(clause) && clause.reason.is_none()
            };
            clauses(Level::Open).filter(silent).map(id).collect()
        }),
        ("open clauses with a scenario and a reason to have none", {
            let both = |clause: &&Clause| has_scenario(clause) && clause.reason.is_some();
            clauses(Level::Open).filter(both).map(id).collect()
        }),
        ("unobservable clauses with a scenario", {
            clauses(Level::Unobservable)
                .filter(has_scenario)
                .map(id)
                .collect()
        }),
        ("scenarios that stand twice", twice),
        ("scenarios without a clause", {
            let strays = scenarios.keys().filter(|id| catalogue.clause(id).is_none());
            strays.cloned().collect()
        }),
        (
            "capabilities that are pending though every rule has a scenario",
            {
                let capabilities = catalogue.capabilities().iter();
                let done = capabilities.filter(|capability| {
                    let mut rules = clauses(Level::Rule)
                        .filter(|clause| clause.capability == capability.name)
                        .peekable();
                    capability.pending
                        && rules.peek().is_some()
                        && rules.all(|clause| has_scenario(&clause))
                });
                done.map(|capability| capability.name.clone()).collect()
            },
        ),
        ("sections of a document without a clause", {
            let all = Document::ALL.into_iter().flat_map(|document| {
                let section = move |section: &&'static str| (document, *section);
                sections(document).iter().map(section)
            });
            let uncovered = all.filter(|(document, section)| {
                let here =
                    |clause: &Clause| clause.document == *document && clause.section == *section;
                !catalogue.clauses().iter().any(here)
            });
            uncovered
                .map(|(document, section)| format!("{}: {section}", document.name()))
                .collect()
        }),
    ]);
}

#[test]
fn scenarios_stand_in_the_order_of_their_clauses() {
    let catalogue = catalogue();
    let mut disordered = Vec::new();
    for section in rules::sections() {
        let scenarios: Vec<_> = section
            .rules
            .iter()
            .map(|rule| format!("{}/{}", section.path, rule.slug))
            .collect();
        let clauses: Vec<_> = catalogue
            .with_packs()
            .map(|clause| &clause.id)
            .filter(|id| scenarios.contains(id))
            .collect();
        let pairs = scenarios.iter().zip(clauses);
        if let Some((found, expected)) = pairs.into_iter().find(|(a, b)| a != b) {
            disordered.push(format!(
                "{found}, where specs/{}.yaml has {expected}",
                section.path
            ));
        }
    }
    let paths: Vec<_> = rules::sections().map(|section| section.path).collect();
    let mut repeated = paths.clone();
    repeated.sort_unstable();
    repeated.dedup();
    assert_eq!(
        repeated.len(),
        paths.len(),
        "a path stands twice in {paths:?}"
    );
    report(vec![(
        "rules out of the order of their clause file",
        disordered,
    )]);
}

/// Setup in which a server chooses its port itself. The reference in this process does not support
/// it, because tests must not use ports that other programs may need.
const FIXED_PORT: &str = "no-address";

#[test]
fn every_scenario_keeps_something_and_asks_for_a_setup_that_exists() {
    let (scenarios, _) = scenarios();
    let setups = reference_setups();
    let names = |wrong: &dyn Fn(&Scenario) -> bool| -> Vec<String> {
        let found = scenarios.iter().filter(|(_, scenario)| wrong(scenario));
        found.map(|(id, _)| id.clone()).collect()
    };
    report(vec![
        (
            "scenarios that expect nothing",
            names(&|scenario| {
                scenario
                    .steps
                    .iter()
                    .all(|step| step.given || step.expectations.is_empty())
            }),
        ),
        (
            "scenarios that expect facts of a `given` step",
            names(&|scenario| {
                scenario
                    .steps
                    .iter()
                    .any(|step| step.given && !step.expectations.is_empty())
            }),
        ),
        (
            "scenarios in a setup that targets/reference.toml lacks",
            names(&|scenario| !setups.contains(scenario.setup) && scenario.setup != FIXED_PORT),
        ),
    ]);
}

fn reference_setups() -> BTreeSet<String> {
    let text = TARGETS.iter().find(|(name, _)| *name == "reference");
    let (_, text) = text.expect("targets/reference.toml is embedded");
    let target = conformance::target::Target::parse(text, "targets/reference.toml");
    target
        .unwrap_or_else(|error| panic!("{error}"))
        .setups
        .into_keys()
        .collect()
}

#[test]
fn every_rule_with_a_scenario_has_a_snapshot_and_no_snapshot_is_left_over() {
    let (scenarios, _) = scenarios();
    let snapshots: BTreeSet<_> = SNAPSHOTS.iter().map(|(path, _)| *path).collect();
    let judged = |id: &str| {
        let clause = catalogue().clause(id);
        scenarios.contains_key(id) && clause.is_some_and(|clause| clause.level == Level::Rule)
    };
    report(vec![
        ("rules with a scenario and no snapshot", {
            let missing = scenarios
                .keys()
                .filter(|id| judged(id) && !snapshots.contains(id.as_str()));
            missing.cloned().collect()
        }),
        ("snapshots without a rule that has a scenario", {
            snapshots
                .iter()
                .filter(|id| !judged(id))
                .map(|id| (*id).to_owned())
                .collect()
        }),
    ]);
}

/// Maximum length of a snapshot in bytes: longer ones are hard to read.
const LONGEST_SNAPSHOT: usize = 7_000;

/// A rule with a longer snapshot must be split into several rules.
#[test]
fn every_snapshot_is_short_enough_to_be_read() {
    let long = SNAPSHOTS
        .iter()
        .filter(|(_, text)| text.len() > LONGEST_SNAPSHOT);
    let named = long.map(|(id, text)| format!("snapshots/{id}.snap has {} bytes", text.len()));
    report(vec![(
        "snapshots of more than 7,000 bytes, to be split by what they state",
        named.collect(),
    )]);
}

#[test]
fn known_deviations_name_rules_of_a_target_that_exists() {
    let rules = catalogue()
        .with_packs()
        .filter(|clause| clause.level == Level::Rule);
    let ids: Vec<_> = rules.map(|clause| clause.id.as_str()).collect();
    let mut wrong = Vec::new();
    for (target, _) in KNOWN {
        if let Err(error) = KnownList::embedded(target, ids.iter().copied()) {
            wrong.push(error.to_string());
        }
        if !TARGETS.iter().any(|(name, _)| name == target) {
            wrong.push(format!(
                "known/{target}.toml: there is no targets/{target}.toml"
            ));
        }
    }
    report(vec![("known deviations", wrong)]);
}

/// Returns the faults in the committed kill matrix, and the rules that notice any of them.
fn matrix() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = include_str!("../faults/kill-matrix.txt");
    let (mut faults, mut noticing) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        match (line.strip_prefix("* "), line.split_once(": ")) {
            (Some(rule), _) => drop(noticing.insert(rule.to_owned())),
            (None, Some((fault, _))) => drop(faults.insert(fault.to_owned())),
            (None, None) => {}
        }
    }
    (faults, noticing)
}

#[test]
fn every_rule_notices_a_fault_that_is_aimed_at_it() {
    let catalogue = catalogue();
    let (tried, noticing) = matrix();
    let faults = Fault::embedded().unwrap_or_else(|error| panic!("{error}"));
    let known: BTreeSet<String> = faults.iter().map(|fault| fault.id.clone()).collect();
    let files = FAULTS.iter().map(|(path, _)| *path);
    report(vec![
        ("rules without a fault that they notice", {
            let rules = catalogue.with_packs();
            let rules = rules.filter(|clause| clause.level == Level::Rule);
            let blunt = rules.filter(|clause| {
                !catalogue.pending(&clause.capability) && !noticing.contains(&clause.id)
            });
            blunt.map(|clause| clause.id.clone()).collect()
        }),
        ("faults that faults/kill-matrix.txt does not know", {
            known.difference(&tried).cloned().collect()
        }),
        ("faults that are no more, in faults/kill-matrix.txt", {
            tried.difference(&known).cloned().collect()
        }),
        ("files of faults without a file of clauses", {
            let clauses = catalogue.with_packs().map(|clause| clause.id.as_str());
            let paths: BTreeSet<_> = clauses
                .filter_map(|id| Some(id.rsplit_once('/')?.0))
                .collect();
            let strays = files.filter(|path| !paths.contains(path));
            strays.map(str::to_owned).collect()
        }),
    ]);
}

#[test]
fn every_variant_says_what_allows_it_and_stands_where_its_subject_does() {
    let clauses = catalogue().clauses().iter();
    let paths: BTreeSet<_> = clauses
        .filter_map(|clause| Some(clause.id.rsplit_once('/')?.0))
        .collect();
    let variants = Variant::embedded().unwrap_or_else(|error| panic!("{error}"));
    OverStrict::embedded().unwrap_or_else(|error| panic!("{error}"));
    let mut known = BTreeSet::new();
    let named = |wrong: &dyn Fn(&Variant) -> bool| -> Vec<String> {
        let found = variants.iter().filter(|variant| wrong(variant));
        found.map(|variant| variant.id.clone()).collect()
    };
    let sentence = |text: &str| text.ends_with('.') && text.len() > 10;
    report(vec![
        ("variants that stand twice", {
            let twice = variants.iter().filter(|one| !known.insert(&one.id));
            twice.map(|variant| variant.id.clone()).collect()
        }),
        (
            "variants that do not say in a sentence what they do",
            named(&|variant| !sentence(&variant.does)),
        ),
        (
            "variants that do not say in a sentence what allows them",
            named(&|variant| !sentence(&variant.allowed_by)),
        ),
        ("files of variants without a file of clauses", {
            let files = VARIANTS.iter().map(|(path, _)| *path);
            let other_files = ["general", "known"];
            let unused = files.filter(|path| !paths.contains(path) && !other_files.contains(path));
            unused.map(str::to_owned).collect()
        }),
    ]);
}

/// A target without the capability `v0` may respond at its endpoints as at any unknown path.
#[test]
fn only_clauses_of_v0_need_the_endpoint_for_webhooks() {
    let (scenarios, _) = scenarios();
    let needs = |step: &Step| {
        let Send::Http { path, .. } = &step.request else {
            return false;
        };
        let bears = |expectation: &Expectation| {
            use Expectation::{Error, Status, StatusAmong, Without};
            matches!(expectation, Error | Status | StatusAmong(_) | Without(_))
        };
        path.starts_with("/v0/") && (step.given || !step.expectations.iter().all(bears))
    };
    let rules = catalogue().clauses().iter();
    let rules = rules.filter(|clause| clause.level == Level::Rule && clause.capability != "v0");
    let needy = rules.filter(|clause| {
        let scenario = scenarios.get(&clause.id);
        scenario.is_some_and(|scenario| scenario.steps.iter().any(needs))
    });
    report(vec![(
        "rules that need what `v0` claims, and are not of it",
        needy.map(|clause| clause.id.clone()).collect(),
    )]);
}

/// Frozen edition of the profiles: its name, the SHA-256 of its rules, and for each profile the
/// numbers of `must` and `should` rules.
const FROZEN: (&str, &str, &[(&str, usize, usize)]) = (
    "2026.12",
    "8005e2844ef81e577956841f6c0dbb49053ab3a59b462fb0ed766cd5ec0d4c74",
    &[
        ("engine-decision", 41, 117),
        ("engine-policies", 62, 0),
        ("engine-data", 70, 6),
        ("engine-query", 35, 1),
        ("engine-compile", 32, 1),
        ("engine-filters", 92, 0),
        ("engine-bundles", 22, 30),
        ("engine-logs", 4, 0),
        ("control-core", 274, 0),
        ("control-builds", 16, 0),
    ],
);

/// The catalogue reader checks that all ids exist and that lists match their digest.
#[test]
fn a_frozen_edition_of_profiles_is_as_it_was() {
    let (edition, frozen, expected) = FROZEN;
    let profiles = catalogue().profiles().iter();
    let of_edition: Vec<_> = profiles.filter(|one| one.edition == edition).collect();
    let found: Vec<_> = of_edition
        .iter()
        .map(|one| (one.name.as_str(), one.must.len(), one.should.len()))
        .collect();
    assert_eq!(found, expected);
    assert!(of_edition.iter().all(|one| one.frozen == frozen));
    let scenarios = scenarios().0;
    let rules = of_edition.iter().flat_map(|one| one.rules());
    let silent = rules.filter(|id| !scenarios.contains_key(*id));
    report(vec![(
        "rules of a profile without a scenario",
        silent.cloned().collect(),
    )]);
}

#[test]
fn the_kill_matrix_of_clients_knows_every_fault_and_its_rule() {
    let rules = Rules::embedded().unwrap_or_else(|error| panic!("{error}"));
    let text = include_str!("../conformance/clients/kill-matrix.txt");
    let (mut fault, mut noticed) = ("", BTreeSet::new());
    for line in text.lines() {
        match line.strip_prefix("* ") {
            Some(rule) => drop(noticed.insert((fault, rule))),
            None if line.starts_with(' ') => {}
            None => fault = line.split(':').next().unwrap_or_default(),
        }
    }
    let aims: BTreeSet<(&str, &str)> = rules.aims().collect();
    assert_eq!(
        aims, noticed,
        "`cargo xtask kill-matrix --bless` writes conformance/clients/kill-matrix.txt"
    );
}
