//! Object identifiers of key algorithms and curves.

use super::curve::Curve;

pub(in crate::builtins) const RSA: &str = "1.2.840.113549.1.1.1";
pub(in crate::builtins) const CURVES: &str = "1.2.840.10045.2.1";
pub(in crate::builtins) const ED25519: &str = "1.3.101.112";

/// Returns the curve with this object identifier.
pub(in crate::builtins) fn curve_of(identifier: &str) -> Option<Curve> {
    match identifier {
        "1.2.840.10045.3.1.7" => Some(Curve::P256),
        "1.3.132.0.34" => Some(Curve::P384),
        "1.3.132.0.35" => Some(Curve::P521),
        _ => None,
    }
}
