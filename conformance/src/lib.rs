//! The conformance suite: every documented rule of the two REST APIs as an executable
//! scenario, judged against any implementation.

pub mod catalogue;
pub mod cli;
pub mod coverage;
pub mod embedded_files;
pub mod evidence;
pub mod known;
pub mod openapi;
pub mod pattern;
pub mod redact;
pub mod report;
pub mod rules;
pub mod scenario;
pub mod target;
pub mod verdict;
