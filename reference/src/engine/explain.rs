//! Explanations: the part of a trace that a response includes.

use rego::trace::{Filter, Form, Recorder};

use crate::http::Request;

/// What is kept of a trace, and how it is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Explain {
    filter: Filter,
    form: Form,
}

impl Explain {
    /// What a request asks for by `explain`: the first value that names a part counts. With
    /// `pretty` events are told as lines for people.
    pub(super) fn from_request(request: &Request) -> Option<Self> {
        let given = request.query.iter().filter(|(name, _)| name == "explain");
        let mut given = given.map(|(_, value)| value.as_str());
        let filter = given.find_map(|value| match value {
            "notes" => Some(Filter::Notes),
            "fails" => Some(Filter::Fails),
            "full" => Some(Filter::Full),
            "debug" => Some(Filter::Debug),
            _ => None,
        })?;
        let form = match request.flag("pretty") {
            true => Form::Pretty,
            false => Form::Machine,
        };
        Some(Self { filter, form })
    }

    /// Keeps that much of a trace.
    pub(super) fn recorder(self) -> Recorder {
        Recorder::new(self.filter, self.form)
    }

    /// Whether the trace of a decision is told: of a document that is undefined only the full
    /// one is.
    pub(super) fn shows(self, defined: bool) -> bool {
        defined || self.filter == Filter::Full
    }
}
