//! States

use super::super::module;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // A server that answers `GET /health?plugins=true` with 200 has all its plugins in OK.
    Rule::new("plugins-ready-after-start", || {
        scenario()
            .setup("decision-logs")
            .given(get("/health?plugins=true"))
            .given(put("/v1/policies/{ns}").text(
                "text/plain",
                module(
                    "system.health",
                    "{ns}_ready if input.plugins_ready == true\n\n{ns}_not_ready if input.plugins_ready == false",
                ),
            ))
            .when(get("/health/{ns}_ready").keep(status()))
            .when(get("/health/{ns}_not_ready").keep(status()))
    }),
];
