//! Build cost, measured from scratch in a copy of the sources.

mod copy;
mod cost;

use std::path::Path;

use crate::{Failure, report, root};
use copy::Copy;
use cost::{Cost, measure};

/// Limit that a measurement is compared with.
#[derive(Clone, Copy)]
enum CostLimit {
    /// Maximum CPU time, in seconds.
    Processor(f64),
    /// Maximum wall-clock time, in seconds.
    Waiting(f64),
}

/// Row of the table of build costs.
struct Row {
    what: &'static str,
    cost: Cost,
    goal: CostLimit,
}

/// Source file of some rules, source file of the handler that they judge, and these rules, which
/// are judged after a change of each file.
const RULE: &str = "conformance/src/rules/engine/v1/data/put.rs";
const HANDLER: &str = "reference/engine/src/v1/data/put.rs";
const JUDGED: &str = "engine/v1/data/put/**";

/// Builds of the programs that the two commands of the README run.
const FIRST: &[&str] = &[
    "build",
    "--package",
    "opa-conformance",
    "--bin",
    "conformance",
];
const SECOND: &[&str] = &["test", "--workspace", "--no-run"];

/// Measures build costs and prints the table. Times depend on the machine, so a missed goal is
/// reported without failing.
///
/// # Errors
/// When something does not build, or when a rule does not pass.
pub(crate) fn run() -> Result<(), Failure> {
    let folder = root().join("target/build-cost");
    let copy = Copy::make(&root(), &folder)?;
    copy.cargo(&["fetch", "--locked"])?;
    let mut rows = Vec::new();
    let mut row = |what, goal, cost| {
        let row = Row { what, cost, goal };
        report("measured", &row.line());
        rows.push(row);
    };

    let started = measure(copy.command(&["xtask", "fmt", "--help"]))?;
    row(
        "`cargo xtask fmt` from nothing to its start",
        CostLimit::Waiting(5.0),
        started,
    );
    copy.forget_builds()?;

    let first = measure(copy.command(FIRST))?;
    row(
        "`cargo conformance` from nothing",
        CostLimit::Processor(1_000.0),
        first,
    );
    let second = measure(copy.command(SECOND))?;
    row(
        "`cargo test --workspace` after it",
        CostLimit::Processor(500.0),
        second,
    );

    // Measures a second change, so that everything else is already built.
    let verdict = ["conformance", "run", JUDGED];
    copy.change(RULE)?;
    measure(copy.command(&verdict))?;
    copy.change(RULE)?;
    let rule = measure(copy.command(&verdict))?;
    row(
        "a change of a rule to its verdict",
        CostLimit::Waiting(15.0),
        rule,
    );
    copy.change(HANDLER)?;
    let handler = measure(copy.command(&verdict))?;
    row(
        "a change of the engine to a verdict",
        CostLimit::Waiting(20.0),
        handler,
    );

    let release = [
        "build",
        "--release",
        "--package",
        "opa-reference",
        "--package",
        "opa-conformance",
    ];
    let mut released = measure(copy.command(&release))?;
    let installed = folder.join("installed");
    released += measure(copy.command(&install(&installed)?))?;
    let what = "release builds of both, and `cargo install`";
    row(what, CostLimit::Processor(1_200.0), released);

    show(&rows);
    copy.remove()
}

/// Returns the arguments of `cargo install --path conformance` into a folder.
fn install(folder: &Path) -> Result<[&str; 6], Failure> {
    let folder = folder
        .to_str()
        .ok_or("invalid path of the folder: expected UTF-8")?;
    Ok([
        "install",
        "--locked",
        "--path",
        "conformance",
        "--root",
        folder,
    ])
}

impl Row {
    fn line(&self) -> String {
        let Cost { processor, waiting } = self.cost;
        let (goal, is_met) = match self.goal {
            CostLimit::Processor(most) => (format!("{most:.0} CPU s"), processor <= most),
            CostLimit::Waiting(most) => (format!("{most:.0} s"), waiting <= most),
        };
        let missed = if is_met { "" } else { ", missed" };
        format!(
            "| {:<43} | {processor:>7.1} | {waiting:>7.1} | at most {goal}{missed} |",
            self.what
        )
    }
}

fn show(rows: &[Row]) {
    let mut table = format!(
        "\n| {:<43} | {:>7} | {:>7} | goal |\n",
        "what", "CPU s", "s"
    );
    table += "|---|--:|--:|---|";
    for row in rows {
        table += "\n";
        table += &row.line();
    }
    report("cost of building", &table);
}
