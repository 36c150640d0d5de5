//! Examples of `conformance client`: published clients, tested through adapters.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use conformance::evidence::Event;
use conformance::verdict::Verdict;

use crate::command::complete;
use crate::{evidence, examples, lock_files, report, root};

/// Page that contains the table.
pub(crate) const PAGE: &str = "COMPATIBILITY.md";

/// Folder of the adapters, each in a folder of its language.
const FOLDER: &str = "examples/client";

/// Folder of the lists of known deviations, named after the clients.
const KNOWN: &str = "examples/client/known";

/// Heading of the section about clients, which is the last section of the compatibility page.
const TITLE: &str = "\n## Clients\n";

/// Folder of the installed clients, and of the output of the runs.
const BUILT: &str = "target/client-examples";

type Install = fn(source: &Path, built: &Path) -> Result<(), Box<dyn Error>>;

/// Adapters of one language.
struct Example {
    language: &'static str,
    /// Installs the clients of the language; `built` is a separate folder for them.
    install: Install,
    /// Returns the command that starts an adapter.
    start: fn(source: &Path, built: &Path) -> Command,
    /// For each client its name, its title with the version in the lock file, and the arguments of
    /// its adapter.
    clients: &'static [(&'static str, &'static str, &'static [&'static str])],
}

const EXAMPLES: &[Example] = &[
    Example {
        language: "javascript",
        install: lock_files::npm,
        start: |_, built| {
            let mut command = Command::new("node");
            command.current_dir(built);
            command
        },
        clients: &[
            (
                "opa",
                "@open-policy-agent/opa 2.0.0",
                &["adapter.mjs", "@open-policy-agent/opa"],
            ),
            (
                "styra-opa",
                "@styra/opa 1.7.10",
                &["adapter.mjs", "@styra/opa"],
            ),
            ("fetch", "plain `fetch`", &["fetch.mjs"]),
        ],
    },
    Example {
        language: "python",
        install: |source, built| lock_files::python(&source.join("requirements.txt"), built),
        start: |source, built| {
            let mut command = Command::new(built.join("bin/python"));
            // `-B` writes no bytecode next to the adapters.
            command.current_dir(source).arg("-B");
            command
        },
        clients: &[
            (
                "opa-python-client",
                "opa-python-client 3.0.0",
                &["opa_python_client.py"],
            ),
            ("opa-python", "opa-python 0.0.9", &["opa_python.py"]),
        ],
    },
    Example {
        language: "java",
        install: java,
        start: |source, built| {
            let mut command = Command::new("java");
            command.current_dir(source).arg("-cp").arg(jars(built));
            command
        },
        clients: &[
            ("opa-java-client", "opa-java-client 0.4.4", &["Bisnode"]),
            (
                "opa-async-java-client",
                "opa-async-java-client 0.5.1",
                &["Contentgrid"],
            ),
        ],
    },
    Example {
        language: "go",
        install: |source, built| {
            lock_files::programs(&[("go", "golang-go")])?;
            let mut command = Command::new("go");
            command.current_dir(source).args(["build", "-o"]);
            complete(command.arg(built.join("adapter")))
        },
        start: |_, built| Command::new(built.join("adapter")),
        clients: &[("net-http", "plain `net/http`", &[])],
    },
];

/// Builds the program, installs every client from its registry, and judges it. The compatibility
/// page must contain the results; with `bless` the page is updated, and the evidence is stored in
/// `results/`.
///
/// # Errors
/// When a client is not available, or does not match its list of known deviations, after all others
/// are judged; or when the page contains other results.
pub(crate) fn run(bless: bool) -> Result<(), Box<dyn Error>> {
    examples::try_all(FOLDER, EXAMPLES, |one| one.language, Example::run)?;
    if bless {
        for (name, ..) in EXAMPLES.iter().flat_map(|one| one.clients) {
            evidence::keep(&seen(name), &evidence::file(evidence::CLIENTS, name))?;
        }
    }
    let table = table()?;
    let page = fs::read_to_string(root().join(PAGE))?;
    if part(&page) == table {
        return Ok(());
    }
    if !bless {
        return Err(format!("{PAGE} says otherwise of clients; `--bless` writes it").into());
    }
    let others = page.strip_suffix(part(&page)).unwrap_or(&page);
    Ok(fs::write(root().join(PAGE), format!("{others}{table}"))?)
}

/// Returns the section about clients of the compatibility page: everything from its heading on.
pub(crate) fn part(page: &str) -> &str {
    let begin = page.find(TITLE).unwrap_or(page.len());
    page.get(begin..).unwrap_or_default()
}

/// Returns the table of satisfied and claimed rules of each client, from the evidence of the runs.
fn table() -> Result<String, Box<dyn Error>> {
    let mut table = format!(
        "{TITLE}\nRules for clients kept, of those that the client claims. Written by `cargo xtask \
         client-examples --bless`; what they do otherwise is listed below \
         [`{KNOWN}`]({KNOWN}).\n\n| client | language | engine | control plane |\n|---|---|--:|--:|\n"
    );
    for example in EXAMPLES {
        for (name, title, _) in example.clients {
            let (engine, control) = outcome(name)?;
            let language = example.language;
            writeln!(table, "| {title} | {language} | {engine} | {control} |")?;
        }
    }
    Ok(table)
}

/// Returns the path of the evidence of a client's run.
fn seen(name: &str) -> PathBuf {
    root().join(BUILT).join(format!("{name}.ndjson"))
}

/// Returns the number of satisfied rules of a client for each API.
fn outcome(name: &str) -> Result<(String, String), Box<dyn Error>> {
    let evidence = fs::read_to_string(seen(name))?;
    let (mut engine, mut control) = ((0, 0), (0, 0));
    for line in evidence.lines() {
        if let Event::Judged(judged) = serde_json::from_str(line)? {
            let (passed, of) = match judged.rule.starts_with("client/engine/") {
                true => &mut engine,
                false => &mut control,
            };
            let passes = judged.verdict == Verdict::Pass;
            *passed += usize::from(passes);
            *of += usize::from(passes || matches!(judged.verdict, Verdict::Fail(_)));
        }
    }
    let share = |(passed, of)| match of {
        0 => "–".to_owned(),
        of => format!("{passed} of {of}"),
    };
    Ok((share(engine), share(control)))
}

impl Example {
    /// Judges the clients of the language concurrently, since they mostly wait.
    fn run(&self, program: &Path) -> Result<(), Box<dyn Error>> {
        let source = root().join(FOLDER).join(self.language);
        let built = root().join(BUILT).join(self.language);
        fs::create_dir_all(&built)?;
        (self.install)(&source, &built)?;
        let wrong: Vec<String> = thread::scope(|scope| {
            let judged = self.clients.iter().map(|(name, title, adapter)| {
                let mut start = (self.start)(&source, &built);
                start.args(*adapter);
                (
                    name,
                    scope.spawn(move || judge(program, (name, title), &start)),
                )
            });
            // Starts all of them before the first join.
            let judged: Vec<_> = judged.collect();
            let ended = judged.into_iter().filter_map(|(name, judged)| {
                let reason = match judged.join() {
                    Ok(ended) => ended.err()?,
                    Err(_) => "the check itself failed".to_owned(),
                };
                Some(format!("{name}: {reason}"))
            });
            ended.collect()
        });
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("\n").into()),
        }
    }
}

/// Judges a client through its adapter, with its list of known deviations.
fn judge(program: &Path, (name, title): (&str, &str), adapter: &Command) -> Result<(), String> {
    let file = |ending: &str| root().join(BUILT).join(format!("{name}.{ending}"));
    let log = File::create(file("log")).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["client", "--name", title]);
    command.arg(format!("--report=ndjson={}", seen(name).display()));
    let known = root().join(KNOWN).join(format!("{name}.toml"));
    if known.is_file() {
        command.arg("--known-failing").arg(known);
    }
    command.arg("--").arg(adapter.get_program());
    command.args(adapter.get_args());
    if let Some(folder) = adapter.get_current_dir() {
        command.current_dir(folder);
    }
    command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(log);
    let ended = complete(&mut command).map_err(|error| error.to_string());
    let log_text = fs::read_to_string(file("log")).map_err(|error| error.to_string())?;
    let lines = |prefix: &str| {
        let lines = log_text.lines().filter(|line| line.starts_with(prefix));
        lines.collect::<Vec<_>>().join("; ")
    };
    report(name, &lines("proven"));
    ended.map_err(|error| format!("{error}, {}:\n{log_text}", file("log").display()))
}

/// Compiles the adapters with the clients' libraries.
fn java(source: &Path, built: &Path) -> Result<(), Box<dyn Error>> {
    lock_files::maven(&source.join("pom.xml"), &built.join("jars"))?;
    let adapters = fs::read_dir(source)?.map(|file| Ok(file?.path()));
    let adapters: Vec<PathBuf> = adapters.collect::<std::io::Result<_>>()?;
    let is_java = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "java");
    let mut command = Command::new("javac");
    command.arg("-d").arg(built.join("classes"));
    command.arg("-cp").arg(jars(built));
    complete(command.args(adapters.iter().filter(is_java)))
}

/// Returns the class path of the libraries and adapters.
fn jars(built: &Path) -> String {
    let built = built.display();
    format!("{built}/jars/*:{built}/classes")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::error::Error;
    use std::fs;

    use super::{EXAMPLES, FOLDER, KNOWN};
    use crate::{examples, root};

    /// Maximum distance of a client's version from its name in a lock file, in bytes.
    const VERSION_WITHIN: usize = 60;

    /// Every folder of adapters must be tested, and every list of known deviations must be used.
    #[test]
    fn every_folder_is_judged() -> Result<(), Box<dyn Error>> {
        let mut folders = examples::folders(FOLDER)?;
        assert!(folders.remove("known"), "the lists of all of them");
        let judged: BTreeSet<String> = EXAMPLES.iter().map(|one| one.language.to_owned()).collect();
        assert_eq!(judged, folders);
        let clients = EXAMPLES.iter().flat_map(|one| one.clients);
        let clients: BTreeSet<String> =
            clients.map(|(name, _, _)| format!("{name}.toml")).collect();
        for list in fs::read_dir(root().join(KNOWN))? {
            let list = list?.file_name().to_string_lossy().into_owned();
            assert!(clients.contains(&list), "{list}");
        }
        Ok(())
    }

    /// The titles in the table must contain the versions of the lock files.
    #[test]
    fn versions_are_those_of_the_lock_files() -> Result<(), Box<dyn Error>> {
        for one in EXAMPLES {
            let locks = match one.language {
                "javascript" => vec!["package-lock.json"],
                // The first one is installed on top of the second.
                "python" => vec![
                    "requirements.txt",
                    "../../../xtask/verification/clients/python/requirements.txt",
                ],
                "java" => vec!["pom.xml"],
                _ => continue,
            };
            let mut lock = String::new();
            for file in locks {
                let file = root().join(FOLDER).join(one.language).join(file);
                lock += &fs::read_to_string(file)?.to_lowercase();
            }
            for (_, title, _) in one.clients {
                // A client that is part of the language has no version.
                let Some((name, version)) = title
                    .split_once(' ')
                    .filter(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()))
                else {
                    continue;
                };
                let locked = ["\"", "</", "=="].iter().any(|end| {
                    let named = format!("{name}{end}");
                    let rest_of_lock = lock.split(&named).skip(1);
                    let mut near = rest_of_lock.filter_map(|rest| rest.get(..VERSION_WITHIN));
                    near.any(|rest| rest.contains(version))
                });
                assert!(locked, "{title} is not what the lock file has");
            }
        }
        Ok(())
    }
}
