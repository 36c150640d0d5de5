//! `conformance explain ID`: everything about one clause.

use std::io::Write;

use clap::Args;

use super::{Failed, catalogue};
use crate::assets::{KNOWN, SNAPSHOTS};
use crate::catalogue::pattern::{Pattern, PatternError};
use crate::catalogue::{Catalogue, Clause};
use crate::judge::snapshot_text;
use crate::known_deviations::KnownList;
use crate::rules;
use crate::scenario::{Body, Identity, Recipient, Scenario, Send, Step};

/// The command line of `explain`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The rule's id
    #[arg(value_name = "ID")]
    id: String,
}

/// Prints everything about one clause.
pub(super) fn explain(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failed> {
    let catalogue = catalogue()?;
    let clause = catalogue.clause(&arguments.id);
    let clause = clause.ok_or_else(|| unknown(catalogue, &arguments.id))?;
    statement(catalogue, clause, out)?;
    match rules::scenario(&clause.id) {
        Some(scenario) => requests(&scenario, out)?,
        None if catalogue.pending(&clause.capability) => {
            writeln!(
                out,
                "\nscenario    pending with capability `{}`",
                clause.capability
            )?;
        }
        None => writeln!(out, "\nscenario    none")?,
    }
    if let Some((_, snapshot)) = SNAPSHOTS.iter().find(|(id, _)| *id == clause.id) {
        writeln!(out, "\nexpected (snapshots/{}.snap)\n", clause.id)?;
        for line in snapshot_text(snapshot).lines() {
            writeln!(out, "  {line}")?;
        }
    }
    deviations(catalogue, clause, out)?;
    Ok(0)
}

/// Creates the error for an id that no clause has; the id may be a path above several clauses.
fn unknown(catalogue: &Catalogue, id: &str) -> Failed {
    let ids = || catalogue.with_packs().map(|clause| clause.id.as_str());
    let matching = Pattern::parse(id).map(|path| ids().filter(|id| path.matches(id)).count());
    match matching {
        Ok(rules @ 1..) => Failed::usage(format!(
            "`{id}` is above {rules} rules: `conformance list '{id}'` shows them"
        )),
        _ => Failed::usage(PatternError::unknown(id, ids())),
    }
}

fn statement(catalogue: &Catalogue, clause: &Clause, out: &mut dyn Write) -> Result<(), Failed> {
    writeln!(out, "{}\n\n  {}\n", clause.id, clause.states)?;
    let title = catalogue.title_of(&clause.id);
    writeln!(out, "document    {title}")?;
    let numbers: Vec<_> = clause.sentences.iter().map(usize::to_string).collect();
    let sentences = match numbers.len() {
        0 => String::new(),
        1 => format!(", sentence {}", numbers.concat()),
        _ => format!(", sentences {}", numbers.join(", ")),
    };
    writeln!(out, "section     {}{sentences}", clause.section)?;
    for (name, text) in [("endpoint", &clause.endpoint), ("topic", &clause.topic)] {
        if let Some(text) = text {
            writeln!(out, "{name:11} {text}")?;
        }
    }
    writeln!(out, "level       {}", clause.level)?;
    writeln!(out, "capability  {}", clause.capability)?;
    if let Some(reason) = &clause.reason {
        writeln!(out, "reason      {}", reason.trim())?;
    }
    Ok(())
}

fn requests(scenario: &Scenario, out: &mut dyn Write) -> Result<(), Failed> {
    let server = if scenario.fresh {
        ", a server of its own"
    } else {
        ""
    };
    writeln!(out, "\nscenario    setup `{}`{server}\n", scenario.setup)?;
    for (step, number) in scenario.steps.iter().zip(1..) {
        let kind = if step.given { "given" } else { "when" };
        writeln!(out, "  {number}. {kind:5} {}", request(step))?;
        if let Some(reason) = step.off_contract {
            writeln!(out, "           outside the contract on purpose: {reason}")?;
        }
    }
    Ok(())
}

fn request(step: &Step) -> String {
    let mut line = match &step.request {
        Send::Raw(text) => format!("{text:?}"),
        Send::Http {
            method,
            path,
            headers,
            body,
        } => {
            let mut line = format!("{method} {path}");
            for (name, value) in headers {
                line.push_str(&format!("  {name}: {value}"));
            }
            if let Some(body) = body_text(body) {
                line.push_str(&format!("  {body}"));
            }
            line
        }
    };
    match &step.identity {
        _ if step.recipient == Recipient::Mock => line.insert_str(0, "depot "),
        _ if step.recipient == Recipient::Engine => line.insert_str(0, "engine "),
        _ if step.recipient == Recipient::Elsewhere => line.insert_str(0, "elsewhere "),
        Identity::Administrator => {}
        Identity::Role(role) => line.push_str(&format!("  (as {role})")),
        Identity::Anonymous => line.push_str("  (anonymous)"),
        Identity::Authorization(value) => line.push_str(&format!("  (Authorization: {value})")),
    }
    for (word, checks) in [("until", &step.until), ("shows", &step.shows)] {
        for check in checks {
            line.push_str(&format!("  ({word} {check})"));
        }
    }
    if step.times > 1 {
        line.push_str(&format!("  ({} times)", step.times));
    }
    if step.walk {
        line.push_str("  (page by page)");
    }
    line
}

fn body_text(body: &Body) -> Option<String> {
    match body {
        Body::Empty => None,
        Body::Json(value) => Some(value.to_string()),
        Body::Text(media_type, text) => Some(format!("{media_type} {text:?}")),
        Body::Bytes(media_type, bytes) => Some(format!("{media_type}, {} bytes", bytes.len())),
        Body::Gzip(inner) => body_text(inner).map(|text| format!("gzip {text}")),
    }
}

fn deviations(catalogue: &Catalogue, clause: &Clause, out: &mut dyn Write) -> Result<(), Failed> {
    let ids = catalogue.with_packs().map(|clause| clause.id.as_str());
    for (target, _) in KNOWN {
        let list = KnownList::embedded(target, ids.clone()).map_err(Failed::usage)?;
        let failing = list.deviation(&clause.id).map(|known| ("fail", known));
        let flaky = list.flaky(&clause.id).map(|known| ("fail at times", known));
        if let Some((how, known)) = failing.or(flaky) {
            writeln!(out, "\nknown to {how} on {target}: {}", known.reason.trim())?;
        }
    }
    Ok(())
}
