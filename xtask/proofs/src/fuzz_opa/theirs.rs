//! The side of OPA.

use std::error::Error;
use std::path::{Path, PathBuf};

use rego::Value;
use rego::value::from_json;
use serde_json::json;
use tempfile::TempDir;

use super::{Outcome, ordered};
use crate::peers;
use crate::servers::{Client, Server};

/// The process and a connection to it.
pub(super) struct Opa {
    program: PathBuf,
    folder: TempDir,
    process: Server,
    client: Client,
}

impl Opa {
    /// Builds and starts it.
    ///
    /// # Errors
    /// When it cannot be built or does not answer.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        let program = peers::build()?;
        let folder = tempfile::tempdir()?;
        let (process, client) = serve(&program, &folder)?;
        Ok(Self {
            program,
            folder,
            process,
            client,
        })
    }

    /// Puts a module; nothing if OPA ends at that.
    ///
    /// # Errors
    /// When OPA cannot be started again.
    pub(super) fn put(&mut self, module: &str) -> Result<Option<Outcome>, Box<dyn Error>> {
        self.answer(&Client::request("PUT", "/v1/policies/m.rego", module))
    }

    /// Asks a query about the last module; nothing if OPA ends at that.
    ///
    /// # Errors
    /// When the input is no JSON, or OPA cannot be started again.
    pub(super) fn ask(
        &mut self,
        query: &str,
        input: &str,
    ) -> Result<Option<Outcome>, Box<dyn Error>> {
        let input: serde_json::Value = serde_json::from_str(input)?;
        let body = json!({"query": query, "input": input}).to_string();
        self.answer(&Client::request("POST", "/v1/query", &body))
    }

    /// The result, or the mistakes, or the message where there is no list of them.
    fn answer(&mut self, request: &[u8]) -> Result<Option<Outcome>, Box<dyn Error>> {
        let Ok(status) = self.client.exchange(request) else {
            // A panic closes the connection, with locks that nobody will open any more.
            (self.process, self.client) = serve(&self.program, &self.folder)?;
            return Ok(None);
        };
        let answer = from_json(self.client.body())?;
        if status == 200 {
            let result = answer.get("result").cloned();
            let result = result.unwrap_or_else(|| Value::from(Vec::new()));
            return Ok(Some(Ok(result.to_string())));
        }
        let Some(errors) = answer.get("errors").and_then(Value::as_array) else {
            return Ok(Some(Err(vec![text(&answer, "message").to_owned()])));
        };
        Ok(Some(Err(ordered(errors.iter().map(mistake).collect()))))
    }
}

/// A process with the base documents, and a connection to it.
fn serve(program: &Path, folder: &TempDir) -> Result<(Server, Client), Box<dyn Error>> {
    // OPA compiles `print` only where it logs.
    let arguments = [peers::SERVE, &["--log-level", "info"]].concat();
    let process = Server::start(program, &arguments, folder.path())?;
    let mut client = process.client()?;
    client.ok("PUT", "/v1/data", rego_generate::documents())?;
    Ok((process, client))
}

fn mistake(error: &Value) -> String {
    let number = |name: &str| {
        let at = error.get("location")?;
        Some(at.get(name)?.to_string())
    };
    let at = match (number("row"), number("col")) {
        (Some(row), Some(col)) => format!("{row}:{col}"),
        _ => "-".to_owned(),
    };
    let details = match error.get("details") {
        Some(details) => format!(" {}", undescribed(details)),
        None => String::new(),
    };
    let message = text(error, "message");
    format!("{} {at} {message}{details}", text(error, "code"))
}

/// The details without the prose about the operands of built-in functions.
fn undescribed(details: &Value) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                members.remove("description");
                members.values_mut().for_each(strip);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut details = serde_json::from_str(&details.to_string()).unwrap_or_default();
    strip(&mut details);
    details
}

fn text<'v>(of: &'v Value, name: &str) -> &'v str {
    of.get(name).and_then(Value::as_str).unwrap_or_default()
}
