//! Counters of the decision log.

/// Counters of events by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::plugins) struct Counts {
    /// Events that were dropped from a full buffer, or did not fit in it.
    pub(in crate::plugins) no_room: u64,
    /// Events that exceeded the rate limit.
    pub(in crate::plugins) too_fast: u64,
    /// Events for which the mask or drop policy failed.
    pub(in crate::plugins) unjudged: u64,
    /// Events that exceed the limit of an event or an upload on their own.
    pub(in crate::plugins) too_long: u64,
    /// Events that were sent without the results of non-deterministic functions.
    pub(in crate::plugins) without_calls: u64,
    /// Events that could not be written to disk.
    pub(in crate::plugins) unwritten: u64,
    /// Events whose request was refused, because the event could not be written to disk.
    pub(in crate::plugins) refused: u64,
    /// Events that were damaged on disk.
    pub(in crate::plugins) damaged: u64,
    /// Uploads that succeeded.
    pub(in crate::plugins) uploads: u64,
    /// Uploads that failed.
    pub(in crate::plugins) failed_uploads: u64,
}

impl Counts {
    /// Counters by their names in reports.
    pub(in crate::plugins) fn by_name(&self) -> [(&'static str, u64); 10] {
        [
            ("decision_logs_chunks_uploaded", self.uploads),
            ("decision_logs_chunks_upload_failed", self.failed_uploads),
            (
                "decision_logs_dropped_buffer_size_limit_exceeded",
                self.no_room,
            ),
            ("decision_logs_dropped_buffer_write_failed", self.unwritten),
            ("decision_logs_buffer_refused", self.refused),
            ("decision_logs_buffer_damaged", self.damaged),
            ("decision_logs_dropped_rate_limit_exceeded", self.too_fast),
            ("decision_logs_dropped_mask_failed", self.unjudged),
            ("decision_logs_nd_builtin_cache_dropped", self.without_calls),
            ("enc_log_exceeded_upload_size_limit_bytes", self.too_long),
        ]
    }
}
