//! Counters of the decision log.

/// What became of events.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::engine::plugins) struct Counts {
    /// Those that had to make room, or would have taken too much of it.
    pub(in crate::engine::plugins) no_room: u64,
    /// Those that were too many in one second.
    pub(in crate::engine::plugins) too_fast: u64,
    /// Those of which no policy could say whether they may be shown.
    pub(in crate::engine::plugins) unjudged: u64,
    /// Those that alone are longer than an event or an upload may be.
    pub(in crate::engine::plugins) too_long: u64,
    /// Those that were sent without what non-deterministic functions answered.
    pub(in crate::engine::plugins) without_calls: u64,
    /// Those that could not be written to disk.
    pub(in crate::engine::plugins) unwritten: u64,
    /// Those whose decision was not answered, as they could not be written to disk.
    pub(in crate::engine::plugins) refused: u64,
    /// Those that were damaged on disk.
    pub(in crate::engine::plugins) damaged: u64,
    /// Uploads.
    pub(in crate::engine::plugins) uploads: u64,
    /// Uploads that were not taken.
    pub(in crate::engine::plugins) failed_uploads: u64,
}

impl Counts {
    /// The counts by their names in reports.
    pub(in crate::engine::plugins) fn by_name(&self) -> [(&'static str, u64); 10] {
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
