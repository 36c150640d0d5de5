//! The server's log: what it shows, and in which form.

use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;

/// The log that the command line asks for.
#[derive(Debug, Clone, Args)]
pub struct LogOptions {
    /// What the log shows
    #[arg(short = 'l', long, value_enum, default_value = "info")]
    pub log_level: LogLevel,
    /// The form of the log
    #[arg(long, value_enum, default_value = "json")]
    pub log_format: LogFormat,
}

/// The least important events that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Requests, warnings and errors.
    Info,
    /// Errors only.
    Error,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

impl LogOptions {
    /// Writes the log of this process to standard error from now on.
    pub fn install(&self) {
        let level = match self.log_level {
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Error => LevelFilter::ERROR,
        };
        let log = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_target(false)
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr);
        match self.log_format {
            LogFormat::Text => log.init(),
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
    }
}
