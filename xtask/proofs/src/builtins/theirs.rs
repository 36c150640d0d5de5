//! The side of OPA.

use std::error::Error;
use std::path::{Path, PathBuf};

use rego::Value;
use rego::value::from_json;
use serde_json::json;
use tempfile::TempDir;

use super::Outcome;
use super::call::{Call, answers, query};
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
    /// It cannot be built or does not answer.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        let program = peers::build()?;
        let folder = tempfile::tempdir()?;
        let process = Server::start(&program, peers::SERVE, folder.path())?;
        let client = process.client()?;
        Ok(Self {
            program,
            folder,
            process,
            client,
        })
    }

    /// Its program.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The answers to calls.
    ///
    /// # Errors
    /// OPA cannot be started again behind a panic.
    pub(super) fn ask(&mut self, calls: &[Call]) -> Result<Outcome, Box<dyn Error>> {
        let body = json!({"query": query(calls)}).to_string();
        let request = Client::request("POST", "/v1/query", &body);
        let Ok(status) = self.client.exchange(&request) else {
            self.process = Server::start(&self.program, peers::SERVE, self.folder.path())?;
            self.client = self.process.client()?;
            return Ok(Err("the connection was closed".to_owned()));
        };
        let answer = from_json(self.client.body())?;
        if status != 200 {
            let errors = answer.get("errors").or_else(|| answer.get("message"));
            return Ok(Err(errors.map(ToString::to_string).unwrap_or_default()));
        }
        let result = answer.get("result").and_then(Value::as_array);
        let bindings = result.and_then(|result| result.get(0));
        Ok(bindings
            .map(|bindings| answers(bindings, calls.len()))
            .ok_or_else(|| "undefined".to_owned()))
    }
}
