//! Reads any archive, and any files in a valid archive, as a bundle, which is accepted or refused
//! without a panic.

#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reference::bundle::{Bundle, Key, Limits, Verification};
use rego::Version;

static VERIFICATION: LazyLock<Verification> = LazyLock::new(|| {
    let key = Key {
        key: fuzz::KEY.to_owned().into(),
        algorithm: "HS256".to_owned(),
        scope: String::new(),
    };
    Verification {
        keys: BTreeMap::from([("k".to_owned(), key)]),
        key_id: None,
        scope: String::new(),
        exclude_files: Vec::new(),
        skip: false,
    }
});

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits::of_file(1 << 20);
    let read = |archive: &[u8], version, verification| {
        if let Ok(bundle) = Bundle::read(archive, "fuzz", version, &limits, verification) {
            assert!(["snapshot", "delta"].contains(&bundle.kind()));
        }
    };
    // An archive, or most of one, is not a list of files.
    if bytes.starts_with(&[0x1f, 0x8b]) {
        read(bytes, Version::V1, None);
    } else if bytes.get(257..262) == Some(b"ustar") {
        read(&fuzz::packed(bytes), Version::V1, None);
    } else {
        let archive = fuzz::archive(bytes);
        read(&archive, Version::V0, None);
        read(&archive, Version::V1, None);
        read(&archive, Version::V1, Some(&VERIFICATION));
    }
});
