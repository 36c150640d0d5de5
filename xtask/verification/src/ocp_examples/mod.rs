//! Comparison with OPA Control Plane: runs its end-to-end examples on our control plane, and
//! compares the names of the files in each bundle.
//!
//! The examples are read from a checkout of the repository of OPA Control Plane. The file
//! `xtask/verification/ocp-examples.toml` contains its results: names of bundles and of their
//! files.

mod endpoint;
mod environment;
mod expected;
mod script;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use self::environment::{Environment, Program};
use self::expected::Expected;
use self::script::Example;
use crate::{report, root};

/// File with the results of OPA Control Plane.
const EXPECTED: &str = "xtask/verification/ocp-examples.toml";

/// Sorted file names in each bundle, by the path of the bundle.
type Bundles = BTreeMap<String, Vec<String>>;

/// Command-line options of `ocp-examples`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A checkout of the repository of OPA Control Plane
    source: PathBuf,
    /// Only the examples whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The reference's program, instead of one that is built
    #[arg(long, value_name = "FILE", conflicts_with = "opactl")]
    program: Option<PathBuf>,
    /// Play the examples on this program of OPA Control Plane
    #[arg(long, value_name = "FILE")]
    opactl: Option<PathBuf>,
    /// Write what OPA Control Plane makes of them, instead of comparing
    #[arg(long, requires = "opactl", conflicts_with = "only")]
    bless: bool,
}

/// Runs the examples and compares the files in their bundles with the expected ones.
///
/// # Errors
/// When an example cannot be parsed, or its bundles differ from the expected ones without a reason.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let source = options.source.canonicalize()?;
    let file = root().join(EXPECTED);
    let mut expected = Expected::read(&fs::read_to_string(&file)?)?;
    let examples = examples(&source.join("e2e/cli"))?;
    let program = match (&options.opactl, &options.program) {
        (Some(opactl), _) => Program::Opactl(opactl.canonicalize()?),
        (None, Some(program)) => Program::Reference(program.canonicalize()?),
        (None, None) => Program::Reference(crate::bundles::program()?),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let stage = runtime.block_on(Environment::new(program, source.join("libraries")))?;
    let mut wrong = Vec::new();
    let (mut same, mut executed) = (0, 0);
    for example in &examples {
        let only = options.only.as_ref();
        if only.is_some_and(|only| !example.name.contains(only.as_str())) {
            continue;
        }
        let folder = tempfile::Builder::new().prefix("example-").tempdir()?;
        let built = runtime.block_on(stage.build(example, &folder.path().canonicalize()?));
        let built = built.map_err(|error| format!("{}: {error}", example.name))?;
        executed += 1;
        if options.bless {
            report(&example.name, &format!("{} bundles", built.bundles.len()));
            expected.set(&example.name, built.bundles);
            continue;
        }
        let by_reference = options.opactl.is_none();
        let verdict = expected.judge(&example.name, &built.bundles, by_reference);
        same += usize::from(verdict.is_same);
        report(&example.name, &verdict.message);
        if !verdict.holds {
            wrong.push(format!(
                "{}: {}\n{}",
                example.name, verdict.message, built.failures
            ));
        }
    }
    if options.bless {
        expected.keep(examples.iter().map(|example| example.name.as_str()));
        fs::write(&file, expected.text())?;
        return Ok(());
    }
    report("the same files", &format!("{same} of {executed} examples"));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

/// Returns the examples in a folder, sorted by name.
fn examples(folder: &Path) -> Result<Vec<Example>, Box<dyn Error>> {
    let mut examples = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "txtar") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            examples.push(Example::read(&name, &fs::read_to_string(&path)?)?);
        }
    }
    if examples.is_empty() {
        return Err(format!("{} has no examples", folder.display()).into());
    }
    examples.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(examples)
}
