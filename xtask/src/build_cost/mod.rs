//! Build cost, measured from scratch in a copy of the sources.

mod copy;
mod cost;

use std::path::Path;

use crate::{Failure, report, root};
use copy::Copy;
use cost::{Cost, measure};

/// What a measurement is held against.
#[derive(Clone, Copy)]
enum Goal {
    /// So many seconds that processors work.
    Processor(f64),
    /// So many seconds that somebody waits.
    Waiting(f64),
}

/// A row of the table.
struct Row {
    what: &'static str,
    cost: Cost,
    goal: Goal,
}

/// The file that changes when a rule does, the file that changes when the engine does, and the
/// rules that are judged then.
const RULE: &str = "conformance/src/rules/engine/v1/data/put.rs";
const HANDLER: &str = "reference/src/engine/v1/data/put.rs";
const JUDGED: &str = "engine/v1/data/put/**";

/// The commands of the README, as far as they build.
const FIRST: &[&str] = &["build", "--package", "conformance", "--bin", "conformance"];
const SECOND: &[&str] = &["test", "--workspace", "--no-run"];

/// Measures and shows the table. How long a machine takes is its own, so a goal that is missed is
/// shown and fails nothing.
///
/// # Errors
/// When something does not build, or a verdict is not that the rules hold.
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
        Goal::Waiting(5.0),
        started,
    );
    copy.forget_builds()?;

    let first = measure(copy.command(FIRST))?;
    row(
        "`cargo conformance` from nothing",
        Goal::Processor(1_000.0),
        first,
    );
    let second = measure(copy.command(SECOND))?;
    row(
        "`cargo test --workspace` after it",
        Goal::Processor(500.0),
        second,
    );

    // What is measured is a change after a change, with everything else in its place.
    let verdict = ["conformance", "run", JUDGED];
    copy.change(RULE)?;
    measure(copy.command(&verdict))?;
    copy.change(RULE)?;
    let rule = measure(copy.command(&verdict))?;
    row(
        "a change of a rule to its verdict",
        Goal::Waiting(15.0),
        rule,
    );
    copy.change(HANDLER)?;
    let handler = measure(copy.command(&verdict))?;
    row(
        "a change of the engine to a verdict",
        Goal::Waiting(20.0),
        handler,
    );

    let release = [
        "build",
        "--release",
        "--package",
        "reference",
        "--package",
        "conformance",
    ];
    let mut released = measure(copy.command(&release))?;
    let installed = folder.join("installed");
    released += measure(copy.command(&install(&installed)?))?;
    let what = "release builds of both, and `cargo install`";
    row(what, Goal::Processor(1_200.0), released);

    show(&rows);
    copy.remove()
}

/// `cargo install --path conformance`, into a folder.
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
            Goal::Processor(most) => (format!("{most:.0} CPU s"), processor <= most),
            Goal::Waiting(most) => (format!("{most:.0} s"), waiting <= most),
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
