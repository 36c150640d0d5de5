//! Section `caching`.

use std::time::Duration;

use rego::CacheLimits;
use serde::Deserialize;

use super::seconds::Seconds;

/// Raw section `caching`.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawCaching {
    #[serde(default)]
    inter_query_builtin_cache: RawResponses,
    #[serde(default)]
    inter_query_builtin_value_cache: RawValues,
}

/// Raw settings of the cache of responses to `http.send`.
#[derive(Debug, Default, Deserialize)]
struct RawResponses {
    max_size_bytes: Option<u64>,
    forced_eviction_threshold_percentage: Option<u64>,
    stale_entry_eviction_period_seconds: Option<Seconds>,
}

/// Raw settings of the cache of values derived from operands, such as compiled patterns.
#[derive(Debug, Default, Deserialize)]
struct RawValues {
    max_num_entries: Option<usize>,
    #[serde(default)]
    named: RawNamed,
}

#[derive(Debug, Default, Deserialize)]
struct RawNamed {
    graphql: Option<RawCache>,
    /// Cache of token verifications; without effect, because verifications are not cached.
    io_jwt: Option<RawCache>,
    io_jwt_keys: Option<RawCache>,
}

#[derive(Debug, Default, Deserialize)]
struct RawCache {
    max_num_entries: Option<usize>,
    disabled: Option<bool>,
}

impl RawCaching {
    /// Returns the cache limits. A limit of 0 means unlimited.
    pub(super) fn limits(&self) -> Result<CacheLimits, String> {
        let defaults = CacheLimits::default();
        let responses = &self.inter_query_builtin_cache;
        let values = &self.inter_query_builtin_value_cache;
        let named = &values.named;
        for (name, cache) in [
            ("graphql", &named.graphql),
            ("io_jwt", &named.io_jwt),
            ("io_jwt_keys", &named.io_jwt_keys),
        ] {
            if cache.as_ref().is_some_and(RawCache::is_default) {
                let place = "inter_query_builtin_value_cache.named";
                let reason = "`max_num_entries` or `disabled` is missing";
                return Err(format!("{place}: `{name}`: {reason}"));
            }
        }
        let threshold = responses.forced_eviction_threshold_percentage;
        let threshold = match threshold.unwrap_or(100) {
            percent @ 0..=100 => u128::from(percent),
            _ => {
                let place = "inter_query_builtin_cache";
                let reason = "`forced_eviction_threshold_percentage` must be 0 to 100";
                return Err(format!("{place}: {reason}"));
            }
        };
        let bytes = match responses.max_size_bytes {
            None => defaults.response_bytes as u128 * threshold / 100,
            Some(0) => u128::MAX,
            Some(bytes) => u128::from(bytes) * threshold / 100,
        };
        let period = responses.stale_entry_eviction_period_seconds;
        Ok(CacheLimits {
            response_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            stale_period: period
                .map(|Seconds(period)| period)
                .filter(|period| *period > Duration::ZERO),
            patterns: limit(values.max_num_entries, defaults.patterns),
            graphql: RawCache::limit(named.graphql.as_ref(), defaults.graphql),
            keys: RawCache::limit(named.io_jwt_keys.as_ref(), defaults.keys),
        })
    }
}

impl RawCache {
    fn is_default(&self) -> bool {
        self.max_num_entries.is_none() && self.disabled.is_none()
    }

    fn limit(this: Option<&Self>, default: usize) -> usize {
        match this {
            Some(Self {
                disabled: Some(true),
                ..
            }) => 0,
            Some(cache) => limit(cache.max_num_entries, default),
            None => default,
        }
    }
}

fn limit(configured: Option<usize>, default: usize) -> usize {
    match configured {
        Some(0) => usize::MAX,
        configured => configured.unwrap_or(default),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::defaults("{}", CacheLimits::default())]
    #[case::size_threshold_and_period(
        r#"{"inter_query_builtin_cache": {"max_size_bytes": 1000, "forced_eviction_threshold_percentage": 70, "stale_entry_eviction_period_seconds": 5}}"#,
        CacheLimits {
            response_bytes: 700,
            stale_period: Some(Duration::from_secs(5)),
            ..CacheLimits::default()
        }
    )]
    #[case::size_without_limit(
        r#"{"inter_query_builtin_cache": {"max_size_bytes": 0, "forced_eviction_threshold_percentage": 1, "stale_entry_eviction_period_seconds": 0}}"#,
        CacheLimits { response_bytes: usize::MAX, ..CacheLimits::default() }
    )]
    #[case::no_threshold(
        r#"{"inter_query_builtin_cache": {"forced_eviction_threshold_percentage": 0}}"#,
        CacheLimits { response_bytes: 0, ..CacheLimits::default() }
    )]
    #[case::entries_and_disabled_keys(
        r#"{"inter_query_builtin_value_cache": {"max_num_entries": 3, "named": {"graphql": {"max_num_entries": 0}, "io_jwt_keys": {"max_num_entries": 5, "disabled": true}}}}"#,
        CacheLimits { patterns: 3, graphql: usize::MAX, keys: 0, ..CacheLimits::default() }
    )]
    #[case::enabled_without_limit(
        r#"{"inter_query_builtin_value_cache": {"named": {"io_jwt": {"disabled": false}, "graphql": {"disabled": false}}}}"#,
        CacheLimits::default()
    )]
    fn limits_are_those_of_the_section(
        #[case] json: &str,
        #[case] expected: CacheLimits,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let read = |json: &str| -> Result<_, Box<dyn std::error::Error>> {
            let shape: RawCaching = serde_json::from_str(json)?;
            Ok(shape.limits()?)
        };
        assert_eq!(read(json)?, expected);
        Ok(())
    }
}
