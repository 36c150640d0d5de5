//! Walking a list from page to page: lists that do not end are left.

use std::collections::HashSet;
use std::time::{Duration, Instant};

/// More pages than any walk needs.
const PAGES: usize = 1000;

/// How long reading a list may take; no document says how long an answer may.
pub(crate) const LIST_WITHIN: Duration = Duration::from_secs(60);

/// The cursors of one walk so far.
#[derive(Debug)]
pub(crate) struct Pagination {
    start: Instant,
    cursors: HashSet<String>,
}

impl Pagination {
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            cursors: HashSet::new(),
        }
    }

    /// Notes the cursor of the next page.
    ///
    /// # Errors
    /// A sentence that says why the walk had better not go on.
    pub(crate) fn advance(&mut self, cursor: &str) -> Result<(), String> {
        if !self.cursors.insert(cursor.to_owned()) {
            return Err(format!("the list leads back to the cursor {cursor:?}"));
        }
        if self.cursors.len() >= PAGES || self.start.elapsed() > LIST_WITHIN {
            let (pages, seconds) = (self.cursors.len(), self.start.elapsed().as_secs());
            return Err(format!(
                "the list did not end within {pages} pages and {seconds} s"
            ));
        }
        Ok(())
    }
}
