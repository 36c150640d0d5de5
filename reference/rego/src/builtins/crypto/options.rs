//! Options of certificate chain verification.

use std::time::{SystemTime, UNIX_EPOCH};

use super::extensions::USAGES;
use crate::Value;
use crate::builtins::Failure;
use crate::builtins::operand::refuse;
use crate::value::Object;

/// Index of the usage that permits any use.
pub(super) const ANY: usize = 0;

/// Default of the extended key usage: server authentication.
const SERVER: usize = 1;

#[derive(Debug)]
pub(super) struct Options {
    /// Host name that the last certificate must match, unless empty.
    pub(super) host: String,
    /// Time at which the chain has to be valid, in seconds since 1970.
    pub(super) now: i64,
    /// Indexes into [`USAGES`], of which one must be allowed.
    pub(super) usages: Vec<usize>,
}

impl Default for Options {
    fn default() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs();
        Self {
            host: String::new(),
            now: i64::try_from(now).unwrap_or(i64::MAX),
            usages: vec![SERVER],
        }
    }
}

impl Options {
    pub(super) fn read(members: &Object) -> Result<Self, Failure> {
        let mut options = Self::default();
        for (name, value) in members {
            let Some(name) = name.as_str() else {
                return refuse("invalid key option");
            };
            match (name, value) {
                ("DNSName", Value::String(host)) => {
                    host.trim_matches('"').clone_into(&mut options.host);
                }
                ("DNSName", _) => return refuse("'DNSName' should be a string"),
                ("CurrentTime", Value::Number(time)) => match time.as_i64() {
                    Some(time) => options.now = time.div_euclid(1_000_000_000),
                    None => return refuse("'CurrentTime' should be a valid int64 number"),
                },
                ("CurrentTime", _) => return refuse("'CurrentTime' should be a number"),
                ("MaxConstraintComparisons", Value::Number(count)) => {
                    if count.as_i64().is_none() {
                        return refuse("'MaxConstraintComparisons' should be a valid number");
                    }
                }
                ("MaxConstraintComparisons", _) => {
                    return refuse("'MaxConstraintComparisons' should be a number");
                }
                ("KeyUsages", Value::Array(names)) => options.take_usages(names.iter())?,
                ("KeyUsages", Value::Set(names)) => options.take_usages(names.iter())?,
                ("KeyUsages", _) => return refuse("'KeyUsages' should be an Array or Set"),
                _ => return refuse("invalid key option"),
            }
        }
        Ok(options)
    }

    fn take_usages<'n>(&mut self, names: impl Iterator<Item = &'n Value>) -> Result<(), Failure> {
        let mut usages = Vec::new();
        let mut unknown = Vec::new();
        for name in names.filter_map(Value::as_str) {
            let name = name.trim_matches('"');
            match USAGES.iter().position(|(known, _)| *known == name) {
                Some(usage) => usages.push(usage),
                None => unknown.push(name),
            }
        }
        if !unknown.is_empty() {
            return refuse(format!(
                "invalid entries for 'KeyUsages' found: [{}]",
                unknown.join(" ")
            ));
        }
        if !usages.is_empty() {
            self.usages = usages;
        }
        Ok(())
    }
}
