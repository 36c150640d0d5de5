//! Comparison of a transcript with its snapshot: by fact, and within JSON values by place.

use serde_json::Value;

use crate::judge::facts::Fact;
use crate::judge::transcript::{Entry, Transcript};
use crate::judge::truncate::shorten;
use crate::judge::verdict::Difference;

/// Maximum number of differences of one fact.
const MAX_DIFFERENCES: usize = 20;

/// Returns the steps that differ: index and differences, in order. A missing step or a different
/// request is a difference too: the snapshot belongs to another scenario.
pub(crate) fn compare(expected: &Transcript, got: &Transcript) -> Vec<(usize, Vec<Difference>)> {
    let nothing = Entry::default();
    (0..expected.steps.len().max(got.steps.len()))
        .filter_map(|index| {
            let expected = expected.steps.get(index).unwrap_or(&nothing);
            let got = got.steps.get(index).unwrap_or(&nothing);
            let differences = compare_step(expected, got);
            (!differences.is_empty()).then_some((index, differences))
        })
        .collect()
}

fn compare_step(expected: &Entry, got: &Entry) -> Vec<Difference> {
    let mut differences = Vec::new();
    if expected.request != got.request {
        differences.push(difference("request", &expected.request, &got.request));
    }
    for index in 0..expected.facts.len().max(got.facts.len()) {
        match (expected.facts.get(index), got.facts.get(index)) {
            (Some(expected), Some(got)) if expected.key == got.key => {
                compare_fact(expected, got, &mut differences);
            }
            (expected, got) => {
                let line = |fact: Option<&Fact>| {
                    fact.map_or_else(String::new, |fact| format!("{} = {}", fact.key, fact.value))
                };
                differences.push(difference("fact", &line(expected), &line(got)));
            }
        }
    }
    differences
}

fn compare_fact(expected: &Fact, got: &Fact, differences: &mut Vec<Difference>) {
    if expected.value == got.value {
        return;
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let before = differences.len();
    if let (Some(expected_json), Some(got_json)) = (parse(&expected.value), parse(&got.value)) {
        compare_json(&expected.key, &expected_json, &got_json, differences);
    }
    if differences.len() == before {
        differences.push(difference(&expected.key, &expected.value, &got.value));
    }
    differences.truncate(before + MAX_DIFFERENCES);
}

fn compare_json(path: &str, expected: &Value, got: &Value, differences: &mut Vec<Difference>) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, expected) in expected {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                match got.get(key) {
                    Some(got) => compare_json(&path, expected, got, differences),
                    None => differences.push(difference(&path, &expected.to_string(), "<absent>")),
                }
            }
            for (key, got) in got.iter().filter(|(key, _)| !expected.contains_key(*key)) {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                differences.push(difference(&path, "<absent>", &got.to_string()));
            }
        }
        (Value::Array(expected), Value::Array(got)) => {
            for index in 0..expected.len().max(got.len()) {
                let path = format!("{path}/{index}");
                match (expected.get(index), got.get(index)) {
                    (Some(expected), Some(got)) => {
                        compare_json(&path, expected, got, differences);
                    }
                    (expected, got) => {
                        let text = |value: Option<&Value>| {
                            value.map_or_else(|| "<absent>".to_owned(), Value::to_string)
                        };
                        differences.push(difference(&path, &text(expected), &text(got)));
                    }
                }
            }
        }
        (expected, got) => {
            let (expected, got) = (expected.to_string(), got.to_string());
            if expected != got {
                differences.push(difference(path, &expected, &got));
            }
        }
    }
}

fn difference(path: &str, expected: &str, got: &str) -> Difference {
    Difference {
        path: path.to_owned(),
        expected: shorten(expected),
        got: shorten(got),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::same("GET /a\n  status = 200\n", "GET /a\n  status = 200\n", &[])]
    #[case::status(
        "GET /a\n  status = 200\n",
        "GET /a\n  status = 404\n",
        &[(0, "status", "200", "404")]
    )]
    #[case::json(
        "given PUT /a 1\nGET /a\n  /result = {\"a\":[1,2,{\"b/c\":1.0}],\"d\":1}\n",
        "given PUT /a 1\nGET /a\n  /result = {\"a\":[1,3,{\"b/c\":1}],\"e\":1}\n",
        &[
            (1, "/result/a/1", "2", "3"),
            (1, "/result/a/2/b~1c", "1.0", "1"),
            (1, "/result/d", "1", "<absent>"),
            (1, "/result/e", "<absent>", "1"),
        ]
    )]
    #[case::names(
        "GET /a\n  names /result = [\"<ns>-a\",\"<ns>-b\"]\n",
        "GET /a\n  names /result = [\"<ns>-a\"]\n",
        &[(0, "names /result/1", "\"<ns>-b\"", "<absent>")]
    )]
    #[case::kind(
        "GET /a\n  /result = <string>\n",
        "GET /a\n  /result = 1\n",
        &[(0, "/result", "<string>", "1")]
    )]
    #[case::request(
        "GET /a\n  status = 200\n",
        "GET /b\n  text = \"x\"\n",
        &[
            (0, "request", "GET /a", "GET /b"),
            (0, "fact", "status = 200", "text = \"x\""),
        ]
    )]
    #[case::missing_request(
        "GET /a\n  status = 200\nGET /b\n  status = 200\n",
        "GET /a\n  status = 200\n",
        &[
            (1, "request", "GET /b", ""),
            (1, "fact", "status = 200", ""),
        ]
    )]
    fn differences_name_the_place(
        #[case] expected: &str,
        #[case] got: &str,
        #[case] differences: &[(usize, &str, &str, &str)],
    ) {
        let found: Vec<_> = compare(&Transcript::parse(expected), &Transcript::parse(got))
            .into_iter()
            .flat_map(|(step, found)| found.into_iter().map(move |one| (step, one)))
            .collect();
        let expected_differences: Vec<_> = differences
            .iter()
            .map(|(step, path, expected, got)| (*step, difference(path, expected, got)))
            .collect();
        assert_eq!(found, expected_differences);
    }
}
