//! Embedded files: clauses, API documents, snapshots, faults, variants, targets, known deviations
//! and rules for clients.
//!
//! Each list contains pairs of the path below its folder, without the ending, and the contents.

include!(concat!(env!("OUT_DIR"), "/embedded_files.rs"));
