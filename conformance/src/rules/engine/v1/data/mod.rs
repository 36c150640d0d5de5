//! The Data API.

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod patch;
pub(crate) mod post;
pub(crate) mod put;

use crate::scenario::*;

/// Expects that a change with requested metrics returns them, or has no body.
fn done_with_metrics() -> Expectation {
    let handler_timer = "/metrics/timer_server_handler_ns".to_owned();
    either([
        alternative(
            "metrics",
            [
                Check::Status(200),
                Check::Type(handler_timer, vec![Kind::Amount]),
            ],
        ),
        alternative("no content", [Check::Status(204), Check::NoBody]),
    ])
}
