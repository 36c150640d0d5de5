//! Errors of `http.send`.

use crate::Value;
use crate::builtins::Failure;
use crate::syntax::Location;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestError {
    /// The description of the request has a wrong type.
    Type(String),
    /// The description of the request is invalid.
    Value(String),
    /// There is no response.
    Network {
        /// Method and URL, with which messages begin.
        request: (String, String),
        /// Cause of the error; absent for a timeout.
        cause: Option<String>,
    },
}

impl RequestError {
    pub(super) fn of(failure: Failure) -> Self {
        match failure {
            Failure::Type(message) => Self::Type(message),
            Failure::Value(message) | Failure::Halt(message) => Self::Value(message),
            Failure::Aborted(ended) => Self::Value(ended.error().message),
        }
    }

    /// Converts the error to a failure of the call.
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Type(message) => Failure::Type(message),
            Self::Value(message) => Failure::Value(message),
            Self::Network {
                request: (method, url),
                cause: None,
            } => Failure::Value(format!("{method} {url}: request timed out")),
            network @ Self::Network { .. } => Failure::Value(network.message()),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Type(message) | Self::Value(message) => message.clone(),
            Self::Network {
                request: (method, url),
                cause,
            } => {
                let cause = cause.as_deref().unwrap_or(
                    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
                );
                format!("{method} \"{url}\": {cause}")
            }
        }
    }

    /// Converts the error to the result of a call that does not raise errors.
    pub(super) fn to_response(&self, location: &Location) -> Value {
        let message = self.message();
        let place = match location.file.is_empty() {
            true => format!("{}:{}", location.row, location.col),
            false => format!("{}:{}", location.file, location.row),
        };
        let (code, message) = match self {
            Self::Network { .. } => ("eval_http_send_network_error", message),
            Self::Type(_) => (
                "eval_http_send_internal_error",
                format!("{place}: eval_type_error: http.send: {message}"),
            ),
            Self::Value(_) => (
                "eval_http_send_internal_error",
                format!("{place}: eval_builtin_error: http.send: {message}"),
            ),
        };
        let error = [
            ("code", Value::from(code)),
            ("message", Value::from(message)),
        ];
        Value::object([
            ("status_code", Value::from(0)),
            ("error", Value::object(error)),
        ])
    }
}
