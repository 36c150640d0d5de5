//! AWS credentials in profile files.

use std::path::PathBuf;

use super::{Key, region};
use crate::config::AwsProfile;
use crate::plugins::credentials::{text, variable};

/// Name of the default profile.
const PROFILE: &str = "default";

/// Reads the key of a profile.
///
/// # Errors
/// When the file cannot be read, or the profile is incomplete.
pub(super) async fn key(profile: &AwsProfile) -> Result<Key, String> {
    let path = profile.path.clone().or_else(|| {
        let named = variable("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
        named.or_else(|| Some(std::env::home_dir()?.join(".aws/credentials")))
    });
    let path = path.ok_or("there is no home directory for the credentials of AWS")?;
    let text = text(&path).await?;
    let wrong = |reason: &str| format!("file `{}`: {reason}", path.display());
    let name = profile.profile.clone().or_else(|| variable("AWS_PROFILE"));
    let name = name.as_deref().unwrap_or(PROFILE);
    let setting = |key: &str| setting(&text, name, key);
    let required =
        |key: &str| setting(key).ok_or_else(|| wrong(&format!("no `{key}` in profile `{name}`")));
    Ok(Key {
        access: required("aws_access_key_id")?,
        secret: required("aws_secret_access_key")?,
        region: region(profile.aws_region.as_ref())?,
        token: setting("aws_session_token"),
        end: None,
    })
}

/// Value of a key in a section of a file, if present and not empty.
fn setting(text: &str, section: &str, key: &str) -> Option<String> {
    let mut inside = false;
    let mut value = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            inside = name
                .strip_suffix(']')
                .is_some_and(|name| name.trim() == section);
        } else if inside
            && let Some((name, text_value)) = line.split_once('=')
            && name.trim() == key
        {
            value = Some(text_value.trim().to_owned());
        }
    }
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::setting;

    #[rstest]
    #[case::default("default", "key", Some("one"))]
    #[case::spaces("other", "key", Some("a=b"))]
    #[case::empty("other", "empty", None)]
    #[case::missing("other", "none", None)]
    #[case::broken_section("last", "key", None)]
    #[case::outside("", "key", None)]
    fn settings_are_those_of_their_section(
        #[case] section: &str,
        #[case] key: &str,
        #[case] expected: Option<&str>,
    ) {
        let text = "key = outside\n[default]\nkey=one\n# key = no\n; key = no\n\n[ other ]\n \
                    key = a=b \nempty =\n[last\nkey = broken\n";
        let found = setting(text, section, key);
        assert_eq!(found.as_deref(), expected);
    }
}
