//! Limits of the caches that evaluations share.

use std::time::Duration;

/// Limits of [`Caches`](super::Caches). A limit of 0 disables the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheLimits {
    /// Approximate memory in bytes for responses to `http.send`.
    pub response_bytes: usize,
    /// Interval at which stale responses are removed when the cache is used; if absent, a stale
    /// response remains until the same request is sent again.
    pub stale_period: Option<Duration>,
    /// Maximum number of patterns and JSON schemas.
    pub patterns: usize,
    /// Maximum number of GraphQL schemas.
    pub graphql: usize,
    /// Maximum number of certificates and JSON Web Key sets.
    pub keys: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            response_bytes: 64 << 20,
            stale_period: None,
            patterns: 100,
            graphql: 10,
            keys: 100,
        }
    }
}
