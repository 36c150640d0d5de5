//! Any archive, and any files in a sound one, as a bundle: it is read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use reference::bundle::{Bundle, Limits};
use rego::Version;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::of_file(1 << 20);
    for version in [Version::V0, Version::V1] {
        drop(Bundle::read(bytes, "fuzz", version, &limits, None));
        let archive = fuzz::archive(bytes);
        drop(Bundle::read(&archive, "fuzz", version, &limits, None));
    }
});
