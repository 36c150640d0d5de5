//! Tests that no report contains certain strings, whatever a server sends.

use super::digest::samples;
use super::{Digest, FileReport, Format, Paint, terminal, write};
use crate::visible::visible;

/// Renders these runs in every format, with the format's name.
fn reports(digest: &Digest) -> Vec<(&'static str, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let kinds = Format::NAMED
        .iter()
        .filter(|(_, format)| *format != Format::Ndjson);
    let written = kinds.map(|(name, format)| {
        let path = folder.path().join(name);
        let report = FileReport {
            format: *format,
            path: path.clone(),
        };
        write(std::slice::from_ref(digest), &report).expect(name);
        (*name, std::fs::read_to_string(path).expect(name))
    });
    let mut reports: Vec<_> = written.collect();
    reports.push(("terminal", terminal(digest, Paint(false))));
    reports.push(("colours", terminal(digest, Paint(true))));
    reports
}

#[test]
fn nothing_of_a_server_is_invisible_or_a_command() {
    for digest in samples::all() {
        for (name, report) in reports(&digest) {
            let content = match name {
                "colours" => report.replace("\u{1b}[", ""),
                // Style sheets begin lines like this.
                "html" => {
                    let (head, rest) = report.split_once("<style>").expect("a style sheet");
                    let (_, rest) = rest.split_once("</style>").expect("its end");
                    format!("{head}{rest}")
                }
                _ => report,
            };
            for line in content.lines() {
                assert!(!line.trim_start().starts_with("::"), "{name}: {line}");
                let raw = line
                    .chars()
                    .find(|one| visible(&format!(".{one}")) != format!(".{one}"));
                assert_eq!(raw, None, "{name}: {line}");
                assert!(name == "json" || !line.contains("##["), "{name}: {line}");
            }
        }
    }
}
