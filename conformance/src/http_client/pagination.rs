//! Pagination of lists, with a limit for lists that do not end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Maximum number of pages of a list.
const PAGES: usize = 1000;

const MIB: u64 = 1024 * 1024;

/// Maximum size of the pages of one list, in bytes.
const LIST_BYTES: u64 = 64 * MIB;

/// Timeout of reading a list; no document limits the response time.
pub(crate) const LIST_WITHIN: Duration = Duration::from_secs(60);

/// Remaining budget of several lists together, so that a server whose lists do not end exhausts
/// neither memory nor time.
#[derive(Debug)]
pub(crate) struct Listings {
    bytes: AtomicU64,
    milliseconds: AtomicU64,
}

impl Default for Listings {
    /// Budget of a run's scenarios, whose evidence has every page.
    fn default() -> Self {
        Self {
            bytes: AtomicU64::new(4 * LIST_BYTES),
            milliseconds: AtomicU64::new(300_000),
        }
    }
}

impl Listings {
    /// Creates the budget for one inspection of a server's collections, which has its own timeout.
    pub(crate) fn of_server() -> Self {
        Self {
            bytes: AtomicU64::new(LIST_BYTES),
            milliseconds: AtomicU64::new(u64::MAX),
        }
    }

    /// Consumes this part of the budget, and returns whether some is left.
    fn take(&self, bytes: u64, milliseconds: u64) -> bool {
        let subtract = |budget: &AtomicU64, amount: u64| {
            let rest = |budget: u64| Some(budget.saturating_sub(amount));
            let previous = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
            previous.is_ok_and(|previous| previous > amount)
        };
        // Both are consumed, whatever the other returns.
        subtract(&self.bytes, bytes) & subtract(&self.milliseconds, milliseconds)
    }
}

/// State of reading one list.
#[derive(Debug)]
pub(crate) struct Pagination<'a> {
    listings: &'a Listings,
    start: Instant,
    /// Start time of the last page's request.
    page: Instant,
    bytes: u64,
    cursors: HashSet<String>,
}

impl<'a> Pagination<'a> {
    pub(crate) fn start(listings: &'a Listings) -> Self {
        let now = Instant::now();
        Self {
            listings,
            start: now,
            page: now,
            bytes: 0,
            cursors: HashSet::new(),
        }
    }

    /// Records the cursor of the next page, after a page of this size.
    ///
    /// # Errors
    /// A message that explains why reading must stop.
    pub(crate) fn advance(&mut self, cursor: &str, page_bytes: usize) -> Result<(), String> {
        let milliseconds = u64::try_from(self.page.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.page = Instant::now();
        let page_bytes = u64::try_from(page_bytes).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(page_bytes);
        let within_budget = self.listings.take(page_bytes, milliseconds);
        if !self.cursors.insert(cursor.to_owned()) {
            return Err(format!("the list leads back to the cursor {cursor:?}"));
        }
        let (pages, seconds) = (self.cursors.len(), self.start.elapsed().as_secs());
        let read = format!("{pages} pages, {} MiB and {seconds} s", self.bytes / MIB);
        if pages >= PAGES || self.bytes >= LIST_BYTES || self.start.elapsed() > LIST_WITHIN {
            return Err(format!("the list did not end within {read}"));
        }
        if !within_budget {
            return Err(format!(
                "the list did not end within {read}, and no more is read of this server's lists"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::pages(10, None, PAGES, "1000 pages, 0 MiB")]
    #[case::bytes(2 << 20, None, 32, "32 pages, 64 MiB")]
    #[case::one_cursor(10, Some("c"), 2, "leads back to the cursor \"c\"")]
    fn a_walk_ends_by_every_limit(
        #[case] page_bytes: usize,
        #[case] cursor: Option<&str>,
        #[case] pages: usize,
        #[case] reason: &str,
    ) {
        let listings = Listings::default();
        let mut walk = Pagination::start(&listings);
        let mut ended = (0..).map(|page: usize| {
            let next = cursor.map_or_else(|| page.to_string(), str::to_owned);
            (page + 1, walk.advance(&next, page_bytes))
        });
        let found = ended.find_map(|(page, next)| Some((page, next.err()?)));
        let (page, message) = found.unwrap_or_default();
        assert_eq!(page, pages, "{message}");
        assert!(message.contains(reason), "{message}");
    }

    #[test]
    fn walks_share_what_they_may_take() {
        let listings = Listings::of_server();
        for page in 0..3 {
            let mut walk = Pagination::start(&listings);
            let next = walk.advance("c", 30 << 20);
            assert_eq!(next.is_ok(), page < 2, "{next:?}");
        }
        let listings = Listings::default();
        assert!(listings.take(1, 299_999));
        assert!(!listings.take(1, 1), "no time is left");
    }
}
