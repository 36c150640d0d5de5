//! Durations in the configuration.

use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// Maximum duration: ten years.
const MAX_SECONDS: f64 = 10.0 * 366.0 * 24.0 * 3600.0;

/// Duration in seconds, possibly with a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seconds(pub(crate) Duration);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        match (0.0..=MAX_SECONDS).contains(&seconds) {
            true => Ok(Self(Duration::from_secs_f64(seconds))),
            false => Err(D::Error::custom(
                "expected a number of seconds from 0 to ten years",
            )),
        }
    }
}

/// Delay between two runs of a plugin: a random duration from `least` to `most`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Delay {
    pub(crate) least: Duration,
    pub(crate) most: Duration,
}

impl Delay {
    /// Validates the delay of a section, or returns the default.
    pub(super) fn of(
        least: Option<Seconds>,
        most: Option<Seconds>,
        default: [u64; 2],
    ) -> Result<Self, String> {
        let [default_min, default_max] = default.map(Duration::from_secs);
        match (least, most) {
            (None, None) => Ok(Self {
                least: default_min,
                most: default_max,
            }),
            (Some(_), None) => Err("`max_delay_seconds` is missing".to_owned()),
            (None, Some(_)) => Err("`min_delay_seconds` is missing".to_owned()),
            (Some(Seconds(least)), Some(Seconds(most))) if least <= most => {
                Ok(Self { least, most })
            }
            _ => Err("`max_delay_seconds` must not be below `min_delay_seconds`".to_owned()),
        }
    }
}

/// Trigger of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trigger {
    /// Periodically.
    #[default]
    Periodic,
    /// Only on an explicit trigger, which this program never issues.
    Manual,
}
