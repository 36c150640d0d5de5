//! Facts: the outcome of each expectation of a step, as one line of canonical text.

mod memory;
mod status;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub(crate) use status::{STATUS, any_status};

use crate::http_client::answer::{Answer, Wait};
use crate::judge::canonical_residual;
use crate::judge::truncate::{shorten, truncate};
use crate::scenario::numbers::same;
use crate::scenario::pointer_globs::places;
use crate::scenario::resource_names::{canonical, fill, fill_json, mask_namespace, quoted};
use crate::scenario::value_types::kind_names;
use crate::scenario::{Alternative, Check, Expectation, Kind};

/// Response time that is accepted however short the wait is, in milliseconds.
const MIN_LONG_WAIT_MS: f64 = 250.0;

/// One line of a transcript: `key = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// A response, with the context of its scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) answer: &'a Answer,
    pub(crate) ns: &'a str,
    /// The vendor part of the target's media types, `VENDOR` in `application/vnd.VENDOR.…`.
    pub(crate) vendor: &'a str,
    /// Values captured by earlier steps, by name.
    pub(crate) captures: &'a Captures,
}

/// Values captured by the steps of a scenario, by name.
pub(crate) type Captures = BTreeMap<&'static str, String>;

impl View<'_> {
    /// Evaluates an expectation on the response.
    pub(crate) fn fact(&self, expectation: &Expectation) -> Fact {
        let answer = self.answer;
        let (key, value) = match expectation {
            Expectation::Status => (STATUS.to_owned(), answer.status.to_string()),
            Expectation::StatusAmong(allowed) => {
                let holds = allowed.contains(&answer.status);
                self.status_class(holds, &any_status(allowed))
            }
            Expectation::Success => self.status_class(answer.is_success(), "<success>"),
            Expectation::Error => self.status_class(answer.status >= 400, "<error>"),
            Expectation::MediaType => ("media-type".to_owned(), self.media_type()),
            Expectation::Header(name) => (format!("header {name}"), self.header(name)),
            Expectation::Text => (
                "text".to_owned(),
                quoted(&mask_namespace(answer.text().trim(), self.ns)),
            ),
            Expectation::NoBody => ("body".to_owned(), self.empty_body()),
            Expectation::Pretty => ("pretty".to_owned(), self.pretty()),
            Expectation::Without(text) => self.lacks_text(text),
            Expectation::Mentions(text) => ("body".to_owned(), self.mentions(text)),
            Expectation::Either(alternatives) => self.any_alternative(alternatives),
            Expectation::Trace(trace) => trace.line(answer, self.ns),
            Expectation::Rows(rows) => rows.line(answer, self.ns),
            Expectation::Holds(pointer, value) => {
                self.at_pointer("", pointer, |found| self.contains_value(found, value))
            }
            Expectation::Part(pointer, value) => {
                self.at_pointer("", pointer, |found| self.contains_part(found, value))
            }
            Expectation::Each(pointer, kinds) => self.each(pointer, kinds),
            Expectation::At(pointer) => self.at_pointer("", pointer, |found| self.whole(found)),
            Expectation::Type(pointer, kinds) => {
                self.at_pointer("", pointer, |found| self.kind_among(found, kinds))
            }
            Expectation::Lacks(pointer) => self.at_pointer("", pointer, |found| {
                found.map_or_else(|| "<absent>".to_owned(), |found| canonical(found, self.ns))
            }),
            Expectation::Unset(pointer) => self.at_pointer("", pointer, |found| self.unset(found)),
            Expectation::Sorted(pointer) => {
                self.at_pointer("sorted ", pointer, |found| self.sorted(found))
            }
            Expectation::Residual(pointer) => {
                self.at_pointer("residual ", pointer, |found| self.residual(found))
            }
            Expectation::ResidualLike(pointer, queries) => {
                self.at_pointer("residual ", pointer, |found| {
                    self.residual_like(found, queries)
                })
            }
            Expectation::Bindings(pointer, variables) => {
                self.at_pointer("bindings ", pointer, |found| {
                    self.bindings(found, variables)
                })
            }
            Expectation::OtherThan(pointer, captured) => {
                self.at_pointer("", pointer, |found| self.differs_from(found, captured))
            }
            Expectation::LinesOf(captured) => ("lines".to_owned(), self.lines_of(captured)),
            Expectation::MemoryWithin(captured, times) => {
                ("memory".to_owned(), self.memory_growth(captured, *times))
            }
            Expectation::NoLongAnswer => ("slowest answer".to_owned(), self.slowest()),
            Expectation::NoneBut(pointer, members) => {
                self.at_pointer("members of ", pointer, |found| {
                    self.only_members(found, members)
                })
            }
            Expectation::Names(pointer) => {
                self.at_pointer("names ", pointer, |found| self.names(found))
            }
            Expectation::Length(pointer) => {
                self.at_pointer("length ", pointer, |found| match found {
                    Some(Value::Array(items)) => items.len().to_string(),
                    other => self.no_array(other),
                })
            }
            Expectation::AtMost(pointer, most) => {
                self.at_pointer("length ", pointer, |found| match found {
                    Some(Value::Array(items)) if items.len() <= *most => {
                        format!("<at most {most}>")
                    }
                    Some(Value::Array(items)) => items.len().to_string(),
                    other => self.no_array(other),
                })
            }
            Expectation::FilledPages => ("pages behind cursors".to_owned(), self.filled_pages()),
            Expectation::Includes(pointer, item) => {
                self.at_pointer("", pointer, |found| self.includes(found, item))
            }
        };
        Fact {
            key,
            value: truncate(value),
        }
    }

    /// Fills the namespace and the captures into the placeholders of a string.
    fn filled(&self, text: &str) -> String {
        fill(text, &|name| self.known(name))
    }

    fn known(&self, name: &str) -> Option<String> {
        match name {
            "ns" => Some(self.ns.to_owned()),
            name => self.captures.get(name).cloned(),
        }
    }

    /// Formats a value of the scenario for a transcript, with `<name>` for each known `{name}`.
    fn with_placeholders(&self, value: &Value) -> String {
        let named = |name: &str| self.known(name).map(|_| format!("<{name}>"));
        canonical(&fill_json(value, &named), "")
    }

    fn at_pointer(
        &self,
        word: &str,
        pointer: &str,
        value: impl FnOnce(Option<&Value>) -> String,
    ) -> (String, String) {
        let pointer = self.filled(pointer);
        let location = if pointer.is_empty() {
            "body".to_owned()
        } else {
            mask_namespace(&pointer, self.ns)
        };
        (format!("{word}{location}"), value(self.answer.at(&pointer)))
    }

    fn media_type(&self) -> String {
        self.answer.header("content-type").map_or_else(
            || "<absent>".to_owned(),
            |value| crate::judge::openapi::media_type(&value, self.vendor),
        )
    }

    fn header(&self, name: &str) -> String {
        let Some(mut value) = self.answer.header(name) else {
            return "<absent>".to_owned();
        };
        // HTTP compares content codings case-insensitively, and `identity` is the absence of one.
        if name.eq_ignore_ascii_case("content-encoding") {
            value.make_ascii_lowercase();
            let codings = value.split(',').map(str::trim);
            let codings: Vec<&str> = codings.filter(|coding| *coding != "identity").collect();
            if codings.is_empty() {
                return "<absent>".to_owned();
            }
            value = codings.join(", ");
        }
        vendor_neutral(&mask_namespace(&value, self.ns), self.vendor)
    }

    /// Returns whether the body is pretty-printed, or the response if it does not show that.
    fn pretty(&self) -> String {
        match self.answer.json() {
            Some(_) if self.answer.is_success() => {
                self.answer.text().trim().contains('\n').to_string()
            }
            _ => format!("<status {}, {}>", self.answer.status, self.excerpt()),
        }
    }

    fn empty_body(&self) -> String {
        if self.answer.body.is_empty() {
            "<empty>".to_owned()
        } else {
            self.excerpt()
        }
    }

    /// Returns an unexpected body, shortened.
    fn excerpt(&self) -> String {
        if self.answer.body.is_empty() {
            return "<no body>".to_owned();
        }
        let text = self.answer.json().map_or_else(
            || quoted(&mask_namespace(&self.answer.text(), self.ns)),
            |json| canonical(json, self.ns),
        );
        shorten(&text)
    }

    /// Returns the reason why the response has no JSON value at a pointer.
    fn absence(&self) -> String {
        if self.answer.json().is_some() {
            "<absent>".to_owned()
        } else if self.answer.body.is_empty() {
            "<no body>".to_owned()
        } else {
            let markup = self.answer.markup();
            let summary = markup.map(|markup| mask_namespace(&markup, self.ns));
            format!("<not JSON: {}>", summary.unwrap_or_else(|| self.excerpt()))
        }
    }

    fn whole(&self, found: Option<&Value>) -> String {
        found.map_or_else(|| self.absence(), |found| canonical(found, self.ns))
    }

    /// Returns the label in angle brackets if the value meets a condition, otherwise the value.
    fn describe(
        &self,
        found: Option<&Value>,
        meets: impl FnOnce(&Value) -> bool,
        label: String,
    ) -> String {
        match found {
            Some(found) if meets(found) => format!("<{label}>"),
            Some(found) => shorten(&canonical(found, self.ns)),
            None => self.absence(),
        }
    }

    fn kind_among(&self, found: Option<&Value>, kinds: &[Kind]) -> String {
        if kinds.iter().any(|kind| kind.is(found)) {
            format!("<{}>", kind_names(kinds))
        } else {
            match found {
                None => self.absence(),
                Some(found) => shorten(&canonical(found, self.ns)),
            }
        }
    }

    fn each(&self, pointer: &str, kinds: &[Kind]) -> (String, String) {
        let pointer = self.filled(pointer);
        let found = self.answer.json().map(|json| places(json, &pointer));
        let found = found.unwrap_or_default();
        let is = |value: &Option<&Value>| kinds.iter().any(|kind| kind.is(*value));
        let value = match found.iter().find(|value| !is(value)).or(found.first()) {
            None => self.absence(),
            Some(value) => self.kind_among(*value, kinds),
        };
        (format!("each {}", mask_namespace(&pointer, self.ns)), value)
    }

    fn unset(&self, found: Option<&Value>) -> String {
        match found {
            None if self.answer.json().is_none() => self.absence(),
            None | Some(Value::Null) => "<unset>".to_owned(),
            Some(Value::String(text)) if text.is_empty() => "<unset>".to_owned(),
            Some(Value::Array(items)) if items.is_empty() => "<unset>".to_owned(),
            Some(Value::Object(members)) if members.is_empty() => "<unset>".to_owned(),
            Some(found) => canonical(found, self.ns),
        }
    }

    fn no_array(&self, found: Option<&Value>) -> String {
        found.map_or_else(
            || self.absence(),
            |found| format!("<no array: {}>", shorten(&canonical(found, self.ns))),
        )
    }

    fn residual(&self, found: Option<&Value>) -> String {
        match found.and_then(canonical_residual::text) {
            Some(text) => quoted(&mask_namespace(&text, self.ns)),
            None => self.no_array(found),
        }
    }

    fn residual_like(&self, found: Option<&Value>, alternatives: &[Vec<&str>]) -> String {
        let matches_any = |conditions: &Vec<String>| {
            alternatives
                .iter()
                .any(|alternative| canonical_residual::matches(conditions, alternative))
        };
        let queries = found.and_then(canonical_residual::conditions);
        match queries {
            Some(queries) if !queries.is_empty() && queries.iter().all(matches_any) => {
                let texts: Vec<String> = alternatives
                    .iter()
                    .map(|one| format!("({})", one.join("; ")))
                    .collect();
                format!("<{}>", texts.join(", or "))
            }
            _ => self.residual(found),
        }
    }

    fn bindings(&self, found: Option<&Value>, variables: &[&str]) -> String {
        let bound = |item: &Value| match item {
            Value::Object(members) => {
                let named = members
                    .iter()
                    .filter(|(name, _)| variables.contains(&name.as_str()));
                let named: Map<String, Value> = named
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                canonical(&Value::Object(named), self.ns)
            }
            other => canonical(other, self.ns),
        };
        match found {
            Some(Value::Array(items)) => sorted_list(items.iter().map(bound)),
            other => self.no_array(other),
        }
    }

    fn differs_from(&self, found: Option<&Value>, captured: &str) -> String {
        let known = self.captures.get(captured);
        let differs = |found: &Value| match found {
            Value::String(text) => known.is_some_and(|known| known != text),
            other => known.is_some_and(|known| *known != canonical(other, "")),
        };
        self.describe(found, differs, format!("other than {captured}"))
    }

    fn lines_of(&self, captured: &str) -> String {
        let lines = |text: &str| text.trim().lines().count();
        let known = self.captures.get(captured);
        if known.is_some_and(|known| lines(known) == lines(&self.answer.text())) {
            format!("<as many as {captured}>")
        } else {
            self.excerpt_as_written()
        }
    }

    fn only_members(&self, found: Option<&Value>, members: &[&str]) -> String {
        let is_known = |name: &String| members.contains(&name.as_str());
        let has_only = |found: &Value| {
            let found = found.as_object();
            found.is_some_and(|found| found.keys().all(is_known))
        };
        let label = format!("none but {}", members.join(" and "));
        self.describe(found, has_only, label)
    }

    fn excerpt_as_written(&self) -> String {
        shorten(&quoted(&mask_namespace(self.answer.text().trim(), self.ns)))
    }

    fn sorted(&self, found: Option<&Value>) -> String {
        match found {
            Some(Value::Array(items)) => {
                sorted_list(items.iter().map(|item| canonical(item, self.ns)))
            }
            other => self.no_array(other),
        }
    }

    fn names(&self, found: Option<&Value>) -> String {
        match found {
            Some(Value::Array(items)) => sorted_list(
                items
                    .iter()
                    .filter_map(|item| {
                        let named = || item.get("name").or_else(|| item.get("id"))?.as_str();
                        item.as_str().or_else(named)
                    })
                    .filter(|name| name.starts_with(self.ns))
                    .map(|name| quoted(&mask_namespace(name, self.ns))),
            ),
            other => self.no_array(other),
        }
    }

    fn filled_pages(&self) -> String {
        let later_pages = self.answer.pages.get(1..).unwrap_or_default();
        match later_pages.iter().position(|items| *items == 0) {
            Some(index) => format!("<page {} of {} is empty>", index + 1, later_pages.len()),
            None if later_pages.is_empty() => "<none>".to_owned(),
            None => "<filled>".to_owned(),
        }
    }

    fn includes(&self, found: Option<&Value>, item: &Value) -> String {
        let expected = self.filled_json(item);
        match found {
            Some(Value::Array(items)) => {
                let is_included = items
                    .iter()
                    .any(|found| canonical(found, self.ns) == expected);
                if is_included {
                    format!("<includes {expected}>")
                } else {
                    canonical(&Value::Array(items.clone()), self.ns)
                }
            }
            other => self.no_array(other),
        }
    }

    fn contains_value(&self, found: Option<&Value>, value: &Value) -> String {
        let expected = self.filled_json(value);
        let contains = |found: &Value| self.contains(found, &expected);
        let label = format!("holds {}", self.with_placeholders(value));
        self.describe(found, contains, label)
    }

    /// Whether the value found, or one at any depth inside it, has this canonical text.
    fn contains(&self, found: &Value, expected: &str) -> bool {
        descendants(found).any(|value| canonical(value, self.ns) == expected)
    }

    /// Formats a value of the scenario as canonical text: captures filled in, `{ns}` as `<ns>`.
    fn filled_json(&self, value: &Value) -> String {
        let filled = fill_json(value, &|name| self.known(name));
        canonical(&filled, self.ns)
    }

    fn memory_growth(&self, captured: &str, times: u32) -> String {
        let before = self.captures.get(captured).map_or("", String::as_str);
        match memory::growth(before, &self.answer.text()) {
            Some(growth) if growth <= f64::from(times) => {
                format!("<at most {times} times {captured}>")
            }
            Some(growth) => format!("<{growth:.1} times {captured}>"),
            None => "<no memory metric in common>".to_owned(),
        }
    }

    fn slowest(&self) -> String {
        let Wait { longest, whole } = self.answer.wait;
        match longest <= MIN_LONG_WAIT_MS.max(whole / 2.0) {
            true => "<at most half of the wait>".to_owned(),
            false => format!("<{longest:.0} of {whole:.0} ms>"),
        }
    }

    fn lacks_text(&self, text: &str) -> (String, String) {
        let text = self.filled(text);
        let mut headers = self.answer.headers.iter();
        let word = match self.answer.text().contains(&text) {
            true => "holds",
            false if headers.any(|(_, value)| value.contains(&text)) => "headers hold",
            false => "without",
        };
        let value = format!("<{word} {}>", quoted(&mask_namespace(&text, self.ns)));
        ("body".to_owned(), value)
    }

    fn mentions(&self, text: &str) -> String {
        let body = self.answer.text().to_lowercase();
        if body.contains(&text.to_lowercase()) {
            format!("<mentions {}>", quoted(text))
        } else {
            self.excerpt()
        }
    }

    fn contains_part(&self, found: Option<&Value>, part: &Value) -> String {
        let expected = fill_json(part, &|name| self.known(name));
        let contains = |found: &Value| contains_part(found, &expected);
        let label = format!("has {}", canonical(&expected, self.ns));
        self.describe(found, contains, label)
    }

    fn any_alternative(&self, alternatives: &[Alternative]) -> (String, String) {
        let holds = alternatives
            .iter()
            .any(|alternative| self.meets(&alternative.checks));
        let value = if holds {
            let labels: Vec<&str> = alternatives
                .iter()
                .map(|alternative| alternative.label)
                .collect();
            format!("<{}>", labels.join(" or "))
        } else {
            format!("status {}, {}", self.answer.status, self.excerpt())
        };
        ("answer".to_owned(), value)
    }

    /// Whether the response passes all of these checks.
    pub(crate) fn meets(&self, checks: &[Check]) -> bool {
        checks.iter().all(|check| self.passes(check))
    }

    fn passes(&self, check: &Check) -> bool {
        let at = |pointer: &str| self.answer.at(&self.filled(pointer));
        match check {
            Check::Status(status) => self.answer.status == *status,
            Check::StatusFrom(low, high) => (*low..=*high).contains(&self.answer.status),
            Check::Equals(pointer, value) => at(pointer)
                .is_some_and(|found| canonical(found, self.ns) == self.filled_json(value)),
            Check::Differs(pointer, value) => at(pointer)
                .is_some_and(|found| canonical(found, self.ns) != self.filled_json(value)),
            Check::Type(pointer, kinds) => {
                let found = at(pointer);
                kinds.iter().any(|kind| kind.is(found))
            }
            Check::AtMost(pointer, most) => at(pointer)
                .and_then(Value::as_array)
                .is_some_and(|items| items.len() <= *most),
            Check::AtLeast(pointer, least) => at(pointer)
                .and_then(Value::as_array)
                .is_some_and(|items| items.len() >= *least),
            Check::Lacks(pointer) => at(pointer).is_none(),
            Check::Holds(pointer, value) => {
                let expected = self.filled_json(value);
                at(pointer).is_some_and(|found| self.contains(found, &expected))
            }
            Check::NoBody => self.answer.body.is_empty(),
            Check::TellsMemory => memory::has_metric(&self.answer.text()),
        }
    }
}

/// Whether a value contains the members and items of `part`, array items in the same order.
fn contains_part(found: &Value, part: &Value) -> bool {
    match (found, part) {
        (Value::Object(found), Value::Object(part)) => part.iter().all(|(name, part)| {
            found
                .get(name)
                .is_some_and(|found| contains_part(found, part))
        }),
        (Value::Array(found), Value::Array(part)) => {
            let mut found = found.iter();
            part.iter()
                .all(|part| found.any(|found| contains_part(found, part)))
        }
        _ => same(found, part),
    }
}

/// Replaces the target's vendor in a media type with that of the documents.
fn vendor_neutral(value: &str, vendor: &str) -> String {
    value.replace(&format!("/vnd.{vendor}."), "/vnd.engine.")
}

/// Iterates over a value and all values in it.
fn descendants(value: &Value) -> impl Iterator<Item = &Value> {
    let mut waiting = vec![value];
    std::iter::from_fn(move || {
        let next = waiting.pop()?;
        match next {
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values()),
            _ => {}
        }
        Some(next)
    })
}

fn sorted_list(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    items.sort();
    format!("[{}]", items.join(","))
}

#[cfg(test)]
mod tests;
