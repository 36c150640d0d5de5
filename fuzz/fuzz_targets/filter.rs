//! Evaluates any text as the filter that a server returns, in every language: the result is the
//! selected rows, or an error.

#![no_main]

use conformance::fuzzing::{LANGUAGES, select};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for language in LANGUAGES {
        drop(select(text, *language));
    }
});
