//! Rules for names.

use super::{Kind, ValidationError};

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Refuses a name that is empty, too long, or that a database cannot store.
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

/// Refuses a name in the body that differs from the path. An empty one counts as absent.
///
/// Serves `control/common/names/bundle-mismatch-refused` and `secret-mismatch-refused`; sources
/// and stacks are treated alike.
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
