//! OPA, restarted whenever a request makes it panic.

use std::error::Error;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Client, Server};
use crate::real_opa;

/// Option that limits the address space of OPA's process: the value of a short call can use all
/// memory of the machine.
const MEMORY: &str = "--as=8589934592";

/// Process of OPA and a connection to it.
#[derive(Debug)]
pub(crate) struct RestartingOpa {
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Base documents that each process is started with.
    documents: Option<&'static str>,
    folder: TempDir,
    process: Server,
    client: Client,
}

impl RestartingOpa {
    /// Builds and starts OPA with additional arguments and base documents.
    ///
    /// # Errors
    /// When OPA cannot be built or does not respond.
    pub(crate) fn start(
        arguments: &'static [&'static str],
        documents: Option<&'static str>,
    ) -> Result<Self, Box<dyn Error>> {
        let program = real_opa::build()?;
        let folder = tempfile::tempdir()?;
        let (process, client) = serve(&program, arguments, documents, &folder)?;
        Ok(Self {
            program,
            arguments,
            documents,
            folder,
            process,
            client,
        })
    }

    /// Returns the path of the program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Sends a request and reads the whole response. Returns its status, or none if OPA panics,
    /// which closes the connection and leaves its locks locked.
    ///
    /// # Errors
    /// When OPA cannot be restarted.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<Option<u16>, Box<dyn Error>> {
        if let Ok(status) = self.client.exchange(request) {
            return Ok(Some(status));
        }
        let (arguments, documents) = (self.arguments, self.documents);
        (self.process, self.client) = serve(&self.program, arguments, documents, &self.folder)?;
        Ok(None)
    }

    /// Returns the body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        self.client.body()
    }
}

fn serve(
    program: &Path,
    arguments: &[&str],
    documents: Option<&str>,
    folder: &TempDir,
) -> Result<(Server, Client), Box<dyn Error>> {
    let bounded = [MEMORY, &program.to_string_lossy()];
    let arguments = [&bounded, real_opa::SERVE, arguments].concat();
    let process = Server::start(Path::new("prlimit"), &arguments, folder.path())?;
    let mut client = process.client()?;
    if let Some(documents) = documents {
        client.ok("PUT", "/v1/data", documents)?;
    }
    Ok((process, client))
}
