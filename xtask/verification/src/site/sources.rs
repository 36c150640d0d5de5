//! Evidence that the site shows: releases of OPA, other servers, submissions and the reference.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use chrono::Utc;
use conformance::catalogue::Catalogue;
use conformance::evidence::{Event, RunStarted};
use conformance::known_deviations::KnownList;
use conformance::report::{Digest, Implementation, Outcome, ProfileResult, trim};
use conformance::target::Target;
use conformance::verdict::Verdict;
use conformance::{Suite, SuiteError};

use crate::releases::{self, Releases};
use crate::stored_evidence;
use crate::submissions::{self, FoundSubmissions};
use crate::{evidence, evidence_pack, root};

/// Description of every release of OPA.
const RELEASED: &str = "A release of the Open Policy Agent project, built with `go install` and judged by `cargo xtask matrix`.";

/// Description of every library without a server.
const LIBRARY: &str =
    "A library without a server, judged behind `conformance shim` by `cargo xtask shim-examples`.";

/// Description of every client.
const CLIENT: &str =
    "A client behind an adapter, judged by the rules for clients: `cargo xtask client-examples`.";

/// Runs of the suite on one version of an implementation.
struct Version {
    name: String,
    version: String,
    about: Vec<String>,
    runs: Vec<Vec<Event>>,
}

/// Returns all implementations with their versions, the latest last; and messages about the
/// submissions that are left out.
///
/// # Errors
/// When evidence of our own runs cannot be read.
pub(super) fn all(
    mut submitted: FoundSubmissions,
) -> Result<(Vec<Implementation>, Vec<String>), Box<dyn Error>> {
    let mut versions = releases_of_opa()?;
    for server in stored_evidence::servers()? {
        let (name, version) = server.name.rsplit_once(' ').unwrap_or((&server.name, ""));
        versions.push(Version {
            name: name.to_owned(),
            version: version.to_owned(),
            about: server.about(),
            runs: server.events()?,
        });
    }
    versions.push(reference()?);
    versions.extend(kept_in(evidence::LIBRARIES, LIBRARY)?);
    versions.extend(kept_in(evidence::CLIENTS, CLIENT)?);
    for folder in &submitted.folders {
        match submissions::accepted(folder) {
            Ok(accepted) => add(&mut versions, accepted.events),
            Err(error) => submitted.wrong.push(error),
        }
    }
    let mut names: Vec<String> = Vec::new();
    for version in &versions {
        if !names.contains(&version.name) {
            names.push(version.name.clone());
        }
    }
    versions.sort_by_key(|one| {
        let index = names.iter().position(|name| *name == one.name);
        (index, order(&one.version))
    });
    let all = versions.into_iter().map(implementation);
    Ok((all.collect::<Result<_, _>>()?, submitted.wrong))
}

/// Returns the sort key of a version: its numbers, and the rest of it.
fn order(version: &str) -> (Vec<u64>, String) {
    let (numbers, rest) = version.split_once(['-', '+']).unwrap_or((version, ""));
    let numbers = numbers
        .split('.')
        .map(|part| part.parse().unwrap_or_default());
    // A release follows its pre-releases.
    let rest = if rest.is_empty() {
        "~".to_owned()
    } else {
        rest.to_owned()
    };
    (numbers.collect(), rest)
}

/// Returns the releases with evidence from `cargo xtask matrix`, and otherwise those with evidence
/// in `results/`.
fn releases_of_opa() -> Result<Vec<Version>, Box<dyn Error>> {
    let releases = Releases::read()?;
    let mut latest_runs: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    for run in evidence_pack::unpack(&root().join(releases::EVIDENCE))? {
        if let Some(version) = started(&run).and_then(release) {
            latest_runs.insert(version, run);
        }
    }
    let mut versions = Vec::new();
    for version in &releases.all {
        let file = root().join(format!("target/peers/opa-v{version}.ndjson"));
        let events = match file.is_file() {
            true => {
                let text = fs::read_to_string(&file)?;
                let events = text.lines().map(Event::read);
                Some(events.collect::<Result<Vec<Event>, _>>()?)
            }
            false => latest_runs.remove(version),
        };
        if let Some(events) = events {
            versions.push(Version {
                name: "OPA".to_owned(),
                version: version.clone(),
                about: vec![RELEASED.to_owned()],
                runs: vec![again(events)?],
            });
        } else if releases.usual.contains(version) {
            let reason = "there is no evidence; `cargo xtask matrix --bless` makes it";
            return Err(format!("{}: {reason}", releases::name(version)).into());
        }
    }
    Ok(versions)
}

/// Returns the release of OPA that a run's target states.
fn release(started: &RunStarted) -> Option<String> {
    let target = &started.target;
    let named = target.name.strip_prefix("opa ").map(str::to_owned);
    named.or(target.version.clone())
}

/// Judges the reference now.
fn reference() -> Result<Version, Box<dyn Error>> {
    let mut events = Vec::new();
    let suite = Suite::builder(Target::embedded()?).build()?;
    suite.run(|event| events.push(event));
    Ok(Version {
        name: "reference".to_owned(),
        version: String::new(),
        about: vec!["The server of this repository, which is to keep every rule.".to_owned()],
        runs: vec![events],
    })
}

/// Returns the evidence in a folder of `results/`, each file as one version.
fn kept_in(folder: &str, description: &str) -> Result<Vec<Version>, Box<dyn Error>> {
    let read = evidence::files(folder)?.into_iter().map(|file| {
        let events = again(evidence::read(&file)?)?;
        let target = started(&events).map(|started| &started.target);
        let target = target.ok_or_else(|| format!("{}: no run", file.display()))?;
        let (name, version) = match &target.version {
            Some(version) => (target.name.clone(), version.clone()),
            None => match target.name.rsplit_once(' ') {
                Some((name, version)) => (name.to_owned(), version.to_owned()),
                None => (target.name.clone(), String::new()),
            },
        };
        Ok(Version {
            name,
            version,
            about: vec![description.to_owned()],
            runs: vec![events],
        })
    });
    read.collect()
}

/// Adds the events of a submission to the version that they are about.
fn add(versions: &mut Vec<Version>, events: Vec<Event>) {
    let Some(started) = started(&events) else {
        return;
    };
    let (name, version) = (
        started.target.name.clone(),
        started.target.version.clone().unwrap_or_default(),
    );
    let profile = started.profile.as_ref();
    let title = profile.map(|profile| format!("{} {}", profile.name, profile.edition));
    let line = format!(
        "Submitted by `{}`: `results/{}/{name}/{version}`.",
        title.unwrap_or_default(),
        profile
            .map(|profile| profile.name.as_str())
            .unwrap_or_default()
    );
    let same = |one: &&mut Version| one.name.eq_ignore_ascii_case(&name) && one.version == version;
    match versions.iter_mut().find(same) {
        Some(known) => {
            known.about.push(line);
            known.runs.push(events);
        }
        None => {
            let mut others = versions.iter();
            let other = others.find(|one| one.name.eq_ignore_ascii_case(&name));
            versions.push(Version {
                name: other.map_or(name, |other| other.name.clone()),
                version,
                about: vec![line],
                runs: vec![events],
            });
        }
    }
}

/// Judges the events again by the current rules; returns them unchanged if none of their rules is
/// known.
///
/// # Errors
/// When no run can have produced the events.
fn again(events: Vec<Event>) -> Result<Vec<Event>, SuiteError> {
    match Suite::judge_again(events.clone()) {
        Err(SuiteError::Nothing) => Ok(events),
        judged => judged,
    }
}

fn started(events: &[Event]) -> Option<&RunStarted> {
    events.iter().find_map(|event| match event {
        Event::RunStarted(started) => Some(&**started),
        _ => None,
    })
}

/// Merges the runs of a version: if several judged a rule, the first one counts.
fn implementation(of: Version) -> Result<Implementation, Box<dyn Error>> {
    let mut by: BTreeMap<String, usize> = BTreeMap::new();
    for (run, events) in of.runs.iter().enumerate() {
        for event in events {
            if let Event::Judged(judged) = event
                && !matches!(judged.verdict, Verdict::NotRun(_))
            {
                by.entry(judged.rule.clone()).or_insert(run);
            }
        }
    }
    let target = of.runs.first().and_then(|events| started(events));
    let target = target.map(|started| started.target.clone());
    let list = target
        .as_ref()
        .map(|target| known(&target.name, &of.version));
    let (mut start, mut events, mut ends) = (None::<RunStarted>, Vec::new(), Vec::new());
    let mut profiles = Vec::new();
    for (run, of_run) in of.runs.into_iter().enumerate() {
        let is_of = |rule: &str| by.get(rule).copied().unwrap_or_default() == run;
        for event in of_run {
            match event {
                Event::RunStarted(started) => {
                    profiles.push(started.profile.as_ref().and_then(|profile| profile.known()));
                    match &mut start {
                        Some(start) => {
                            let more = started.chosen.into_iter();
                            let has = |rule: &str, start: &RunStarted| {
                                start.chosen.iter().any(|one| one.rule == rule)
                            };
                            let more: Vec<_> = more.filter(|one| !has(&one.rule, start)).collect();
                            start.chosen.extend(more);
                        }
                        None => {
                            start = Some(RunStarted {
                                profile: None,
                                ..*started
                            })
                        }
                    }
                }
                Event::Judged(judged) if is_of(&judged.rule) => events.push(Event::Judged(judged)),
                Event::Exchange(mut exchange) if is_of(&exchange.rule) => {
                    trim(&mut exchange);
                    events.push(Event::Exchange(exchange));
                }
                Event::RunFinished(finished) => ends.push(Event::RunFinished(finished)),
                _ => {}
            }
        }
    }
    let end = ends.into_iter().next();
    let events = start
        .map(|start| Event::RunStarted(Box::new(start)))
        .into_iter()
        .chain(events)
        .chain(end);
    let mut digest = Digest::of(events, &list.unwrap_or_default(), &[]);
    complete(&mut digest);
    let standings = standings(&digest, &profiles)?;
    Ok(Implementation {
        name: of.name,
        version: of.version,
        about: of.about,
        digest,
        standings,
    })
}

/// Returns the known deviations of a target; none if its list does not apply to this version.
fn known(target: &str, version: &str) -> KnownList {
    let read = || {
        let catalogue = Catalogue::embedded().ok()?;
        let ids = catalogue.with_packs().map(|clause| clause.id.as_str());
        let list = KnownList::embedded(target.split(' ').next()?, ids).ok()?;
        list.on(target, Some(version), Utc::now().date_naive()).ok()
    };
    read().unwrap_or_default()
}

/// Reduces the outcomes of rules to pass and fail for readers: a known deviation only adds a
/// reason.
fn complete(digest: &mut Digest) {
    for row in &mut digest.rows {
        row.outcome = match row.outcome {
            Outcome::ExpectedFail | Outcome::ShouldFail => Outcome::Fail,
            Outcome::UnexpectedPass => Outcome::Pass,
            other => other,
        };
        if row.outcome != Outcome::Fail && row.outcome != Outcome::Flaky {
            row.known = None;
        }
    }
}

/// Returns the profile results of an implementation: for the profiles that it was judged by, or,
/// after a whole run, for every profile with a judged rule.
fn standings(
    digest: &Digest,
    profiles: &[Option<&'static conformance::catalogue::Profile>],
) -> Result<Vec<ProfileResult>, Box<dyn Error>> {
    let catalogue = Catalogue::embedded()?;
    let is_complete = profiles.iter().any(Option::is_none);
    let judged = |rule: &String| {
        let mut rows = digest.rows.iter();
        rows.any(|row| row.judged.rule == *rule && row.outcome != Outcome::NotRun)
    };
    let edition = catalogue.profiles().last().map(|newest| &newest.edition);
    let selected = catalogue
        .profiles()
        .iter()
        .filter(|profile| match is_complete {
            true => Some(&profile.edition) == edition && profile.must.iter().any(judged),
            false => profiles.iter().flatten().any(|one| one == profile),
        });
    let selected = selected.map(|profile| ProfileResult::of(profile, digest.rows.iter()));
    Ok(selected.collect())
}
