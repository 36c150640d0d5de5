//! Any text as the configuration of either server: it is used, or refused with a message.

#![no_main]

use std::sync::LazyLock;

use clap::Parser;
use libfuzzer_sys::fuzz_target;
use reference::engine::{Engine, Options};
use tempfile::TempDir;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

fuzz_target!(|text: &str| {
    // A variable of this process's environment is no part of the input.
    if text.contains("${") {
        return;
    }
    let file = FOLDER.path().join("engine.yaml");
    std::fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    let arguments = Arguments::try_parse_from(["fuzz", "--config-file", &file]).unwrap();
    drop(Engine::open(&arguments.options));
});
