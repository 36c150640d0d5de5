//! Badge: the score as an endpoint document of badge services.

use serde::Serialize;

use super::capability::{self, Score};
use super::{Conclusion, Digest, ProfileResult};
use crate::catalogue::{Catalogue, Document};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
}

/// Renders the badge of a run: proven and all rules of its profile; without one, of the claimed
/// capabilities, with the titles of the documents and the suite's version.
pub(super) fn render(digest: &Digest) -> serde_json::Result<String> {
    let (label, message, Score { proven, rules }) = match digest.standing() {
        Some(standing) => {
            let must = standing.must;
            let message = format!("{} of {}", must.proven, must.rules);
            (standing.title(), message, must)
        }
        None => {
            let claimed = capability::claimed(digest, digest.rows.iter());
            let message = message(digest, claimed);
            ("conformance".to_owned(), message, claimed)
        }
    };
    let badge = Badge {
        schema_version: 1,
        label,
        message,
        color: match digest.conclusion() {
            Conclusion::Conformant if proven == rules => "brightgreen",
            Conclusion::Conformant => "green",
            Conclusion::Partial | Conclusion::Incomplete | Conclusion::Interrupted => "yellow",
            Conclusion::NotConformant => "red",
            Conclusion::Unreachable | Conclusion::Defective => "lightgrey",
        },
    };
    Ok(serde_json::to_string_pretty(&badge)? + "\n")
}

/// Formats the message of a badge for a run without a profile.
fn message(digest: &Digest, claimed: Score) -> String {
    let Score { proven, rules } = claimed;
    let all = capability::score(digest.rows.iter());
    let unit = match rules == all.rules {
        true => "rules",
        false => "claimed rules",
    };
    let suite = digest.started.as_ref().map_or("", |started| &started.suite);
    format!(
        "{proven}/{rules} {unit} | {} | suite {suite}",
        edition(digest)
    )
}

/// Renders the badge of one profile: how many of its required rules are proven.
pub(super) fn of_result(standing: &ProfileResult) -> serde_json::Result<String> {
    let Score { proven, rules } = standing.must;
    let badge = Badge {
        schema_version: 1,
        label: standing.title(),
        message: format!("{proven} of {rules}"),
        color: if proven == rules {
            "brightgreen"
        } else {
            "orange"
        },
    };
    Ok(serde_json::to_string_pretty(&badge)? + "\n")
}

/// Titles of the documents that the run was judged by.
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
            "message": "1/3 claimed rules | Policy Engine REST API | suite 0.1.0",
            "color": "lightgrey",
        });
        assert_eq!(badge, expected);
    }
}
