//! Validation of names.

use super::{Kind, ValidationError};

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Returns an error if a name is empty, too long, or contains a NUL, which PostgreSQL cannot store.
pub(crate) fn check_name(name: &str) -> Result<(), ValidationError> {
    if name.is_empty() {
        return Err(ValidationError::new("a name cannot be empty"));
    }
    if name.len() > MAX_NAME_BYTES {
        let length = name.len();
        let message = format!("a name has at most {MAX_NAME_BYTES} bytes, this one has {length}");
        return Err(ValidationError::new(message));
    }
    if name.contains('\0') {
        return Err(ValidationError::new("a name cannot hold a NUL character"));
    }
    Ok(())
}

/// Returns an error if the name in the body differs from the name in the path. An empty name in the
/// body counts as absent.
///
/// Serves `control/common/names/bundle-mismatch-refused` and `secret-mismatch-refused`. Sources and
/// stacks are checked in the same way.
pub(super) fn check_same(
    kind: Kind,
    path: &str,
    body: Option<&str>,
) -> Result<(), ValidationError> {
    match body.filter(|name| !name.is_empty()) {
        Some(body) if body != path => Err(ValidationError::new(format!(
            "the body names the {kind} `{body}`, the path names `{path}`"
        ))),
        _ => Ok(()),
    }
}
