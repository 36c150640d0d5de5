//! `cargo xtask matrix`: the whole suite on released versions of the real OPA and on the
//! reference, as one table.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use conformance::Suite;
use conformance::catalogue::{Catalogue, Clause, Document, Level};
use conformance::evidence::Event;
use conformance::known::KnownList;
use conformance::target::Target;
use conformance::verdict::Verdict;

use crate::{postgres::done, program, report, root};

/// The module of the real OPA.
const MODULE: &str = "github.com/open-policy-agent/opa";
/// The versions, oldest first: the last of the old language, and those between which answers
/// changed.
const VERSIONS: [&str; 7] = [
    "v0.70.0", "v1.3.0", "v1.6.0", "v1.9.0", "v1.13.2", "v1.18.2", "v1.22.0",
];
/// The first version that reads the language of the scenarios without being told to.
const V1: &str = "v1.";
/// The page that the table stands on.
const PAGE: &str = "COMPATIBILITY.md";

/// Which rules a server keeps, by id; rules that were not run are left out.
type Kept = BTreeMap<String, bool>;

/// Judges every version and the reference. With `bless`, the page is written; else it has to say
/// the same.
///
/// # Errors
/// A version that cannot be had or started, a page that says otherwise.
pub(crate) fn run(bless: bool) -> Result<(), Box<dyn Error>> {
    let folder = root().join("target/peers");
    let mut columns = Vec::new();
    for version in VERSIONS {
        let program = build(version)?;
        let evidence = folder.join(format!("opa-{version}.ndjson"));
        let kept = judge(opa(version, &program)?, &evidence)?;
        columns.push((format!("OPA {}", version.trim_start_matches('v')), kept));
    }
    let reference = judge(Target::embedded()?, &folder.join("reference.ndjson"))?;
    columns.push(("reference".to_owned(), reference));
    for (name, kept) in &columns {
        let proven = kept.values().filter(|kept| **kept).count();
        report(
            name,
            &format!("{proven} of {} rules that were run", kept.len()),
        );
    }
    side_by_side(&folder)?;
    let page = page(&columns)?;
    let file = root().join(PAGE);
    if bless {
        fs::write(&file, &page)?;
    }
    if fs::read_to_string(&file)? != page {
        return Err(format!("{PAGE} says otherwise; read what `--bless` changes in it").into());
    }
    told_in_readme(&page)
}

/// The figures for all rules of the engine stand in the README, too.
fn told_in_readme(page: &str) -> Result<(), Box<dyn Error>> {
    let all = page.lines().rfind(|line| line.starts_with("| **all** |"));
    let all = all.ok_or("the page has no figures")?;
    match fs::read_to_string(root().join("README.md"))?.contains(all) {
        true => Ok(()),
        false => Err(format!("README.md lacks the line {all}").into()),
    }
}

/// Builds a version; where it is.
fn build(version: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = root().join(format!("target/peers/opa-{version}"));
    let program = folder.join("opa");
    if !program.is_file() {
        report("building", &format!("the real OPA {version}"));
        done(
            Command::new("go")
                .env("CGO_ENABLED", "0")
                .env("GOBIN", &folder)
                .args(["install", &format!("{MODULE}@{version}")]),
        )?;
    }
    Ok(program)
}

/// The target `opa`, started by this program, in the language of the scenarios.
fn opa(version: &str, program: &std::path::Path) -> Result<Target, Box<dyn Error>> {
    let file = root().join("conformance/targets/opa.toml");
    let mut target = Target::parse(&fs::read_to_string(file)?, "opa.toml")?;
    target.name = format!("opa {}", version.trim_start_matches('v'));
    target.program = Some(program.display().to_string());
    if !version.starts_with(V1) {
        for setup in target.setups.values_mut() {
            for launch in setup.engine.iter_mut() {
                launch.args.push("--v1-compatible".to_owned());
            }
        }
    }
    Ok(target)
}

/// The whole suite on a target; its evidence goes to a file.
fn judge(target: Target, evidence: &std::path::Path) -> Result<Kept, Box<dyn Error>> {
    let name = target.name.clone();
    report("judging", &format!("{name}, {}", evidence.display()));
    let suite = Suite::builder(target).build()?;
    let (mut kept, mut lines) = (Kept::new(), String::new());
    let mut unreachable = None;
    suite.run(|event| {
        lines += &serde_json::to_string(&event).unwrap_or_default();
        lines.push('\n');
        match event {
            Event::Judged(judged) => match judged.verdict {
                Verdict::Pass => drop(kept.insert(judged.rule, true)),
                Verdict::Fail(_) => drop(kept.insert(judged.rule, false)),
                Verdict::Recorded | Verdict::NotRun(_) => {}
            },
            Event::RunFinished(finished) => unreachable = finished.unreachable,
            _ => {}
        }
    });
    fs::write(evidence, lines)?;
    match unreachable {
        None => Ok(kept),
        Some(why) => Err(format!("{name}: {why}").into()),
    }
}

/// One page of HTML with every version side by side, in `target/peers/compatibility.html`.
fn side_by_side(folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let page = folder.join("compatibility.html");
    let report = format!("--report=html={}", page.display());
    let evidence = |version: &str| folder.join(format!("opa-{version}.ndjson"));
    let files = VERSIONS.into_iter().map(evidence);
    let files = files.chain([folder.join("reference.ndjson")]);
    let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
    let first = ["report", report.as_str()];
    let arguments = first.into_iter().chain(files.iter().map(String::as_str));
    program::conformance(&arguments.collect::<Vec<_>>())
}

/// The page: rules kept by section, then the rules whose verdict changes between versions.
fn page(columns: &[(String, Kept)]) -> Result<String, Box<dyn Error>> {
    let catalogue = Catalogue::embedded()?;
    let mut page = String::from(
        "# Compatibility\n\nRules kept, of those of each section that could be run; what is not \
         run on a server it does not claim. Written by `cargo xtask matrix --bless`.\n",
    );
    for document in Document::ALL {
        let rules: Vec<&Clause> = catalogue
            .clauses()
            .iter()
            .filter(|clause| clause.level == Level::Rule && clause.document == document)
            .collect();
        let ran = |kept: &&(String, Kept)| rules.iter().any(|rule| kept.1.contains_key(&rule.id));
        let columns: Vec<&(String, Kept)> = columns.iter().filter(ran).collect();
        table(&mut page, catalogue.title(document), &rules, &columns)?;
        match document {
            Document::Control => recorded(&mut page, catalogue)?,
            Document::Engine => changes(&mut page, &rules, &columns)?,
        }
    }
    Ok(page)
}

fn table(
    page: &mut String,
    title: &str,
    rules: &[&Clause],
    columns: &[&(String, Kept)],
) -> std::fmt::Result {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(page, "\n## {title}\n")?;
    writeln!(page, "| section | rules | {} |", names.join(" | "))?;
    writeln!(page, "|---|--:|{}", "--:|".repeat(names.len()))?;
    let mut sections: Vec<&str> = Vec::new();
    for rule in rules {
        if !sections.contains(&rule.section) {
            sections.push(rule.section);
        }
    }
    let mut row = |name: &str, of: &[&&Clause]| {
        let cells = columns.iter().map(|(_, kept)| {
            let ran = of.iter().filter_map(|rule| kept.get(&rule.id));
            let (mut all, mut held) = (0, 0);
            for kept in ran {
                all += 1;
                held += usize::from(*kept);
            }
            match all {
                0 => "–".to_owned(),
                _ if all == of.len() => held.to_string(),
                _ => format!("{held} of {all}"),
            }
        });
        let cells: Vec<String> = cells.collect();
        writeln!(page, "| {name} | {} | {} |", of.len(), cells.join(" | "))
    };
    for section in sections {
        let of: Vec<_> = rules
            .iter()
            .filter(|rule| rule.section == section)
            .collect();
        row(section, &of)?;
    }
    row("**all**", &rules.iter().collect::<Vec<_>>())
}

/// The rules that some version of OPA keeps and another breaks, with those that keep them.
fn changes(page: &mut String, rules: &[&Clause], columns: &[&(String, Kept)]) -> std::fmt::Result {
    let versions: Vec<_> = columns
        .iter()
        .filter(|(name, _)| name.starts_with("OPA"))
        .collect();
    writeln!(page, "\n### What changed between versions of OPA\n")?;
    writeln!(page, "| rule | kept by |\n|---|---|")?;
    for rule in rules {
        let verdicts: Vec<(&str, bool)> = versions
            .iter()
            .map(|(name, kept)| {
                (
                    name.as_str(),
                    kept.get(&rule.id).copied().unwrap_or_default(),
                )
            })
            .collect();
        let keeping = || {
            verdicts
                .iter()
                .filter(|(_, kept)| *kept)
                .map(|(name, _)| *name)
        };
        if keeping().next().is_some() && keeping().count() < verdicts.len() {
            writeln!(page, "| {} | {} |", rule.id, span(&verdicts))?;
        }
    }
    Ok(())
}

/// `since 1.3.0`, `until 1.6.0`, or the versions one by one.
fn span(verdicts: &[(&str, bool)]) -> String {
    let short = |name: &str| name.trim_start_matches("OPA ").to_owned();
    let first = verdicts
        .iter()
        .position(|(_, kept)| *kept)
        .unwrap_or_default();
    let (before, since) = verdicts.split_at(first);
    if since.iter().all(|(_, kept)| *kept)
        && let Some((name, _)) = since.first()
        && !before.is_empty()
    {
        return format!("since {}", short(name));
    }
    let lasting = verdicts.iter().take_while(|(_, kept)| *kept).count();
    let (kept, after) = verdicts.split_at(lasting);
    if after.iter().all(|(_, kept)| !kept)
        && let Some((name, _)) = kept.last()
    {
        return format!("until {}", short(name));
    }
    let keeping = verdicts.iter().filter(|(_, kept)| *kept);
    let names: Vec<String> = keeping.map(|(name, _)| short(name)).collect();
    names.join(", ")
}

/// What is known of OPA Control Plane without a run.
fn recorded(page: &mut String, catalogue: &Catalogue) -> Result<(), Box<dyn Error>> {
    let ids = catalogue.clauses().iter().map(|clause| clause.id.as_str());
    let known = KnownList::embedded("ocp", ids)?;
    writeln!(
        page,
        "\n### What OPA Control Plane is known to do otherwise\n\nNo version of it is run here; \
         these are observed facts (`conformance/known/ocp.toml`).\n"
    )?;
    writeln!(page, "| rule | what it does |\n|---|---|")?;
    for clause in catalogue.clauses() {
        if let Some(known) = known.deviation(&clause.id) {
            writeln!(
                page,
                "| {} | {} |",
                clause.id,
                known.reason.trim().replace('|', "\\|")
            )?;
        }
    }
    Ok(())
}
