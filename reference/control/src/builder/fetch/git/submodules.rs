//! Submodules of a commit.

use gix::bstr::ByteSlice;
use gix::{ObjectId, Tree};

use super::{BuildError, failed};

/// File that lists the addresses of submodules.
const FILE: &str = ".gitmodules";

/// Maximum size of `.gitmodules`, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Submodule of a repository.
#[derive(Debug)]
pub(super) struct Submodule {
    /// Path of the submodule's files.
    pub(super) path: String,
    /// Commit of the submodule.
    pub(super) id: ObjectId,
    /// Address; may begin with `./` or `../`.
    pub(super) url: String,
}

/// Finds the submodules at these paths below a folder of a tree. Those without an address are
/// ignored, as by `git`.
///
/// # Errors
/// When `.gitmodules` cannot be read.
pub(super) fn find(
    root: &Tree<'_>,
    folder: &str,
    links: Vec<(String, String, ObjectId)>,
) -> Result<Vec<Submodule>, BuildError> {
    let entry = match links.is_empty() {
        true => None,
        false => root.lookup_entry_by_path(FILE).map_err(failed)?,
    };
    let Some(entry) = entry.filter(|entry| entry.mode().is_blob()) else {
        return Ok(Vec::new());
    };
    let header = root.repo.find_header(entry.object_id()).map_err(failed)?;
    if header.size() > MAX_FILE_BYTES {
        let message = format!("git: `{FILE}` has more than {MAX_FILE_BYTES} bytes");
        return Err(BuildError::sync(message));
    }
    let text = root.repo.find_object(entry.object_id()).map_err(failed)?;
    let refused = |_| BuildError::sync(format!("git: `{FILE}` cannot be read"));
    let file = gix::config::File::from_bytes_no_includes(
        &text.data,
        gix::config::file::Metadata::default(),
        gix::config::file::init::Options::default(),
    );
    let file = file.map_err(refused)?;
    let mut found = Vec::new();
    for section in file.sections_by_name("submodule").into_iter().flatten() {
        let value = |name: &str| Some(section.value(name)?.to_str().ok()?.to_owned());
        let (Some(declared_path), Some(url)) = (value("path"), value("url")) else {
            continue;
        };
        let declared_path = declared_path.trim_end_matches('/');
        let link = links.iter().find(|(link_path, _, _)| match folder {
            "" => link_path == declared_path,
            folder => {
                declared_path
                    .strip_prefix(folder)
                    .and_then(|rest| rest.strip_prefix('/'))
                    == Some(link_path)
            }
        });
        if let Some((_, path, id)) = link {
            found.push(Submodule {
                path: path.clone(),
                id: *id,
                url,
            });
        }
    }
    Ok(found)
}

/// Resolves the address of a submodule: one that begins with `./` or `../` is relative to the
/// address of the repository that contains it.
pub(super) fn resolve_url(url: &str, repository: &str) -> String {
    let (mut base, mut rest) = (repository.trim_end_matches('/'), url);
    if !url.starts_with("./") && !url.starts_with("../") {
        return url.to_owned();
    }
    loop {
        if let Some(tail) = rest.strip_prefix("./") {
            rest = tail;
        } else if let Some(tail) = rest.strip_prefix("../") {
            rest = tail;
            let end = base.rfind(['/', ':']).unwrap_or_default();
            base = base.get(..end).unwrap_or_default();
        } else {
            return format!("{base}/{rest}");
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::absolute("https://b/x", "https://a/r", "https://b/x")]
    #[case::beside("../x", "https://a/o/r.git", "https://a/o/x")]
    #[case::above("../../p/x.git", "https://a/o/r/", "https://a/p/x.git")]
    #[case::below_a_path("./x", "/srv/r", "/srv/r/x")]
    #[case::beside_an_scp_address("../x", "git@a:o/r", "git@a:o/x")]
    #[case::above_the_host("../../../../x", "https://a/r", "https/x")]
    #[case::absolute_path("/etc/x", "https://a/r", "/etc/x")]
    fn addresses_may_be_beside_the_repository(
        #[case] url: &str,
        #[case] repository: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(resolve_url(url, repository), expected);
    }
}
