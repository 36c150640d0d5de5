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
    render(events.clone());
    if let Ok(rejudged) = Suite::judge_again(events) {
        render(rejudged);
    }
});

fn read(line: &str) -> Option<Event> {
    let event = serde_json::from_str(line).ok()?;
    let json = serde_json::to_string(&event).unwrap();
    let reparsed: Event = serde_json::from_str(&json).unwrap();
    assert_eq!(reparsed, event);
    Some(event)
}

fn render(events: Vec<Event>) {
    let digest = [Digest::of(events, &KnownList::default(), &[])];
    drop(report::terminal(&digest[0], Paint(true)));
    for format in REPORTS {
        let report = format!("{format}=/dev/null").parse().unwrap();
        // XML has no way to say some texts.
        let _ = report::write(&digest, &report);
    }
}
