//! Embedded reference servers of the mock.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::Options;
use crate::faults::Recipient;
use crate::http_client::Base;
use crate::target::embedded::{self, Running};

/// Running servers; dropping them stops them without waiting for open requests.
#[derive(Debug)]
pub(super) struct Servers {
    engine: Server,
    control: Option<Server>,
}

#[derive(Debug)]
struct Server {
    base: Base,
    /// The server and its data folder, which exist as long as this value.
    _held: (Running, Option<TempDir>),
}

impl Servers {
    /// Starts the servers.
    ///
    /// # Errors
    /// A message if an option cannot be used.
    pub(super) async fn start(options: &Options) -> Result<Self, String> {
        let engine = engine(options).await?;
        let control = match options.control_port {
            Some(_) => Some(control(options).await?),
            None => None,
        };
        Ok(Self { engine, control })
    }

    /// Returns the address of an API's server; none if the API is not served.
    pub(super) fn base(&self, api: Recipient) -> Option<&Base> {
        match api {
            Recipient::Engine => Some(&self.engine.base),
            Recipient::Control => self.control.as_ref().map(|server| &server.base),
            Recipient::Mock => None,
        }
    }
}

async fn engine(options: &Options) -> Result<Server, String> {
    let fixed = ["engine", "--addr=127.0.0.1:0"].map(str::to_owned);
    start(
        fixed.into_iter().chain(options.engine.iter().cloned()),
        None,
    )
    .await
}

async fn control(options: &Options) -> Result<Server, String> {
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?;
    let place = folder.path();
    write_tokens(place, &options.control_token)
        .map_err(|error| format!("{}: {error}", place.display()))?;
    let place = place.display();
    let fixed = [
        "control".to_owned(),
        "--addr=127.0.0.1:0".to_owned(),
        format!("--config={place}/tokens.yaml"),
        "--database=sqlite::memory:".to_owned(),
        format!("--bundle-root={place}/bundles"),
        format!("--data-dir={place}/work"),
    ];
    let args = fixed.into_iter().chain(options.control.iter().cloned());
    start(args, Some(folder)).await
}

fn write_tokens(folder: &Path, token: &str) -> io::Result<()> {
    fs::create_dir(folder.join("bundles"))?;
    fs::create_dir(folder.join("work"))?;
    let scopes = json!([{"role": "administrator"}]);
    let tokens = json!({"tokens": {"administrator": {"api_key": token, "scopes": scopes}}});
    // JSON is YAML.
    fs::write(folder.join("tokens.yaml"), tokens.to_string())
}

async fn start(
    args: impl Iterator<Item = String>,
    folder: Option<TempDir>,
) -> Result<Server, String> {
    let (running, address) = embedded::start(args.collect()).await?;
    Ok(Server {
        base: Base::parse(&format!("http://{address}"))?,
        _held: (running, folder),
    })
}
