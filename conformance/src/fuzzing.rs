//! Entry points of the fuzzer.

use serde_json::json;

use crate::http_client::answer::Answer;
use crate::scenario::{Language, Rows, Table};

/// Every language of filters.
pub const LANGUAGES: &[Language] = &[
    Language::Ucast,
    Language::Sqlite,
    Language::Postgresql,
    Language::Mysql,
    Language::Sqlserver,
];

/// Returns the rows that a condition in a response selects, or its defect, as in transcripts.
pub fn select(condition: &str, language: Language) -> String {
    let rows =
        json!({"one": {"a": 1, "b": "x", "c": true}, "two": {"a": 2, "b": null, "c": false}});
    let condition = match language {
        Language::Ucast => serde_json::from_str(condition).unwrap_or_default(),
        _ => json!(condition),
    };
    let body = json!({"result": {"query": condition}}).to_string();
    let answer = Answer::new(200, Vec::new(), body.into());
    Rows::of(language, "/result/query", &Table::new("t", rows))
        .line(&answer, "ns")
        .1
}
