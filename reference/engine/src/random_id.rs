//! Random identifiers.

use tracing::error;

/// A random UUID.
pub(super) fn random() -> String {
    let mut bytes = [0; 16];
    if let Err(failure) = getrandom::fill(&mut bytes) {
        error!(%failure, "the system's random number generator failed");
    }
    let uuid = uuid::Builder::from_random_bytes(bytes).into_uuid();
    uuid.hyphenated().to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_random_uuid_has_its_version_and_variant() {
        let id = super::random();
        let dashes: Vec<usize> = id.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((id.len(), dashes), (36, vec![8, 13, 18, 23]), "{id}");
        assert_eq!(id.get(14..15), Some("4"), "{id}");
        assert!(
            id.get(19..20)
                .is_some_and(|variant| "89ab".contains(variant)),
            "{id}"
        );
        assert_ne!(id, super::random());
    }
}
