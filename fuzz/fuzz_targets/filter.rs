//! Any text as the filter that a server answers, in every language: rows, or what is wrong.

#![no_main]

use conformance::fuzzing::{LANGUAGES, select};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for language in LANGUAGES {
        drop(select(text, *language));
    }
});
