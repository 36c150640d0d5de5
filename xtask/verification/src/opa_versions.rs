//! `cargo xtask matrix`: judges released versions of OPA, the reference, and stored evidence, and
//! shows the results as one table.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use conformance::Suite;
use conformance::catalogue::{Catalogue, Clause, Document, Level, Pack};
use conformance::evidence::Event;
use conformance::known_deviations::KnownList;
use conformance::target::Target;
use conformance::verdict::Verdict;

use crate::client_examples::{self, PAGE};
use crate::releases::{self, Releases};
use crate::stored_evidence::{self, RuleResults};
use crate::{evidence, evidence_pack, program, report, root};

/// Judges the versions in the page, the reference, and stored evidence of other servers. With
/// `bless`, writes the page and the evidence of the releases; otherwise the page must match.
///
/// # Errors
/// When a version is not available or does not start, or the page does not match.
pub(crate) fn run(bless: bool) -> Result<(), Box<dyn Error>> {
    let folder = root().join("target/peers");
    let versions = Releases::read()?.usual;
    let mut columns = judge_all(&versions, &folder, None)?;
    for server in stored_evidence::servers()? {
        columns.push((server.name.clone(), server.rule_results()?));
    }
    let evidence = folder.join("reference.ndjson");
    let reference = judge(Target::embedded()?, &evidence, None)?;
    columns.push(("reference".to_owned(), reference));
    for (name, results) in &columns {
        let proven = results.values().filter(|results| **results).count();
        report(
            name,
            &format!("{proven} of {} rules that were run", results.len()),
        );
    }
    side_by_side(&versions, &folder)?;
    if bless {
        let evidence = |version: &String| folder.join(format!("opa-v{version}.ndjson"));
        let files: Vec<_> = versions.iter().map(evidence).collect();
        evidence_pack::pack(&files, &root().join(releases::EVIDENCE))?;
    }
    let mut page = page(&columns)?;
    // Clients are judged by a separate check.
    page += client_examples::part(&fs::read_to_string(root().join(PAGE))?);
    check_page(PAGE, &page, bless)?;
    check_readme(&page)
}

/// Judges every release, or with `built` those already built, by the rules of the documents and by
/// the rules about regressions. With `bless`, writes the page; otherwise the page must match.
///
/// # Errors
/// When a version is not available or does not start, or the page does not match.
pub(crate) fn run_all(bless: bool, built: bool) -> Result<(), Box<dyn Error>> {
    let releases = Releases::read()?;
    let mut versions = releases.all.clone();
    versions.retain(|version| !built || releases::program(version).is_file());
    let folder = root().join("target/peers");
    let columns = judge_all(&versions, &folder, None)?;
    let mut selected = releases.older.clone();
    selected.retain(|version| !built || releases::program(version).is_file());
    selected.extend(versions);
    let regressions = judge_all(&selected, &folder, Some(Pack::Regressions))?;
    check_page(
        releases::PAGE,
        &releases.page(&columns, &regressions),
        bless,
    )
}

fn judge_all(
    versions: &[String],
    folder: &Path,
    pack: Option<Pack>,
) -> Result<Vec<(String, RuleResults)>, Box<dyn Error>> {
    let of_pack = pack.map_or_else(String::new, |pack| format!("-{}", pack.name()));
    let mut columns = Vec::new();
    for version in versions {
        let program = releases::build(version)?;
        let evidence = folder.join(format!("opa-v{version}{of_pack}.ndjson"));
        let results = judge(releases::target(version, &program)?, &evidence, pack)?;
        columns.push((releases::name(version), results));
    }
    Ok(columns)
}

/// Checks that the file of a page has this content, or writes it with `bless`.
fn check_page(path: &str, page: &str, bless: bool) -> Result<(), Box<dyn Error>> {
    let file = root().join(path);
    if bless {
        fs::write(&file, page)?;
    }
    match fs::read_to_string(&file)? == page {
        true => Ok(()),
        false => Err(format!("{path} says otherwise; read what `--bless` changes in it").into()),
    }
}

/// Checks that the README contains the line with the engine's totals.
fn check_readme(page: &str) -> Result<(), Box<dyn Error>> {
    let all = page.lines().rfind(|line| line.starts_with("| **all** |"));
    let all = all.ok_or("the page has no figures")?;
    match fs::read_to_string(root().join("README.md"))?.contains(all) {
        true => Ok(()),
        false => Err(format!("README.md lacks the line {all}").into()),
    }
}

/// Judges a target by the rules of the documents, or of a pack, and writes the evidence to a file.
fn judge(
    target: Target,
    evidence: &Path,
    pack: Option<Pack>,
) -> Result<RuleResults, Box<dyn Error>> {
    let name = target.name.clone();
    report("judging", &format!("{name}, {}", evidence.display()));
    let rules = pack.map(|pack| pack.name().to_owned());
    let suite = Suite::builder(target).rules(rules).build()?;
    let (mut results, mut lines) = (RuleResults::new(), String::new());
    let mut unreachable = None;
    suite.run(|event| {
        lines += &serde_json::to_string(&event).unwrap_or_default();
        lines.push('\n');
        match event {
            Event::Judged(judged) => match judged.verdict {
                Verdict::Pass => drop(results.insert(judged.rule, true)),
                Verdict::Fail(_) => drop(results.insert(judged.rule, false)),
                // For an open clause of a pack, it counts whether any request was answered.
                Verdict::Recorded if pack.is_some() => {
                    let is_fact = |line: &str| line.starts_with("  ") && line.contains(" = ");
                    let answered = judged.transcript.lines().any(is_fact);
                    results.insert(judged.rule, answered);
                }
                Verdict::Recorded | Verdict::NotRun(_) => {}
            },
            Event::RunFinished(finished) => unreachable = finished.unreachable,
            _ => {}
        }
    });
    fs::write(evidence, lines)?;
    match unreachable {
        None => Ok(results),
        Some(reason) => Err(format!("{name}: {reason}").into()),
    }
}

/// Appends to the page the results of the libraries judged behind the shim, from their stored
/// evidence.
fn libraries(page: &mut String) -> Result<(), Box<dyn Error>> {
    writeln!(
        page,
        "\n## Libraries\n\nRules about the values of decisions, passed by libraries without a server \
         behind [`conformance shim`](docs/guide/shim.md). The evidence is that of `cargo xtask \
         shim-examples --bless`.\n\n| library | rules passed |\n|---|--:|"
    )?;
    for file in evidence::files(evidence::LIBRARIES)? {
        let (mut name, mut results) = (String::new(), RuleResults::new());
        for event in Suite::judge_again(evidence::read(&file)?)? {
            match event {
                Event::RunStarted(started) => {
                    let version = started.target.version.unwrap_or_default();
                    name = format!("{} {version}", started.target.name);
                }
                Event::Judged(judged) => {
                    stored_evidence::note(&mut results, judged.rule, &judged.verdict)
                }
                _ => {}
            }
        }
        let passed = results.values().filter(|results| **results).count();
        writeln!(page, "| {name} | {passed} of {} |", results.len())?;
    }
    Ok(())
}

/// Writes an HTML page with every version side by side, at `target/peers/compatibility.html`.
fn side_by_side(versions: &[String], folder: &Path) -> Result<(), Box<dyn Error>> {
    let page = folder.join("compatibility.html");
    let report = format!("--report=html={}", page.display());
    let evidence = |version: &String| folder.join(format!("opa-v{version}.ndjson"));
    let files = versions.iter().map(evidence);
    let files = files.chain([folder.join("reference.ndjson")]);
    let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
    let first = ["report", report.as_str()];
    let arguments = first.into_iter().chain(files.iter().map(String::as_str));
    program::conformance(&arguments.collect::<Vec<_>>())
}

/// Returns the page: the satisfied rules by section, then the rules whose verdict changes between
/// versions.
fn page(columns: &[(String, RuleResults)]) -> Result<String, Box<dyn Error>> {
    let catalogue = Catalogue::embedded()?;
    let mut page = String::from(
        "# Compatibility\n\nRules passed, of those of each section that could be run; what is not \
         run on a server it does not claim. Written by `cargo xtask matrix --bless`. \
         [`results/opa-releases.md`](results/opa-releases.md) has every release of Open Policy \
         Agent.\n",
    );
    for document in Document::ALL {
        let rules: Vec<&Clause> = catalogue
            .clauses()
            .iter()
            .filter(|clause| clause.level == Level::Rule && clause.document == document)
            .collect();
        let ran = |column: &&(String, RuleResults)| {
            rules.iter().any(|rule| column.1.contains_key(&rule.id))
        };
        let columns: Vec<&(String, RuleResults)> = columns.iter().filter(ran).collect();
        table(&mut page, catalogue.title(document), &rules, &columns)?;
        match document {
            Document::Control => otherwise(&mut page, catalogue)?,
            Document::Engine => changes(&mut page, &rules, &columns)?,
        }
    }
    libraries(&mut page)?;
    Ok(page)
}

fn table(
    page: &mut String,
    title: &str,
    rules: &[&Clause],
    columns: &[&(String, RuleResults)],
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
        let cells = columns.iter().map(|(_, results)| {
            let ran = of.iter().filter_map(|rule| results.get(&rule.id));
            let (mut all, mut passed) = (0, 0);
            for results in ran {
                all += 1;
                passed += usize::from(*results);
            }
            match all {
                0 => "–".to_owned(),
                _ if all == of.len() => passed.to_string(),
                _ => format!("{passed} of {all}"),
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

/// Appends to the page the rules that some versions of OPA satisfy and others violate, each with
/// the versions that satisfy it.
fn changes(
    page: &mut String,
    rules: &[&Clause],
    columns: &[&(String, RuleResults)],
) -> std::fmt::Result {
    let versions: Vec<_> = columns
        .iter()
        .filter(|(name, _)| name.starts_with("OPA "))
        .collect();
    writeln!(page, "\n### What changed between versions of OPA\n")?;
    writeln!(page, "| rule | passed by |\n|---|---|")?;
    for rule in rules {
        let verdicts: Vec<(&str, bool)> = versions
            .iter()
            .map(|(name, results)| {
                (
                    name.as_str(),
                    results.get(&rule.id).copied().unwrap_or_default(),
                )
            })
            .collect();
        let keeping = || {
            verdicts
                .iter()
                .filter(|(_, results)| *results)
                .map(|(name, _)| *name)
        };
        if keeping().next().is_some() && keeping().count() < verdicts.len() {
            writeln!(page, "| {} | {} |", rule.id, span(&verdicts))?;
        }
    }
    Ok(())
}

/// Formats the versions that satisfy a rule: `since 1.3.0`, `until 1.6.0`, or their list.
fn span(verdicts: &[(&str, bool)]) -> String {
    let short = |name: &str| name.trim_start_matches("OPA ").to_owned();
    let first = verdicts
        .iter()
        .position(|(_, passes)| *passes)
        .unwrap_or_default();
    let (before, since) = verdicts.split_at(first);
    if since.iter().all(|(_, passes)| *passes)
        && let Some((name, _)) = since.first()
        && !before.is_empty()
    {
        return format!("since {}", short(name));
    }
    let lasting = verdicts.iter().take_while(|(_, passes)| *passes).count();
    let (passes, after) = verdicts.split_at(lasting);
    if after.iter().all(|(_, passes)| !passes)
        && let Some((name, _)) = passes.last()
    {
        return format!("until {}", short(name));
    }
    let keeping = verdicts.iter().filter(|(_, passes)| *passes);
    let names: Vec<String> = keeping.map(|(name, _)| short(name)).collect();
    names.join(", ")
}

/// Appends to the page the known deviations of OPA Control Plane, from definitions to bundles.
fn otherwise(page: &mut String, catalogue: &Catalogue) -> Result<(), Box<dyn Error>> {
    let ids = catalogue.with_packs().map(|clause| clause.id.as_str());
    let lists = ["ocp", "ocp-opa"].map(|target| KnownList::embedded(target, ids.clone()));
    writeln!(
        page,
        "\n### What OPA Control Plane does otherwise\n\nIts column is evidence of a run, judged \
         again: [`results/`](results/README.md).\n"
    )?;
    writeln!(page, "| rule | what it does |\n|---|---|")?;
    for known in lists {
        let known = known?;
        for clause in catalogue.clauses() {
            let entry = known.deviation(&clause.id).or(known.flaky(&clause.id));
            if let Some(entry) = entry {
                let reason = entry.reason.trim().replace('|', "\\|");
                writeln!(page, "| {} | {reason} |", clause.id)?;
            }
        }
    }
    Ok(())
}
