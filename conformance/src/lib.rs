//! The conformance suite: every documented rule of the two REST APIs as an executable
//! scenario, judged against any implementation.

pub mod catalogue;
pub mod embedded_files;
pub mod evidence;
pub mod openapi;
pub mod rules;
pub mod scenario;
pub mod target;
pub mod verdict;
