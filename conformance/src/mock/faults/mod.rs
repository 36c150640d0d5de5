//! Named faults, and the requests they affect.

mod definition;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use http::HeaderValue;
use serde_json::{Map, Value, json};

use crate::faults::{Alteration, Fault, ObservedRequest, Recipient};
use crate::http_client::answer::Answer;
use definition::Definition;
pub(super) use definition::Ending;

/// Request header that selects faults: their names, or the definition of one as JSON.
pub(super) const HEADER: &str = "conformance-fault";

/// Maximum number of faults that are enabled at once.
const MAX_FAULTS: usize = 100;

/// Faults that are known without a file.
const BUILT_IN: &str = include_str!("built_in.yaml");

/// Known and enabled faults of the mock.
#[derive(Debug)]
pub(super) struct Faults {
    known: BTreeMap<String, Arc<Definition>>,
    on: Vec<SwitchedOn>,
    /// Faults that were enabled at the start.
    start: Vec<SwitchedOn>,
}

/// An enabled fault.
#[derive(Debug, Clone)]
struct SwitchedOn {
    fault: Arc<Definition>,
    /// Number of further requests that the fault affects; none for any number.
    remaining: Option<u64>,
}

/// The faults that affect one request.
#[derive(Debug)]
pub(super) struct Chosen(Vec<Arc<Definition>>);

impl Faults {
    /// Reads the built-in faults, and those of these files.
    ///
    /// # Errors
    /// A file cannot be read, or has a defect.
    pub(super) fn read(files: &[PathBuf]) -> Result<Self, String> {
        let mut known = BTreeMap::new();
        let mut add = |text: &str| -> Result<(), String> {
            for fault in definition::list(text)? {
                known.insert(fault.name.clone(), Arc::new(fault));
            }
            Ok(())
        };
        add(BUILT_IN)?;
        for file in files {
            let text = fs::read_to_string(file).map_err(|error| error.to_string());
            let added = text.and_then(|text| add(&text));
            added.map_err(|reason| format!("{}: {reason}", file.display()))?;
        }
        Ok(Self {
            known,
            on: Vec::new(),
            start: Vec::new(),
        })
    }

    /// Saves the enabled faults as the state to which a reset returns.
    pub(super) fn save_as_initial(&mut self) {
        self.start = self.on.clone();
    }

    /// Restores the faults that were enabled at the start.
    pub(super) fn reset(&mut self) {
        self.on = self.start.clone();
    }

    /// Enables a known fault for this number of requests; enabling it again restarts the count.
    ///
    /// # Errors
    /// There is no such fault, or too many are enabled.
    pub(super) fn switch_on(&mut self, name: &str, times: Option<u64>) -> Result<(), String> {
        let fault = self.find(name)?;
        self.add(fault, times)
    }

    /// Enables a fault with the definition in a request.
    ///
    /// # Errors
    /// The definition is invalid, or too many faults are enabled.
    pub(super) fn define(
        &mut self,
        name: &str,
        written: Map<String, Value>,
        times: Option<u64>,
    ) -> Result<(), String> {
        let fault = Definition::read(name, written)?;
        self.add(Arc::new(fault), times)
    }

    /// Enables all faults of a file.
    ///
    /// # Errors
    /// The file is invalid, or too many faults are enabled; then none of the file is enabled.
    pub(super) fn define_all(&mut self, text: &str) -> Result<(), String> {
        let before = self.on.clone();
        let faults = definition::list(text)?;
        let done = faults
            .into_iter()
            .try_for_each(|fault| self.add(Arc::new(fault), None));
        if done.is_err() {
            self.on = before;
        }
        done
    }

    /// Disables a fault, and returns whether it was enabled.
    pub(super) fn switch_off(&mut self, name: &str) -> bool {
        let before = self.on.len();
        self.on.retain(|one| one.fault.name != name);
        self.on.len() < before
    }

    pub(super) fn switch_all_off(&mut self) {
        self.on.clear();
    }

    /// Returns the enabled and the known faults as JSON.
    pub(super) fn to_json(&self) -> Value {
        let on = self.on.iter().map(|one| {
            let fault = &one.fault;
            json!({"fault": fault.name, "breaks": fault.breaks, "left": one.remaining})
        });
        let known = self.known.values();
        let known = known.map(|fault| json!({"fault": fault.name, "breaks": fault.breaks}));
        json!({
            "on": on.collect::<Vec<_>>(),
            "known": known.collect::<Vec<_>>(),
        })
    }

    /// Selects the faults that affect a request: those that are enabled and match it, and those
    /// that its own headers select.
    ///
    /// # Errors
    /// A header selects an unknown fault, or one that does not match the request.
    pub(super) fn choose<'a>(
        &mut self,
        api: Recipient,
        request: &ObservedRequest<'_>,
        headers: impl IntoIterator<Item = &'a HeaderValue>,
    ) -> Result<Chosen, String> {
        let mut requested = Vec::new();
        for value in headers {
            requested.extend(self.faults_in_header(value)?);
        }
        if let Some(unmatched) = requested
            .iter()
            .find(|one| !one.alteration.touches(api, request))
        {
            let name = &unmatched.name;
            return Err(format!("the fault `{name}` does not touch this request"));
        }
        let touches = |one: &&mut SwitchedOn| {
            one.remaining != Some(0) && one.fault.alteration.touches(api, request)
        };
        let mut chosen = Vec::new();
        for one in self.on.iter_mut().filter(touches) {
            one.remaining = one.remaining.map(|remaining| remaining - 1);
            chosen.push(Arc::clone(&one.fault));
        }
        chosen.extend(requested);
        Ok(Chosen(chosen))
    }

    fn faults_in_header(&self, value: &HeaderValue) -> Result<Vec<Arc<Definition>>, String> {
        let text = std::str::from_utf8(value.as_bytes());
        let text = text
            .map_err(|_| format!("invalid header {HEADER}: expected UTF-8"))?
            .trim();
        if text.starts_with('{') {
            let written = serde_json::from_str(text);
            let written = written.map_err(|error| format!("the header {HEADER}: {error}"))?;
            return Ok(vec![Arc::new(Definition::read(HEADER, written)?)]);
        }
        let names = text.split(',').map(str::trim);
        names.map(|name| self.find(name)).collect()
    }

    /// Looks up a fault by name among the known ones and those of the suite.
    fn find(&self, name: &str) -> Result<Arc<Definition>, String> {
        if let Some(known) = self.known.get(name) {
            return Ok(Arc::clone(known));
        }
        let carried = Fault::carried(name).map_err(|error| error.to_string())?;
        if let Some(fault) = carried {
            return Ok(Arc::new(Definition::of_suite(fault)));
        }
        let distance = |known: &&String| strsim::damerau_levenshtein(known, name);
        let nearest = self.known.keys().min_by_key(distance);
        let nearest = nearest.filter(|known| distance(known) <= 3);
        let hint = nearest.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
        Err(format!("no fault is named `{name}`{hint}"))
    }

    fn add(&mut self, fault: Arc<Definition>, times: Option<u64>) -> Result<(), String> {
        self.switch_off(&fault.name);
        if self.on.len() >= MAX_FAULTS {
            return Err(format!("{MAX_FAULTS} faults are on, and no more can be"));
        }
        let remaining = times.or(fault.times);
        self.on.push(SwitchedOn { fault, remaining });
        Ok(())
    }
}

impl Chosen {
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|fault| fault.name.clone()).collect()
    }

    /// Returns how a fault ends the exchange; none if no fault does.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.0.iter().filter_map(|fault| fault.ending).min()
    }

    pub(super) fn alterations(&self) -> impl Iterator<Item = &Alteration> {
        self.0.iter().map(|fault| &fault.alteration)
    }

    /// Returns the number of bytes after which this response's body is truncated, if it is.
    pub(super) fn cut(&self, answer: &Answer) -> Option<usize> {
        let cuts = self
            .0
            .iter()
            .filter(|fault| fault.alteration.changes(answer));
        let cuts = cuts.filter_map(|fault| match fault.ending {
            Some(Ending::Cut(bytes)) => Some(bytes),
            Some(Ending::Hang | Ending::Close) | None => None,
        });
        cuts.min()
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::http_client::wire::{Outgoing, Wire};

    fn get(path: &str) -> Wire {
        Wire::Http(Outgoing {
            method: "GET",
            path: path.to_owned(),
            ..Outgoing::default()
        })
    }

    fn chosen(faults: &mut Faults, path: &str, headers: &[&str]) -> Result<Vec<String>, String> {
        let wire = get(path);
        let request = ObservedRequest::of(&wire, "administrator");
        let values: Vec<HeaderValue> = headers
            .iter()
            .map(|text| HeaderValue::from_str(text).expect("a header"))
            .collect();
        let chosen = faults.choose(Recipient::Engine, &request, &values);
        chosen.map(|chosen| chosen.names())
    }

    #[test]
    fn those_that_are_on_count_the_requests_that_they_touch() {
        let mut faults = Faults::read(&[]).expect("faults");
        faults.switch_on("warning", Some(2)).expect("a fault");
        faults.switch_on("internal-error", None).expect("a fault");
        faults.save_as_initial();
        let warned = vec!["warning".to_owned(), "internal-error".to_owned()];
        let others = vec!["internal-error".to_owned()];
        for _ in 0..2 {
            assert_eq!(chosen(&mut faults, "/health", &[]), Ok(others.clone()));
            assert_eq!(chosen(&mut faults, "/v1/data/a", &[]), Ok(warned.clone()));
        }
        assert_eq!(chosen(&mut faults, "/v1/data/a", &[]), Ok(others));
        faults.reset();
        assert_eq!(chosen(&mut faults, "/v1/data/a", &[]), Ok(warned));
        assert!(faults.switch_off("warning"));
        assert!(!faults.switch_off("warning"));
    }

    #[test]
    fn every_path_is_touched_unless_the_fault_says_otherwise() {
        let mut faults = Faults::read(&[]).expect("faults");
        for path in ["/", "/health", "/v1/data/a/b/c", "/v1/policies/a%2Fb"] {
            let names = chosen(&mut faults, path, &["hang"]);
            assert_eq!(names, Ok(vec!["hang".to_owned()]), "{path}");
        }
    }

    #[test]
    fn a_header_asks_for_what_there_is_and_for_what_touches() {
        let mut faults = Faults::read(&[]).expect("faults");
        type MatchResult<'a> = Result<&'a [&'a str], &'a str>;
        let cases: [(&[&str], MatchResult<'_>); 8] = [
            (&["undefined"], Ok(&["undefined"])),
            (
                &["undefined, slow", "hang"],
                Ok(&["undefined", "slow", "hang"]),
            ),
            (&["{\"delay\": 5}"], Ok(&[HEADER])),
            (
                &["engine/v1/data/put/create-is-200"],
                Err("the fault `engine/v1/data/put/create-is-200` does not touch this request"),
            ),
            (
                &["undefind"],
                Err("no fault is named `undefind`; did you mean `undefined`?"),
            ),
            (
                &["engine/v1/data/put/nothing"],
                Err("no fault is named `engine/v1/data/put/nothing`"),
            ),
            (
                &["{\"delay\""],
                Err("the header conformance-fault: EOF while parsing an object at line 1 column 8"),
            ),
            (
                &["undefined-document"],
                Err("the fault `undefined-document` does not touch this request"),
            ),
        ];
        for (headers, expected) in cases {
            let expected = expected
                .map(|names| names.iter().map(|&name| name.to_owned()).collect())
                .map_err(str::to_owned);
            assert_eq!(
                chosen(&mut faults, "/v1/data/a", headers),
                expected,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn no_more_are_on_than_may_be() {
        let mut faults = Faults::read(&[]).expect("faults");
        let many: String = (0..=MAX_FAULTS)
            .map(|number| format!("- {{fault: f{number}, close: true}}\n"))
            .collect();
        assert!(faults.define_all(&many).is_err());
        assert!(faults.on.is_empty());
        let (few, _) = many.split_at(many.len() - "- {fault: f100, close: true}\n".len());
        assert_eq!(faults.define_all(few), Ok(()));
        // Enabling the same again does not count.
        assert_eq!(faults.define_all(few), Ok(()));
    }
}
