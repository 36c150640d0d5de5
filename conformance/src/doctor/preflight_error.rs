//! Preflight errors: reasons why a server cannot be judged.

use super::api::ApiEvidence;
use super::{Doctor, Finding};
use crate::http_client::answer::Answer;

/// Reason why a run on a server is not possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreflightError {
    /// Observation and recommended action.
    pub(crate) why: String,
    /// Whether no response arrived in the protocol of the address.
    pub(crate) unreached: bool,
}

/// Paths of which any engine answers at least one.
const ELSEWHERE: [&str; 3] = ["/v1/data", "/v1/policies", "/v1/bundles"];

impl PreflightError {
    pub(super) fn unreached(finding: &Finding) -> Self {
        Self {
            unreached: true,
            ..Self::from_finding(finding)
        }
    }

    pub(super) fn from_finding(finding: &Finding) -> Self {
        let advice = finding.advice.as_deref().unwrap_or_default();
        Self {
            why: format!("{}: {advice}", finding.what),
            unreached: false,
        }
    }
}

/// Whether a response is JSON, as even an unfinished implementation sends.
pub(super) fn is_json(answer: &Answer) -> bool {
    answer.json().is_some()
}

impl Doctor<'_> {
    /// Returns why the server has no API, given the finding for each API path. A server that
    /// answers other JSON is judged anyway: it may be meant as an API.
    pub(super) async fn wrong_address(
        &self,
        responses: &[(ApiEvidence, bool, Finding)],
    ) -> Option<PreflightError> {
        let (kind, json, finding) = responses.first()?;
        let is_wrong = match kind {
            ApiEvidence::Elsewhere
            | ApiEvidence::Gateway
            | ApiEvidence::Page
            | ApiEvidence::Limited
            | ApiEvidence::Garbled => true,
            ApiEvidence::Bare | ApiEvidence::Other => !json,
            ApiEvidence::Missing | ApiEvidence::Broken => {
                for path in ELSEWHERE {
                    let answer = self.request(path, true).await.ok()?;
                    if !matches!(answer.status, 404 | 405 | 500..=599) {
                        return None;
                    }
                }
                true
            }
            ApiEvidence::Api | ApiEvidence::Locked => false,
        };
        is_wrong.then(|| PreflightError::from_finding(finding))
    }
}
