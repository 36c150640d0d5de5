//! The badge: the score in one line, as the endpoint document of services that draw badges.

use serde::Serialize;

use super::{Conclusion, Digest};
use crate::catalogue::{Catalogue, Document};
use crate::report::capability::Score;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
}

/// The badge says what was proven of how much, by which profile, or by which documents and which
/// suite.
pub(super) fn render(digest: &Digest) -> serde_json::Result<String> {
    let suite = digest.started.as_ref().map_or("", |started| &started.suite);
    let (label, message, (proven, rules)) = match digest.standing() {
        Some(standing) => {
            let Score { proven, rules } = standing.must;
            let message = format!("{proven} of {rules}");
            (standing.title(), message, (proven, rules))
        }
        None => {
            let (proven, rules) = digest.score();
            let edition = edition(digest);
            let message = format!("{proven}/{rules} rules | {edition} | suite {suite}");
            ("conformance".to_owned(), message, (proven, rules))
        }
    };
    let badge = Badge {
        schema_version: 1,
        label,
        message,
        color: match digest.conclusion() {
            Conclusion::Conformant if proven == rules => "brightgreen",
            Conclusion::Conformant => "green",
            Conclusion::Incomplete | Conclusion::Interrupted => "yellow",
            Conclusion::NotConformant => "red",
            Conclusion::Unreachable | Conclusion::Defective => "lightgrey",
        },
    };
    Ok(serde_json::to_string_pretty(&badge)? + "\n")
}

/// The titles of the documents that the run was judged by.
fn edition(digest: &Digest) -> String {
    let judged_by = |document: &Document| !digest.outcomes(*document).is_empty();
    let documents = Document::ALL.into_iter().filter(judged_by);
    let titles: Vec<_> = documents
        .map(|document| {
            Catalogue::embedded().map_or(document.name(), |known| known.title(document))
        })
        .collect();
    titles.join(" + ")
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::report::digest::samples;

    #[test]
    fn the_badge_tells_score_edition_and_suite() {
        let digest = samples::all().pop().expect("a digest");
        let badge = render(&digest).expect("JSON");
        let badge: serde_json::Value = serde_json::from_str(&badge).expect("JSON");
        let expected = serde_json::json!({
            "schemaVersion": 1,
            "label": "conformance",
            "message": "2/6 rules | Policy Engine REST API | suite 0.1.0",
            "color": "lightgrey",
        });
        assert_eq!(badge, expected);
    }
}
