//! HTML report: one self-contained page of one run, or of several side by side.
//!
//! It is complete and readable without its script, which only filters. All data from servers is
//! treated as hostile: it is escaped and truncated, its control characters are shown, and the
//! page's content policy allows only the script and style of this folder.

mod clause;
mod exchange;
mod filter;
mod page;
mod runs;
mod score;
mod site;
mod text;
mod undocumented_behaviour;

use super::Digest;
use runs::Runs;

pub use exchange::trim;
pub use site::{Implementation, Page, site};

/// Style sheet of the site: that of the report, and the site's own.
fn style() -> String {
    [page::STYLE, include_str!("site/style.css")].concat()
}

/// Renders the page of these runs, in this order.
pub(super) fn render(digests: &[Digest]) -> String {
    text::written(page::page(&Runs::of(digests)))
}

#[cfg(test)]
mod tests;
