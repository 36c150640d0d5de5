//! Explanations: the part of a trace that a response includes.

use rego::trace::{Filter, Form, Recorder};

use http_server::Request;

/// Filter and format of an explanation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Explain {
    filter: Filter,
    form: Form,
}

impl Explain {
    /// Parses the parameter `explain`: the first value that names a filter counts. With `pretty`
    /// events are formatted as lines for humans.
    pub(super) fn from_request(request: &Request) -> Option<Self> {
        let values = request.query.iter().filter(|(name, _)| name == "explain");
        let mut values = values.map(|(_, value)| value.as_str());
        let filter = values.find_map(|value| match value {
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

    /// Creates a recorder for this part of a trace.
    pub(super) fn recorder(self) -> Recorder {
        Recorder::new(self.filter, self.form)
    }

    /// Whether the response includes the trace. For an undefined document, it includes only a full
    /// trace.
    pub(super) fn shows(self, defined: bool) -> bool {
        defined || self.filter == Filter::Full
    }
}
