//! Reads any lines as evidence: each event that is read survives being written and read again, and
//! every report can be made of the events, also after they are judged again.

#![no_main]

use conformance::Suite;
use conformance::evidence::Event;
use conformance::known::KnownList;
use conformance::report::{self, Digest, Paint};
use libfuzzer_sys::fuzz_target;

const REPORTS: &[&str] = &["badge", "html", "json", "junit", "markdown", "tap"];

fuzz_target!(|text: &str| {
    let events: Vec<Event> = text.lines().filter_map(read).collect();
    show(events.clone());
    if let Ok(again) = Suite::judge_again(events) {
        show(again);
    }
});

fn read(line: &str) -> Option<Event> {
    let event = serde_json::from_str(line).ok()?;
    let written = serde_json::to_string(&event).unwrap();
    let again: Event = serde_json::from_str(&written).unwrap();
    assert_eq!(again, event);
    Some(event)
}

fn show(events: Vec<Event>) {
    let digest = [Digest::of(events, &KnownList::default(), &[])];
    drop(report::terminal(&digest[0], Paint(true)));
    for format in REPORTS {
        let report = format!("{format}=/dev/null").parse().unwrap();
        // XML has no way to say some texts.
        let _ = report::write(&digest, &report);
    }
}
