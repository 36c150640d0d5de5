//! Reads any text as the configuration of either server: it is used, or refused with a message.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Parser;
use libfuzzer_sys::fuzz_target;
use reference::http::ServeOptions;
use reference::{control, engine};
use tempfile::TempDir;
use tokio::runtime::Runtime;

#[derive(Debug, Parser)]
struct OfEngine {
    #[command(flatten)]
    options: engine::Options,
    /// Some options of the engine need those of the server beside them.
    #[command(flatten)]
    _serve: ServeOptions,
}

#[derive(Debug, Parser)]
struct OfControl {
    #[command(flatten)]
    options: control::Options,
}

struct Environment {
    folder: TempDir,
    runtime: Runtime,
}

impl Environment {
    fn file(&self) -> PathBuf {
        self.folder.path().join("configuration.yaml")
    }
}

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| Environment {
    folder: tempfile::tempdir().unwrap(),
    runtime: Runtime::new().unwrap(),
});

fuzz_target!(|text: &str| {
    // A variable of this process's environment is no part of the input.
    if text.contains("${") {
        return;
    }
    std::fs::write(ENVIRONMENT.file(), text).unwrap();
    let file = ENVIRONMENT.file().display().to_string();
    let arguments = OfEngine::try_parse_from(["fuzz", "--config-file", &file]).unwrap();
    drop(engine::Engine::open(&arguments.options));
    let folder = ENVIRONMENT.folder.path().display().to_string();
    let arguments = OfControl::try_parse_from([
        "fuzz",
        "--config",
        &file,
        "--database",
        "sqlite::memory:",
        "--bundle-root",
        &folder,
        "--source-root",
        &folder,
        "--allow-host",
        "h",
    ]);
    let options = arguments.unwrap().options;
    drop(ENVIRONMENT.runtime.block_on(control::open(&options)));
});
