//! Embedded files: clauses, API documents, snapshots, faults, variants, targets, known deviations
//! and rules for clients.
//!
//! Each list holds pairs of the path below its folder, without the ending, and the text.

include!(concat!(env!("OUT_DIR"), "/embedded_files.rs"));
