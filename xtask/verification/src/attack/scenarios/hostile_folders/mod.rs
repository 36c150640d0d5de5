//! Hostile submissions: the commands `submissions` and `site` on folders that no run has written.

mod cases;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::root;
use crate::servers::{Failure, HANG_LIMIT};
use cases::{CASES, Case, PLACES};

/// Path of the accepted submission, below `results/`.
const GOOD: &str = "engine-query/opa/1.22.0";
/// Substring of the message about the accepted submission.
const STANDING: &str = ": engine-query 2026.12: ";
const EVIDENCE: &str = "evidence.ndjson.gz";
/// Content of a file outside of every submission, which must not be disclosed.
const SECRET: &str = "canary-that-is-told-nobody";
/// Limit of a program's resident memory, in MiB.
const MOST: u64 = 1024;
/// Address-space limit of a program, in bytes, so that a leak does not affect the machine.
const SPACE: u64 = 16 << 30;
/// Time limit of the command `site`, which also judges the reference.
const SITE_LIMIT: Duration = Duration::from_secs(600);
/// Number of times that a changing folder is judged.
const CHANGES: usize = 12;

/// Result of a run of a program.
struct RunResult {
    /// Exit status; none if the program was killed at its time limit.
    status: Option<ExitStatus>,
    output: String,
    /// Peak resident memory, in KiB.
    peak: u64,
}

/// Folders of the attack.
struct Folders<'h> {
    harness: &'h Harness,
    /// Folder that the programs must not access.
    outside: PathBuf,
    /// Working directory of the programs, which they must not write to.
    work: PathBuf,
    good: PathBuf,
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let folders = Folders::new(harness)?;
    for case in CASES {
        folders.case(&mut findings, case).await?;
    }
    for (number, name) in PLACES.iter().enumerate() {
        folders.place(&mut findings, number, name).await?;
    }
    folders.changes(&mut findings).await?;
    folders.site(&mut findings).await?;
    Ok(findings)
}

impl<'h> Folders<'h> {
    fn new(harness: &'h Harness) -> Result<Self, Failure> {
        let outside = harness.folder.join("outside");
        let work = harness.folder.join("work");
        fs::create_dir_all(outside.join("folder"))?;
        fs::create_dir_all(&work)?;
        fs::write(outside.join("secret"), SECRET)?;
        let good = harness.folder.join("good").join(GOOD);
        copy(&root().join("results").join(GOOD), &good)?;
        copy(&good, &outside.join(GOOD))?;
        Ok(Self {
            harness,
            outside,
            work,
            good,
        })
    }

    /// Judges a changed submission, followed by an unchanged one.
    async fn case(&self, findings: &mut Findings, case: &Case) -> Result<(), Failure> {
        let previous_count = findings.broken.len();
        let own = self.harness.folder.join("cases").join(case.name);
        let folder = own.join(GOOD);
        copy(&self.good, &folder)?;
        let (changed, outside) = (folder.clone(), self.outside.clone());
        let change = case.change;
        let changed_tree = tokio::task::spawn_blocking(move || change(&changed, &outside));
        match changed_tree.await? {
            // Some accounts may not create devices.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            changed_tree => changed_tree.map_err(|error| format!("{}: {error}", case.name))?,
        }
        let ran = self.judge(&folder).await?;
        self.refused(findings, &ran, &own, case.message)?;
        remove(&own).await?;
        findings.prefix_from(previous_count, case.name);
        Ok(())
    }

    /// Judges a valid submission in a folder with a hostile name.
    async fn place(
        &self,
        findings: &mut Findings,
        number: usize,
        name: &[u8],
    ) -> Result<(), Failure> {
        let previous_count = findings.broken.len();
        let own = self.harness.folder.join(format!("places/{number}"));
        for (above, below) in [
            ("", "opa/1.22.0"),
            ("engine-query", "1.22.0"),
            ("engine-query/opa", ""),
        ] {
            let folder = own.join(above).join(cases::name(name)).join(below);
            copy(&self.good, &folder)?;
            let ran = self.judge(&folder).await?;
            self.refused(findings, &ran, &own, "the folder says ")?;
        }
        remove(&own).await?;
        findings.prefix_from(previous_count, &format!("{:?}", cases::name(name)));
        Ok(())
    }

    async fn judge(&self, folder: &Path) -> Result<RunResult, Failure> {
        let mut command = self.command("submissions");
        command.arg(folder).arg(&self.good);
        run_program(&mut command, &self.harness.folder, HANG_LIMIT).await
    }

    fn command(&self, task: &str) -> Command {
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("verification"));
        let mut command = Command::new(program);
        command.arg(task).current_dir(&self.work);
        command
    }

    /// Checks that the folder was rejected for this reason, and the good one accepted.
    fn refused(
        &self,
        findings: &mut Findings,
        ran: &RunResult,
        own: &Path,
        message: &str,
    ) -> Result<(), Failure> {
        self.sane(findings, ran)?;
        let code = ran.status.and_then(|status| status.code());
        findings.check(format!("the program ends with {code:?}"), code == Some(1));
        let own = own.display().to_string();
        let line = ran.output.lines().find(|line| line.contains(&own));
        let is_reported =
            line.is_some_and(|line| line.starts_with("failed: ") && line.contains(message));
        let excerpt: String = ran.output.chars().take(600).collect();
        findings.check(
            format!("no line with `{message}` in {excerpt}"),
            is_reported,
        );
        let lines = ran.output.lines().count();
        findings.check(format!("{lines} lines: {excerpt}"), lines == 2);
        Ok(())
    }

    /// Checks invariants of every run: it ends, does not panic, judges the good submission, prints
    /// no invisible characters, neither discloses nor changes anything outside, and its memory is
    /// bounded.
    fn sane(&self, findings: &mut Findings, ran: &RunResult) -> Result<(), Failure> {
        findings.check("it does not end", ran.status.is_some());
        let excerpt: String = ran.output.chars().take(600).collect();
        findings.check(
            format!("it panics: {excerpt}"),
            !ran.output.contains("panicked"),
        );
        let good = self.good.display().to_string() + STANDING;
        let judged = ran.output.lines().filter(|line| line.starts_with(&good));
        findings.check(
            format!("the good one is not judged: {excerpt}"),
            judged.count() == 1,
        );
        let hidden = ran.output.chars().find(|c| is_hidden(*c));
        findings.check(format!("it shows {hidden:?}"), hidden.is_none());
        findings.check(
            "it tells a secret",
            !ran.output.contains(SECRET) && !ran.output.contains("root:"),
        );
        findings.check(
            format!("it says {} bytes", ran.output.len()),
            ran.output.len() < 64 << 10,
        );
        self.untouched(findings)?;
        check_memory(findings, ran.peak);
        Ok(())
    }

    /// Checks that nothing was written outside of the submissions.
    fn untouched(&self, findings: &mut Findings) -> io::Result<()> {
        let written: Vec<PathBuf> = fs::read_dir(&self.work)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<_>>()?;
        findings.check(format!("it writes {written:?}"), written.is_empty());
        let secret = fs::read_to_string(self.outside.join("secret"))?;
        let folder = fs::read_dir(self.outside.join("folder"))?.count();
        let count = fs::read_dir(&self.outside)?.count();
        let same = secret == SECRET && folder == 0 && count == 3;
        findings.check("what lies outside is changed", same);
        Ok(())
    }

    /// Judges a folder whose files are changed concurrently.
    async fn changes(&self, findings: &mut Findings) -> Result<(), Failure> {
        let previous_count = findings.broken.len();
        let own = self.harness.folder.join("changes");
        let folder = own.join(GOOD);
        copy(&self.good, &folder)?;
        let done = Arc::new(AtomicBool::new(false));
        let (file, outside) = (folder.join(EVIDENCE), self.outside.join("secret"));
        let changing = std::thread::spawn({
            let done = done.clone();
            move || change_until(&done, &file, &outside)
        });
        for _ in 0..CHANGES {
            let ran = self.judge(&folder).await?;
            self.sane(findings, &ran)?;
            let code = ran.status.and_then(|status| status.code());
            findings.check(
                format!("it ends with {code:?}"),
                matches!(code, Some(0 | 1)),
            );
        }
        done.store(true, Ordering::Relaxed);
        let changed = changing.join().map_err(|_| "the change panicked")?;
        findings.check("nothing was changed", changed? > 0);
        remove(&own).await?;
        findings.prefix_from(previous_count, "changes");
        Ok(())
    }

    /// Builds pages from a tree with hostile and good folders.
    async fn site(&self, findings: &mut Findings) -> Result<(), Failure> {
        let previous_count = findings.broken.len();
        let tree = self.harness.folder.join("tree");
        let (below, good, outside) = (tree.clone(), self.good.clone(), self.outside.clone());
        let changed_tree =
            tokio::task::spawn_blocking(move || cases::tree(&below, &good, &outside));
        let refused = changed_tree.await??;
        let out = self.harness.folder.join("site");
        let mut command = self.command("site");
        command
            .arg("--out")
            .arg(&out)
            .arg("--submissions")
            .arg(&tree);
        let ran = run_program(&mut command, &self.harness.folder, SITE_LIMIT).await?;
        let excerpt: String = ran.output.chars().take(2_000).collect();
        let code = ran.status.and_then(|status| status.code());
        findings.check(
            format!("the program ends with {code:?}: {excerpt}"),
            code == Some(1),
        );
        for name in &refused {
            findings.check(
                format!("{name} is not named: {excerpt}"),
                ran.output.contains(name),
            );
        }
        let hidden = ran.output.chars().find(|c| is_hidden(*c));
        findings.check(format!("it shows {hidden:?}"), hidden.is_none());
        findings.check("it tells a secret", !ran.output.contains(SECRET));
        self.untouched(findings)?;
        check_memory(findings, ran.peak);
        let pages = pages(&out)?;
        let mentions = pages
            .keys()
            .filter(|path| path.starts_with(out.join("acme")));
        findings.check("there is no page about the good one", mentions.count() > 1);
        let is_escaped = pages.values().any(|page| page.contains("&lt;img src=x"));
        findings.check("no page shows the header", is_escaped);
        for (path, page) in &pages {
            let hidden = page.chars().find(|c| is_hidden(*c));
            findings.check(format!("{}: {hidden:?}", path.display()), hidden.is_none());
            let found = ["<img src=x", "<script", SECRET, "evil.example\""];
            let found = found.iter().find(|text| page.contains(**text));
            findings.check(format!("{}: {found:?}", path.display()), found.is_none());
        }
        remove(&tree).await?;
        remove(&out).await?;
        findings.prefix_from(previous_count, "site");
        Ok(())
    }
}

/// Changes a file repeatedly until `done`; returns the number of rounds.
fn change_until(done: &AtomicBool, file: &Path, outside: &Path) -> io::Result<usize> {
    let original = fs::read(file)?;
    let mut rounds = 0;
    while !done.load(Ordering::Relaxed) {
        fs::remove_file(file)?;
        symlink(outside, file)?;
        fs::remove_file(file)?;
        fs::write(file, &original)?;
        let open = File::options().write(true).open(file)?;
        open.set_len(1_000)?;
        open.set_len(1 << 40)?;
        fs::remove_file(file)?;
        fs::write(file, &original)?;
        rounds += 1;
    }
    Ok(rounds)
}

/// Whether a character is invisible, reverses the direction of others or moves the cursor. Line
/// feeds are allowed, and tabs, which indent pages.
fn is_hidden(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn check_memory(findings: &mut Findings, peak: u64) {
    findings.peak = findings.peak.max(peak);
    let peak = peak >> 10;
    findings.check(format!("{peak} MiB of {MOST}"), peak <= MOST);
}

/// Runs a program to completion, or kills it at the time limit.
async fn run_program(
    command: &mut Command,
    folder: &Path,
    limit: Duration,
) -> Result<RunResult, Failure> {
    let (mut child, log) = started(command, folder)?;
    let start = Instant::now();
    let mut peak = 0;
    loop {
        peak = peak.max(highest(&child));
        let status = child.try_wait()?;
        if status.is_some() || start.elapsed() > limit {
            return Ok(ended(child, status, &log, peak)?);
        }
        sleep(Duration::from_millis(5)).await;
    }
}

fn started(command: &mut Command, folder: &Path) -> io::Result<(Child, PathBuf)> {
    let path = folder.join("said");
    let log = File::create(&path)?;
    let child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?;
    let limit = Rlimit {
        current: Some(SPACE),
        maximum: None,
    };
    prlimit(Some(Pid::from_child(&child)), Resource::As, limit)?;
    Ok((child, path))
}

fn ended(
    mut child: Child,
    status: Option<ExitStatus>,
    log: &Path,
    peak: u64,
) -> io::Result<RunResult> {
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    let output = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    Ok(RunResult {
        status,
        output,
        peak,
    })
}

/// Returns the peak resident memory so far, in KiB; 0 if the process has ended.
fn highest(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let size = line.and_then(|line| line.split_whitespace().next());
    size.and_then(|size| size.parse().ok()).unwrap_or_default()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Removes a folder of any depth.
async fn remove(folder: &Path) -> Result<(), Failure> {
    let mut command = tokio::process::Command::new("rm");
    let status = command.arg("-rf").arg(folder).status().await?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{}: cannot be removed", folder.display()).into()),
    }
}

/// Reads all files below a folder as strings.
fn pages(folder: &Path) -> io::Result<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else {
            let text = fs::read(&path)?;
            found.insert(path, String::from_utf8_lossy(&text).into_owned());
        }
    }
    Ok(found)
}

/// Decompresses the evidence in a folder.
fn unpacked(folder: &Path) -> io::Result<String> {
    let mut text = String::new();
    GzDecoder::new(File::open(folder.join(EVIDENCE))?).read_to_string(&mut text)?;
    Ok(text)
}

/// Compresses bytes into the evidence of a folder.
fn pack(folder: &Path, text: &[u8]) -> io::Result<()> {
    let file = File::create(folder.join(EVIDENCE))?;
    let mut packed = GzEncoder::new(file, Compression::fast());
    packed.write_all(text)?;
    packed.finish()?;
    Ok(())
}
