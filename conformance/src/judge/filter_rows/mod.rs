//! Data filters, judged by the rows that they select: a filter in a response is applied to a few
//! rows that the scenario names, so that its form does not matter.

mod sql;
mod sqlite;
mod ucast;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::http_client::answer::Answer;
use crate::judge::truncate::shorten;
use crate::scenario::resource_names::{canonical, mask_namespace, quoted};
use crate::scenario::{Language, Rows, Table, Unless};

/// Reason why a condition cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FilterError {
    /// Outcome that a scenario may accept instead of rows.
    Instead(Unless),
    /// Not a condition, or not one on the scenario's table; with a description.
    Wrong(String),
}

impl Table {
    fn columns(&self) -> BTreeSet<&str> {
        let rows = self.rows.values().filter_map(Value::as_object);
        rows.flat_map(Map::keys).map(String::as_str).collect()
    }

    /// Returns the rows whose names match, as JSON.
    fn only(&self, is_named: impl Fn(&str) -> bool) -> Value {
        let rows = self.rows.iter().filter(|(name, _)| is_named(name));
        let rows = rows.map(|(name, row)| (name.clone(), row.clone()));
        Value::Object(rows.collect())
    }
}

impl Rows {
    /// Returns the transcript line, as key and value.
    pub(crate) fn line(&self, answer: &Answer, ns: &str) -> (String, String) {
        let found = self.selected(answer);
        let is_expected = match &found {
            Ok(names) => self.expected == *names,
            Err(FilterError::Instead(what)) => self.unless.contains(what),
            Err(FilterError::Wrong(_)) => false,
        };
        let value = if is_expected && !self.unless.is_empty() {
            let words = self.unless.iter().map(|unless| match unless {
                Unless::Refused => "refused",
                Unless::NotPlain => "not plain",
            });
            let words = words.collect::<Vec<_>>().join(" or ");
            let rows = self.table.only(|name| self.expected.contains(&name));
            format!("<{} unless {words}>", canonical(&rows, ns))
        } else {
            match found {
                Ok(names) => {
                    let rows = self
                        .table
                        .only(|name| names.iter().any(|known| known == name));
                    canonical(&rows, ns)
                }
                Err(error) => self.describe(error, answer, ns),
            }
        };
        (format!("rows {}", self.pointer), value)
    }

    fn describe(&self, error: FilterError, answer: &Answer, ns: &str) -> String {
        let reason = match error {
            FilterError::Instead(Unless::Refused) => format!("status {}", answer.status),
            FilterError::Instead(Unless::NotPlain) => "not plain".to_owned(),
            FilterError::Wrong(reason) => mask_namespace(&reason, ns),
        };
        let found = match (answer.at(self.pointer), answer.json()) {
            (Some(found), _) | (None, Some(found)) => canonical(found, ns),
            (None, None) => quoted(&mask_namespace(&answer.text(), ns)),
        };
        shorten(&format!("<{reason}: {found}>"))
    }

    /// Returns the names of the selected rows, in order.
    fn selected(&self, answer: &Answer) -> Result<Vec<String>, FilterError> {
        if answer.status >= 400 {
            return Err(FilterError::Instead(Unless::Refused));
        }
        if !answer.is_success() {
            return Err(FilterError::Wrong(format!("status {}", answer.status)));
        }
        if !answer.json().is_some_and(Value::is_object) {
            return Err(FilterError::Wrong("not a JSON object".to_owned()));
        }
        let all = || self.table.rows.keys().cloned().collect();
        match (self.language, answer.at(self.pointer)) {
            (_, None) => Ok(Vec::new()),
            (_, Some(Value::String(text))) if text.is_empty() => Ok(all()),
            (Language::Ucast, Some(Value::Object(query))) if query.is_empty() => Ok(all()),
            (Language::Ucast, Some(query)) => {
                ucast::select(query, &self.table).map_err(FilterError::Wrong)
            }
            (Language::Sqlite, Some(Value::String(text))) => {
                let found =
                    sqlite::check_length(text).and_then(|()| sqlite::select(text, &self.table));
                found.map_err(FilterError::Wrong)
            }
            (language, Some(Value::String(text))) => sql::select(text, language, &self.table),
            (_, Some(_)) => Err(FilterError::Wrong("not a string".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_name_rows_or_why_there_are_none() {
        let table = Table::new("t", json!({"a": {"n": 1}, "b": {"n": 20}}));
        let of = |language| Rows::of(language, "/result/query", &table);
        let (sqlite, mysql) = (Language::Sqlite, Language::Mysql);
        let cases = [
            (
                of(sqlite),
                200,
                r#"{"result": {"query": "WHERE t.n < 9"}}"#,
                r#"{"a":{"n":1}}"#,
            ),
            (
                of(sqlite),
                200,
                r#"{"result": {"query": ""}}"#,
                r#"{"a":{"n":1},"b":{"n":20}}"#,
            ),
            (
                of(Language::Ucast),
                200,
                r#"{"result": {"query": {}}}"#,
                r#"{"a":{"n":1},"b":{"n":20}}"#,
            ),
            (of(sqlite), 200, r#"{"result": {}}"#, "{}"),
            (of(sqlite), 200, "{}", "{}"),
            (of(sqlite), 200, "[]", "<not a JSON object: []>"),
            (of(sqlite), 200, "x", r#"<not a JSON object: "x">"#),
            (
                of(sqlite),
                200,
                r#"{"result": {"query": null}}"#,
                "<not a string: null>",
            ),
            (
                of(sqlite),
                400,
                r#"{"code": "x"}"#,
                r#"<status 400: {"code":"x"}>"#,
            ),
            (
                of(sqlite).unless(&[Unless::Refused], &["a"]),
                400,
                "{}",
                r#"<{"a":{"n":1}} unless refused>"#,
            ),
            (
                of(sqlite).unless(&[Unless::Refused], &["a"]),
                501,
                "{}",
                r#"<{"a":{"n":1}} unless refused>"#,
            ),
            (
                of(sqlite).unless(&[Unless::Refused], &["a"]),
                200,
                r#"{"result": {"query": "n = 1"}}"#,
                r#"<{"a":{"n":1}} unless refused>"#,
            ),
            (
                of(sqlite).unless(&[Unless::Refused], &["a"]),
                200,
                r#"{"result": {"query": "n > 1"}}"#,
                r#"{"b":{"n":20}}"#,
            ),
            (
                of(mysql).unless(&[Unless::NotPlain], &["a"]),
                200,
                r#"{"result": {"query": "n = 1"}}"#,
                r#"<{"a":{"n":1}} unless not plain>"#,
            ),
            (
                of(mysql).unless(&[Unless::NotPlain], &["a"]),
                200,
                r#"{"result": {"query": "f(n)"}}"#,
                r#"<{"a":{"n":1}} unless not plain>"#,
            ),
            (
                of(mysql).unless(&[Unless::NotPlain], &["a"]),
                200,
                r#"{"result": {"query": "n > 1"}}"#,
                r#"{"b":{"n":20}}"#,
            ),
            (
                of(mysql).unless(&[Unless::NotPlain], &["a"]),
                500,
                "{}",
                "<status 500: {}>",
            ),
            (
                of(mysql),
                200,
                r#"{"result": {"query": "f(n)"}}"#,
                r#"<not plain: "f(n)">"#,
            ),
        ];
        for (rows, status, body, line) in cases {
            let answer = Answer::new(status, Vec::new(), Bytes::from_static(body.as_bytes()));
            let (key, value) = rows.line(&answer, "");
            assert_eq!(
                (key.as_str(), value.as_str()),
                ("rows /result/query", line),
                "{body}"
            );
        }
    }
}
