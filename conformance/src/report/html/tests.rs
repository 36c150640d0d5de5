//! Tests of the page's source. A browser tests its appearance, by `cargo xtask report-page`.

use super::render;
use super::text::{cut, pretty_json, visible};
use crate::report::digest::samples;

#[test]
fn nothing_of_a_server_becomes_markup() {
    let digests = samples::all();
    let (_, last) = digests.split_at(2);
    for (name, page) in [("one", render(last)), ("several", render(&digests))] {
        // Only the page's own ones may occur.
        assert_eq!(page.matches("<script").count(), 1, "{name}");
        assert_eq!(page.matches("</script").count(), 1, "{name}");
        for wrong in ["<img", "style=", "\u{1b}", "\u{202e}", "\0"] {
            assert!(!page.contains(wrong), "{wrong:?} in the page of {name}");
        }
        for expected in ["&lt;script&gt;alert(1)", "\u{241b}[31m⟨U+202E⟩\u{2400}"] {
            assert!(
                page.contains(expected),
                "no {expected:?} in the page of {name}"
            );
        }
        for attribute in ["src=\"", "href=\""] {
            for value in page.split(attribute).skip(1) {
                let is_internal = value.starts_with('#') || value.starts_with("data:,\"");
                assert!(
                    is_internal,
                    "{}",
                    value.chars().take(80).collect::<String>()
                );
            }
        }
    }
}

#[test]
fn attributes_hold_nothing_invisible_either() {
    let mut digests = samples::all();
    let hostile = "\u{1b}[31m\u{202e}\u{200b}\n::error::x\n##[error]y";
    for digest in &mut digests {
        if let Some(started) = &mut digest.started {
            started.at = Some(hostile.to_owned());
        }
        for row in &mut digest.rows {
            row.judged.rule = format!("engine/{hostile}");
        }
    }
    let page = render(&digests);
    assert_eq!(visible(&page), page);
    assert!(page.contains("datetime=\"\u{241b}[31m⟨U+202E⟩"), "{page}");
}

#[test]
fn every_clause_stands_with_its_verdict_and_its_reason() {
    let digests = samples::all();
    let page = render(digests.split_at(2).1);
    for expected in [
        r#"id="engine/health/get/healthy-is-empty-object" data-marks="pass""#,
        r#"id="engine/v1/data/get/undefined-omits-result" data-marks="fail""#,
        r#"id="engine/v1/config/get/labels" data-marks="expected-fail""#,
        r#"id="engine/v1/data/put/creates-a-document" data-marks="unexpected-pass""#,
        r#"id="engine/v1/data/put/replaces-a-document" data-marks="not-run""#,
        r#"id="engine/v1/query/get/answers" data-marks="recorded""#,
        r#"id="engine/another/edition/of-the-suite" data-marks="not-run""#,
        "reason # with a mark",
        "the target does not claim `query`",
        "curl -i",
        "Where the documents are silent",
    ] {
        assert!(page.contains(expected), "no {expected:?}");
    }
}

#[test]
fn texts_are_cut_and_shown() {
    assert_eq!(cut("añb", 2), ("añ", 1));
    assert_eq!(cut("ab", 2), ("ab", 0));
    assert_eq!(visible("a\r\n\tb\u{85}"), "a\u{240d}\n\tb⟨U+0085⟩");
    assert_eq!(
        pretty_json(r#"{"a":[],"b":1.0}"#),
        "{\n  \"a\": [],\n  \"b\": 1.0\n}"
    );
    assert_eq!(pretty_json("{broken"), "{broken");
}
