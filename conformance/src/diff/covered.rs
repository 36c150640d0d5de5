//! Locations in a response that recorded facts cover.

use crate::judge::facts::Fact;

/// Whether one of these facts covers the location, or the rule deliberately records only a type or
/// a list of statuses there. That a response is an error, or a success, does not cover its status.
pub(crate) fn covers(facts: &[Fact], place: &str) -> bool {
    facts.iter().any(|fact| covers_one(fact, place))
}

fn covers_one(fact: &Fact, place: &str) -> bool {
    let word = fact.key.split(['/', ',']).next().unwrap_or_default().trim();
    match word {
        "answer" => true,
        "status" => place == "status" && !matches!(fact.value.as_str(), "<error>" | "<success>"),
        "media-type" => place == "media-type",
        "text" => place == "body" || place.starts_with('/'),
        "rows" | "residual" => place.starts_with("/result"),
        "trace" => place.starts_with("/explanation"),
        "body" => at("", &fact.value, place),
        "" | "sorted" | "each" => at(pointer(&fact.key), &fact.value, place),
        // A list of names may include the names of others.
        "names" | "length" => reaches(pointer(&fact.key), place) == Some(0),
        _ => false,
    }
}

fn pointer(key: &str) -> &str {
    key.find('/')
        .and_then(|start| key.get(start..))
        .unwrap_or_default()
}

/// Whether a fact with this value at a pointer covers the location.
fn at(pointer: &str, value: &str, place: &str) -> bool {
    let Some(depth) = reaches(pointer, place) else {
        return false;
    };
    let part = ["<includes ", "<has ", "<holds ", "<without ", "<mentions "];
    match value {
        "<unset>" | "<absent>" | "<empty>" => true,
        value if part.iter().any(|start| value.starts_with(start)) => false,
        // A type: the rule leaves the value of it to the server.
        value if value.starts_with('<') => depth == 0,
        _ => true,
    }
}

/// Number of segments from a pointer to a location below it; none if it is not below. In both, `*`
/// matches items; in a pointer also parts of names.
fn reaches(pointer: &str, place: &str) -> Option<usize> {
    let place = if place == "body" { "" } else { place };
    if !(place.is_empty() || place.starts_with('/')) {
        return None;
    }
    let mut rest = place.split('/').skip(1);
    for expected_segment in pointer.split('/').skip(1) {
        let segment = rest.next()?;
        let item = segment == "*" && expected_segment.bytes().all(|byte| byte.is_ascii_digit());
        let part = expected_segment
            .split_once('*')
            .is_some_and(|(start, end)| {
                segment
                    .strip_prefix(start)
                    .is_some_and(|rest| rest.ends_with(end))
            });
        if !(segment == expected_segment || item || part) {
            return None;
        }
    }
    Some(rest.count())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("status = 200", "status", true)]
    #[case("status = <200 or 204>", "status", true)]
    #[case("status = <error>", "status", false)]
    #[case("status = 200", "body", false)]
    #[case("media-type = text/plain", "media-type", true)]
    #[case("text = \"x\"", "body", true)]
    #[case("body = {\"a\":1}", "/a", true)]
    #[case("body = <has {\"a\":1}>", "/b", false)]
    #[case("body = <empty>", "body", true)]
    #[case("/result = {\"a\":1}", "/result/a", true)]
    #[case("/result = 1", "/warning", false)]
    #[case("/result = 1", "/results", false)]
    #[case("/message = <text>", "/message", true)]
    #[case("/provenance = <object>", "/provenance/version", false)]
    #[case("/result/0/id = \"a\"", "/result/*/id", true)]
    #[case("each /a/*/t_*_ns = <number>", "/a/*/t_x_ns", true)]
    #[case("sorted /result = [1,2]", "/result", true)]
    #[case("names /result = []", "/result", true)]
    #[case("names /result = []", "/result/*/raw", false)]
    #[case("residual /result/queries = \"\"", "/result/queries/*", true)]
    #[case("trace = <enter>", "/explanation/*/op", true)]
    #[case("answer = <a or b>", "status", true)]
    #[case("header etag = <absent>", "/etag", false)]
    fn facts_speak_of_their_places(
        #[case] fact: &str,
        #[case] place: &str,
        #[case] expected: bool,
    ) {
        let (key, value) = fact.split_once(" = ").unwrap_or_default();
        let facts = [Fact {
            key: key.to_owned(),
            value: value.to_owned(),
        }];
        assert_eq!(covers(&facts, place), expected);
    }
}
