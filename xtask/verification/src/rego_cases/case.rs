//! Language cases of OPA: modules, documents, a query and the expected result.

use std::error::Error;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::thread;

use rego::host::{Cancellation, Host, HostError};
use rego::value::{Object, Set, from_yaml};
use rego::{Compiler, Evaluation, Module, Policy, Query, Value, Version};

/// Stack size for deeply nested cases, in bytes; the default of threads is too small.
const STACK: usize = 64 << 20;

/// One case of a file, with its fields.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// Folder of the case, prefixed with the version if it is not the current one: `v0/else`.
    pub(super) folder: String,
    /// Language version of the case's modules.
    version: Version,
    fields: Value,
}

/// Parses every case of a language version, sorted by file name.
pub(super) fn all(root: &Path, version: Version) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for folder in sorted(&root.join(format!("v{}", version.number())))? {
        for file in sorted(&folder)? {
            let text = fs::read(&file)?;
            let document =
                from_yaml(&text).map_err(|error| format!("{}: {error}", file.display()))?;
            let listed = document.get("cases").and_then(Value::as_array);
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let name = match version {
                Version::V0 => format!("v0/{name}"),
                Version::V1 => name.into_owned(),
            };
            cases.extend(listed.into_iter().flatten().map(|fields| Case {
                folder: name.clone(),
                version,
                fields: fields.clone(),
            }));
        }
    }
    Ok(cases)
}

fn sorted(folder: &Path) -> Result<Vec<std::path::PathBuf>, Box<dyn Error>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths)
}

impl Case {
    /// Returns the id of the case: its folder and its note, which is unique.
    pub(super) fn id(&self) -> String {
        let note = self.text("note").unwrap_or_default();
        let folder = self.folder.rsplit('/').next();
        match note.split_once('/') {
            Some((first, rest)) if Some(first) == folder => format!("{}/{rest}", self.folder),
            _ => format!("{}/{note}", self.folder),
        }
    }

    /// Runs the case; returns a message about the mismatch, if there is one.
    pub(super) fn run(&self) -> Option<String> {
        let case = self.clone();
        let thread = thread::Builder::new().stack_size(STACK);
        let outcome = thread.spawn(move || case.judge());
        match outcome.map(thread::JoinHandle::join) {
            Ok(Ok(judged)) => judged.err(),
            Ok(Err(_)) => Some("panicked".to_owned()),
            Err(failure) => Some(failure.to_string()),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    fn flag(&self, name: &str) -> bool {
        self.fields.get(name) == Some(&Value::Bool(true))
    }

    /// Compares the outcome with the expected one; compares the error message first, as it is the
    /// most precise.
    fn judge(&self) -> Result<(), String> {
        let outcome = self.answers();
        if let Some(text) = self.text("want_error") {
            return match &outcome {
                Err((_, message)) if message.contains(text) => Ok(()),
                other => Err(format!(
                    "wanted an error with {text:?}, got {}",
                    format_outcome(other)
                )),
            };
        }
        if let Some(code) = self.text("want_error_code") {
            return match &outcome {
                Err((got, _)) if got == code => Ok(()),
                other => Err(format!("wanted {code}, got {}", format_outcome(other))),
            };
        }
        let answers = match &outcome {
            Ok(answers) => answers,
            Err(_) => return Err(format_outcome(&outcome)),
        };
        if let Some(expected) = self.fields.get("want_result") {
            let expected = expected.as_array().into_iter().flatten().cloned().collect();
            return match *answers == expected {
                true => Ok(()),
                false => Err(format!(
                    "wanted {}, got {}",
                    Value::from(expected),
                    format_outcome(&outcome)
                )),
            };
        }
        match self.fields.get("want_defined") {
            Some(Value::Bool(expected)) if *expected == answers.is_empty() => Err(format!(
                "wanted defined = {expected}, got {}",
                format_outcome(&outcome)
            )),
            _ => Ok(()),
        }
    }

    /// Evaluates the query; returns each result as an object of its bindings, or the code and
    /// message of the error.
    fn answers(&self) -> Result<Set, (String, String)> {
        let modules = self.fields.get("modules").and_then(Value::as_array);
        let mut compiler = Compiler::new(&Policy::default());
        for (at, text) in modules.into_iter().flatten().enumerate() {
            let id = format!("test-{at}.rego");
            let text = text.as_str().unwrap_or_default();
            let module = Module::parse_as(&id, text, self.version).map_err(refused)?;
            compiler = compiler.put(&id, module);
        }
        let policy = compiler.compile().map_err(refused)?;
        let documents = self.fields.get("data").cloned();
        let documents = documents.unwrap_or_else(|| Value::from(Object::new()));
        let input = match self.text("input_term") {
            Some(term) => Some(constant(term)?),
            None => self.fields.get("input").cloned(),
        };
        let query = self.text("query").unwrap_or_default();
        let query = Query::parse(&policy, query, &Default::default()).map_err(refused)?;
        let mut evaluation = Evaluation::new(&documents);
        evaluation.host = Some(&Names);
        evaluation.input = input;
        evaluation.strict = self.flag("strict_error");
        let answers = query.evaluate(&mut evaluation).map_err(failed)?;
        Ok(answers.iter().map(|answer| self.bindings(answer)).collect())
    }

    fn bindings(&self, answer: &rego::Solution) -> Value {
        Value::object(answer.bindings().iter().map(|(name, value)| {
            let converted = plain(value);
            let sorted = match converted.as_array() {
                Some(items) if self.flag("sort_bindings") => {
                    let mut items = items.to_vec();
                    items.sort();
                    Value::from(items)
                }
                _ => converted,
            };
            (name.clone(), sorted)
        }))
    }
}

/// Host that resolves the domain names that the cases use.
#[derive(Debug)]
struct Names;

impl Host for Names {
    fn addresses(&self, name: &str, _: Cancellation<'_>) -> Result<Vec<IpAddr>, HostError> {
        match name {
            "localhost" => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            _ => Err(HostError::NoSuchHost),
        }
    }
}

/// Evaluates a constant term.
fn constant(term: &str) -> Result<Value, (String, String)> {
    let policy = Policy::default();
    let query =
        Query::parse(&policy, &format!("x = {term}"), &Default::default()).map_err(refused)?;
    let documents = Value::from(Object::new());
    let answers = query
        .evaluate(&mut Evaluation::new(&documents))
        .map_err(failed)?;
    let value = answers
        .first()
        .and_then(|answer| answer.bindings().first().map(|(_, value)| value.clone()));
    value.ok_or_else(|| (String::new(), format!("`{term}` is undefined")))
}

/// Converts a value to JSON types: sets to arrays, keys to strings.
fn plain(value: &Value) -> Value {
    let text = value.to_string();
    rego::value::from_json(text.as_bytes()).unwrap_or_else(|_| value.clone())
}

fn refused(errors: rego::Errors) -> (String, String) {
    let code = errors.0.first().map(|error| error.code.as_str().to_owned());
    (code.unwrap_or_default(), errors.to_string())
}

fn failed(error: rego::EvalError) -> (String, String) {
    (error.code.as_str().to_owned(), error.to_string())
}

fn format_outcome(outcome: &Result<Set, (String, String)>) -> String {
    match outcome {
        Ok(answers) => Value::from(answers.clone()).to_string(),
        Err((_, text)) => text.clone(),
    }
}
