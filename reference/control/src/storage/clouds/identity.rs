//! Identity of a stored object, by the metadata that its storage reports.

use object_store::{ObjectMeta, PutResult};

use super::super::Identity;

/// Maximum length of an ETag or generation that is stored and sent back, in bytes. Without one, the
/// whole object is read, and writes are unconditional.
const MAX_TAG_BYTES: usize = 1 << 10;

impl Identity {
    /// Returns the identity of an object by its metadata.
    pub(super) fn of(found: &ObjectMeta) -> Self {
        Self {
            e_tag: tag(found.e_tag.as_deref()),
            version: tag(found.version.as_deref()),
            modified: Some(found.last_modified.timestamp_millis()),
            size: found.size,
        }
    }

    /// Returns the identity of a written object of this length.
    pub(super) fn of_written(put: PutResult, length: usize) -> Self {
        Self {
            e_tag: tag(put.e_tag.as_deref()),
            version: tag(put.version.as_deref()),
            modified: None,
            size: length as u64,
        }
    }

    /// Whether a found object is certainly this one. A write reports less than a HEAD request.
    pub(super) fn matches(&self, found: &Self) -> bool {
        fn are_equal<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> Option<bool> {
            Some(one? == other?)
        }
        let reported = [
            are_equal(self.e_tag.as_ref(), found.e_tag.as_ref()),
            are_equal(self.version.as_ref(), found.version.as_ref()),
        ];
        let modified = are_equal(self.modified.as_ref(), found.modified.as_ref());
        self.size == found.size
            && reported.contains(&Some(true))
            && !reported.contains(&Some(false))
            && modified != Some(false)
    }
}

/// Returns an ETag or generation, unless it is empty or too long.
fn tag(reported: Option<&str>) -> Option<String> {
    let reported = reported.filter(|tag| (1..=MAX_TAG_BYTES).contains(&tag.len()));
    reported.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty(0, false)]
    #[case::short(1, true)]
    #[case::longest(MAX_TAG_BYTES, true)]
    #[case::too_long(MAX_TAG_BYTES + 1, false)]
    fn tags_that_are_empty_or_too_long_tell_nothing(#[case] length: usize, #[case] expected: bool) {
        assert_eq!(tag(Some(&"t".repeat(length))).is_some(), expected);
    }

    #[rstest]
    #[case::same_tag("e - 1 5", "e - 1 5", true)]
    #[case::same_version("e 7 1 5", "e 7 1 5", true)]
    #[case::less_known_than_found("e - - 5", "e 7 1 5", true)]
    #[case::same_version_without_a_tag("- 7 1 5", "e 7 1 5", true)]
    #[case::other_tag("e - 1 5", "f - 1 5", false)]
    #[case::other_version("e 7 1 5", "e 8 1 5", false)]
    #[case::other_tag_of_the_version("f 7 1 5", "e 7 1 5", false)]
    #[case::other_time("e - 1 5", "e - 2 5", false)]
    #[case::other_size("e - 1 5", "e - 1 6", false)]
    #[case::nothing_that_distinguishes_them("- - 1 5", "- - 1 5", false)]
    #[case::tag_against_version("e - 1 5", "- 7 1 5", false)]
    fn objects_are_told_apart(#[case] known: &str, #[case] found: &str, #[case] expected: bool) {
        let identity = |text: &str| {
            let mut parts = text.split(' ').map(|part| match part {
                "-" => None,
                part => Some(part.to_owned()),
            });
            let mut next = || parts.next().flatten();
            Identity {
                e_tag: next(),
                version: next(),
                modified: next().and_then(|modified| modified.parse().ok()),
                size: next()
                    .and_then(|size| size.parse().ok())
                    .unwrap_or_default(),
            }
        };
        let is_of = identity(known).matches(&identity(found));
        assert_eq!(is_of, expected);
    }
}
