//! What calls may cost, so that a trial makes only those that are certain to be quick, and long
//! ones are counted before they are made.

use super::{Call, Failure};
use crate::Value;
use crate::meter::Ended;

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// As long as the operands are large, but for those whose bits are set, counted from the
    /// first operand: their size does not matter.
    Size(u8),
    /// As long as the product of the operands' sizes is large.
    Product,
    /// A pattern is matched against a text.
    Match,
    /// Nobody knows, or it has effects.
    Any,
}

/// Operands of calls in a trial weigh at most this much, in the units of the meter.
const SIZE: usize = 2048;
const PRODUCT: usize = 256;
const MATCH: usize = 64;

/// Functions of which the size of some operands does not matter.
const SOME: &[(&str, u8)] = &[
    ("count", 0b1),
    ("internal.member_3", 0b100),
    ("is_array", 0b1),
    ("is_boolean", 0b1),
    ("is_null", 0b1),
    ("is_number", 0b1),
    ("is_object", 0b1),
    ("is_set", 0b1),
    ("is_string", 0b1),
    ("object.get", 0b101),
    ("type_name", 0b1),
];

/// Functions whose time and result grow with their operands, and hardly faster.
const ALL: &[&str] = &[
    "abs",
    "all",
    "and",
    "any",
    "array.concat",
    "array.flatten",
    "array.reverse",
    "array.slice",
    "assign",
    "base64.decode",
    "base64.encode",
    "base64.is_valid",
    "base64url.decode",
    "base64url.encode",
    "base64url.encode_no_pad",
    "bits.and",
    "bits.negate",
    "bits.or",
    "bits.xor",
    "cast_array",
    "cast_boolean",
    "cast_null",
    "cast_object",
    "cast_set",
    "cast_string",
    "ceil",
    "contains",
    "crypto.hmac.equal",
    "crypto.hmac.md5",
    "crypto.hmac.sha1",
    "crypto.hmac.sha256",
    "crypto.hmac.sha512",
    "crypto.md5",
    "crypto.sha1",
    "crypto.sha256",
    "div",
    "endswith",
    "eq",
    "equal",
    "floor",
    "gt",
    "gte",
    "hex.decode",
    "hex.encode",
    "indexof",
    "internal.member_2",
    "intersection",
    "io.jwt.decode",
    "json.filter",
    "json.is_valid",
    "json.marshal",
    "json.remove",
    "json.unmarshal",
    "lower",
    "lt",
    "lte",
    "max",
    "min",
    "minus",
    "mul",
    "neq",
    "net.cidr_contains",
    "net.cidr_intersects",
    "net.cidr_is_valid",
    "net.cidr_overlap",
    "object.filter",
    "object.keys",
    "object.remove",
    "object.union",
    "or",
    "plus",
    "rego.metadata.chain",
    "rego.metadata.rule",
    "rem",
    "round",
    "semver.compare",
    "semver.is_valid",
    "set_diff",
    "sort",
    "split",
    "startswith",
    "strings.any_prefix_match",
    "strings.any_suffix_match",
    "strings.count",
    "strings.reverse",
    "substring",
    "sum",
    "time.add_date",
    "time.clock",
    "time.date",
    "time.diff",
    "time.now_ns",
    "time.parse_duration_ns",
    "time.parse_rfc3339_ns",
    "time.weekday",
    "to_number",
    "trim",
    "trim_left",
    "trim_prefix",
    "trim_right",
    "trim_space",
    "trim_suffix",
    "union",
    "upper",
    "urlquery.decode",
    "urlquery.encode",
    "uuid.parse",
];

/// Functions whose result can be as long as the product of their operands.
const PRODUCTS: &[&str] = &["concat", "internal.template_string", "replace", "sprintf"];

/// Functions that match one pattern.
const MATCHES: &[&str] = &["glob.match", "re_match", "regex.match"];

/// Functions that give a part of an operand, which is not made anew.
const PARTS: &[&str] = &["max", "min", "object.get"];

/// The cost of calling a function.
pub(crate) fn cost(name: &str) -> Cost {
    if let Some((_, free)) = SOME.iter().find(|(known, _)| *known == name) {
        return Cost::Size(*free);
    }
    if ALL.contains(&name) {
        return Cost::Size(0);
    }
    if PRODUCTS.contains(&name) {
        return Cost::Product;
    }
    if MATCHES.contains(&name) {
        return Cost::Match;
    }
    Cost::Any
}

/// Whether a function makes its result, and does not only choose it.
pub(crate) fn makes(name: &str) -> bool {
    !PARTS.contains(&name)
}

impl Call<'_> {
    /// Counts a call before it is made.
    ///
    /// # Errors
    /// When the evaluation has to end; a trial does before a call that may take long.
    #[inline]
    pub(crate) fn afford(&self, cost: Cost, operands: &[Value]) -> Result<(), Failure> {
        if self.meter.is_trial() {
            return self.afford_in_trial(cost, operands);
        }
        let units = match cost {
            Cost::Size(0) | Cost::Any => operands.iter().map(size).sum(),
            Cost::Size(_) | Cost::Product | Cost::Match => 0,
        };
        self.spend(units)
    }

    fn afford_in_trial(&self, cost: Cost, operands: &[Value]) -> Result<(), Failure> {
        let (free, most) = match cost {
            Cost::Size(free) => (free, SIZE),
            Cost::Product => (0, PRODUCT),
            Cost::Match => (0, MATCH),
            Cost::Any => return Err(Failure::Ended(Ended::Trial)),
        };
        let counts = |(at, operand): &(usize, &Value)| {
            let is_free = *at < 8 && free & (1 << at) != 0;
            // The characters of texts are counted one by one.
            !is_free || operand.is_string()
        };
        let counted = operands.iter().enumerate().filter(counts);
        let meter = &self.meter;
        meter.admits_within(counted.map(|(_, operand)| operand), most);
        self.check()
    }
}

/// How large an operand is, without a look into its parts.
#[inline]
fn size(operand: &Value) -> usize {
    match operand {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Set(members) => members.len(),
        Value::String(text) => text.len() / 64,
        Value::Bytes(bytes) => bytes.as_bytes().len() / 64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::signature;
    use super::{ALL, MATCHES, PARTS, PRODUCTS, SOME};

    #[test]
    fn every_name_is_that_of_a_function() {
        let some = SOME.iter().map(|(name, _)| name);
        for name in some.chain(ALL).chain(MATCHES).chain(PARTS).chain(PRODUCTS) {
            assert!(signature(name).is_some(), "{name}");
        }
    }
}
