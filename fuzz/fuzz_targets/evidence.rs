//! Any text as a line of evidence: what is read is written again as it was.

#![no_main]

use conformance::evidence::Event;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(event) = serde_json::from_str::<Event>(text) else {
        return;
    };
    let written = serde_json::to_string(&event).unwrap();
    let again: Event = serde_json::from_str(&written).unwrap();
    assert_eq!(again, event);
});
