//! Paths of rules: their segments are literal names, whatever characters they contain.

use super::tables::*;
use crate::rules::engine::module;
use crate::scenario::*;

/// Expects that a package with special characters in its name is found, and that no segment is
/// interpreted as an expression that refers to another rule.
pub(super) fn plain_text() -> Scenario {
    let odd = put("/v1/policies/{ns}").text("text/plain", module("{ns}[\"a[0]; b%\"]", RED));
    scenario()
        .given(odd)
        .when(filter("a%5B0%5D%3B%20b%25/include", ALL).expect(ALL.red_rows(&fruits())))
        .given(put("/v1/policies/{ns}.plain").text("text/plain", module("{ns}.plain", RED)))
        .when(filter("plain/include", ALL).expect(ALL.red_rows(&fruits())))
        .each(
            [
                "plain/include%3B%20true",
                "plain/include%0Atrue",
                "plain.include",
                "plain%5B%22include%22%5D",
                "x%22%5D%3B%20data.{ns}.plain.include%3B%20data%5B%22{ns}",
            ],
            |scenario, path| scenario.when(filter(path, ALL).expect(lacks(QUERY))),
        )
}
