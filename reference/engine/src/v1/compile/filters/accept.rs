//! Content negotiation of filters.

use http::header::ACCEPT;
use rego::filter::Target;

use crate::errors;
use http_server::{ApiError, Request};

const PREFIX: &str = "application/vnd.";
const SUFFIX: &str = "+json";
/// Form, in the media type, of a response with several targets.
const SEVERAL: &str = "multitarget";

/// Negotiated form of the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accepted {
    /// Media type of the response.
    pub(super) media_type: String,
    /// Target of the response; absent if there are several.
    pub(super) target: Option<Target>,
}

/// Media range of the header `Accept`, with its weight in thousandths.
struct Range<'h> {
    name: &'h str,
    weight: u16,
}

/// Selects the media type with the highest weight in the header `Accept`, of several the first.
///
/// # Errors
/// `invalid_parameter` when the header is missing, `not_acceptable` when it names no supported
/// media type. Wildcards do not match: there is no default target.
pub(super) fn accepted(request: &Request, vendors: &[String]) -> Result<Accepted, ApiError> {
    let values = request.headers.get_all(ACCEPT).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    if values.iter().all(|value| value.trim().is_empty()) {
        let message = "Accept header: missing required header";
        return Err(ApiError::invalid_parameter(message));
    }
    let mut best: Option<(Accepted, u16)> = None;
    for range in values.iter().flat_map(|value| value.split(',')).map(range) {
        if range.weight > best.as_ref().map_or(0, |(_, weight)| *weight)
            && let Some(named) = named(range.name, vendors)
        {
            best = Some((named, range.weight));
        }
    }
    best.map(|(best, _)| best).ok_or_else(|| {
        let (requested, known) = (values.join(", "), supported(vendors).join(", "));
        errors::not_acceptable(format!(
            "Accept header: unsupported header: {requested}; supported are {known}"
        ))
    })
}

/// Parses a media type of filters: `application/vnd.VENDOR.LANGUAGE.DIALECT+json`, or with
/// `multitarget` instead of language and dialect.
fn named(media_type: &str, vendors: &[String]) -> Option<Accepted> {
    let lower = media_type.to_ascii_lowercase();
    let rest = lower.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (vendor, form) = rest.split_once('.')?;
    let mut known = vendors.iter();
    let vendor = known.find(|known| known.eq_ignore_ascii_case(vendor))?;
    let target = match form.split_once('.') {
        None if form == SEVERAL => None,
        one => Some(
            Target::ALL
                .into_iter()
                .find(|target| one == Some((target.language(), target.dialect())))?,
        ),
    };
    Some(Accepted {
        media_type: format!("{PREFIX}{vendor}.{form}{SUFFIX}"),
        target,
    })
}

/// All media types of filters.
fn supported(vendors: &[String]) -> Vec<String> {
    let form_of = |target: Target| format!("{}.{}", target.language(), target.dialect());
    let targets = Target::ALL.into_iter().map(form_of);
    let forms: Vec<String> = targets.chain([SEVERAL.to_owned()]).collect();
    let of = |vendor| {
        let forms = forms.iter();
        forms.map(move |form| format!("{PREFIX}{vendor}.{form}{SUFFIX}"))
    };
    vendors.iter().flat_map(of).collect()
}

/// Parses a media range and its weight, ignoring other parameters. An invalid weight counts as 0.
fn range(text: &str) -> Range<'_> {
    let mut parts = text.split(';');
    let name = parts.next().unwrap_or_default().trim();
    let weight = parts.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("q")
            .then_some(value.trim())
    });
    let weight = weight.map_or(1_000, |weight| match weight.parse::<f32>() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1000"
        )]
        Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * 1_000.0).round() as u16,
        _ => 0,
    });
    Range { name, weight }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;
    use bytes::Bytes;
    use rstest::rstest;

    #[track_caller]
    fn check(headers: &[&str], expected: &str) {
        let mut request = http::Request::builder();
        for header in headers {
            request = request.header("accept", *header);
        }
        let request = Request::from(request.body(Bytes::new()).unwrap());
        let found = match accepted(&request, &["engine", "opa"].map(String::from)) {
            Ok(accepted) => accepted.media_type,
            Err(error) => error.code.status().as_u16().to_string(),
        };
        assert_eq!(found, expected, "{headers:?}");
    }

    const ALL: &str = "application/vnd.engine.ucast.all+json";
    const LITE: &str = "application/vnd.engine.sql.sqlite+json";
    const SEVERAL: &str = "application/vnd.engine.multitarget+json";

    #[rstest]
    #[case::nothing(&[], "400")]
    #[case::empty(&["  "], "400")]
    #[case::all(&[ALL], ALL)]
    #[case::several(&[SEVERAL], SEVERAL)]
    #[case::upper_case(&["Application/VND.engine.UCAST.all+JSON"], ALL)]
    #[case::parameter(&["application/vnd.engine.ucast.all+json;charset=utf-8"], ALL)]
    #[case::first_of_equals(
        &["application/vnd.engine.ucast.all+json, application/vnd.engine.sql.sqlite+json"],
        ALL
    )]
    #[case::heavier(
        &["application/vnd.engine.ucast.all+json;q=0.5, application/vnd.engine.sql.sqlite+json"],
        LITE
    )]
    #[case::heavier_in_another_header(
        &[
            "application/vnd.engine.ucast.all+json; q=0.5",
            "application/vnd.engine.sql.sqlite+json;Q=0.501",
        ],
        LITE
    )]
    #[case::not_wanted(
        &[
            "application/vnd.engine.ucast.all+json;q=0, application/vnd.engine.sql.sqlite+json;q=0.001, */*",
        ],
        LITE
    )]
    #[case::nothing_wanted(&["application/vnd.engine.ucast.all+json;q=0"], "406")]
    #[case::weight_above_one(&["application/vnd.engine.ucast.all+json;q=2"], "406")]
    #[case::star(&["*/*"], "406")]
    #[case::other_type(&["application/json"], "406")]
    #[case::former_name(
        &["application/vnd.opa.ucast.all+json"],
        "application/vnd.opa.ucast.all+json"
    )]
    #[case::several_by_former_name(
        &["application/vnd.opa.multitarget+json"],
        "application/vnd.opa.multitarget+json"
    )]
    #[case::unknown_vendor(&["application/vnd.other.ucast.all+json"], "406")]
    #[case::unknown_format(&["application/vnd.opa.ucast.some+json"], "406")]
    #[case::incomplete(&["application/vnd.opa.ucast+json"], "406")]
    fn weighs_media_ranges(#[case] headers: &[&str], #[case] expected: &str) {
        check(headers, expected);
    }
}
