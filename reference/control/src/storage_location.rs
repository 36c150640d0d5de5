//! Storage locations in canonical form, independent of their spelling in a definition.
//!
//! Two bundles at one location would overwrite each other forever. File names that differ only in
//! case, and names that differ only in percent-encoding, therefore count as the same location: some
//! file systems and servers do not distinguish them. Object names are case-sensitive, as in their
//! storages.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::allowed_hosts;
use super::blocking::{self, JoinFailure};
use super::model::{Aws, Azure, LocationDigests, ObjectStorage};
use super::storage::TargetFile;

/// Host of Google Cloud Storage, which also supports the S3 protocol.
const GOOGLE: &str = "storage.googleapis.com";

/// Domain suffixes of Amazon S3 hosts.
const AMAZON: &[&str] = &[".amazonaws.com", ".amazonaws.com.cn"];

/// Timeout for resolving symbolic links on a disk.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Limit on the number of threads that wait for disks.
static LOOKUPS: Semaphore = Semaphore::const_new(16);

/// Returns the locations of a storage, computed on another thread because disks may block.
///
/// # Errors
/// When the disk does not respond in time.
pub(super) async fn find(
    storage: ObjectStorage,
    roots: Vec<PathBuf>,
) -> Result<LocationDigests, JoinFailure> {
    if storage.filesystem.is_none() {
        return Ok(places(&storage, &roots));
    }
    let permit = tokio::time::timeout(LOOKUP_TIMEOUT, LOOKUPS.acquire()).await;
    let permit = permit.map_err(|_| JoinFailure::TimedOut(LOOKUP_TIMEOUT.as_secs()))?;
    blocking::run(LOOKUP_TIMEOUT, move |_| {
        let places = places(&storage, &roots);
        drop(permit);
        places
    })
    .await
}

/// Returns the locations of a storage. For a file these are the path in the definition, and the
/// path after symbolic links are resolved. `roots` are the folders that may contain files; without
/// them, links are not resolved.
pub(super) fn places(storage: &ObjectStorage, roots: &[PathBuf]) -> LocationDigests {
    let mut places = LocationDigests::default();
    if let Some(aws) = &storage.aws {
        let (server, folder) = endpoint(aws);
        let path = format!("{folder}/{}/", aws.bucket).to_lowercase();
        let key = resolved_segments(&format!("{path}{}", aws.key));
        places.own.insert(digest(&server, &key));
    }
    if let Some(gcp) = &storage.gcp {
        let path = format!("{}/{}", gcp.bucket.to_lowercase(), gcp.object);
        places.own.insert(digest(GOOGLE, &resolved_segments(&path)));
    }
    if let Some(azure) = &storage.azure {
        let (server, folder) = account(azure);
        let path = format!("{folder}/{}/", azure.container).to_lowercase();
        let blob = resolved_segments(&format!("{path}{}", azure.path));
        places.own.insert(digest(&server, &blob));
    }
    if let Some(file) = &storage.filesystem {
        places.is_file = true;
        add_file(&mut places, &file.path);
        if let Ok(target) = TargetFile::new(&file.path, roots) {
            add_file(&mut places, &target.resolved().to_string_lossy());
        }
    }
    places
}

/// Adds the digests of a file's path and of the folders that contain it.
fn add_file(places: &mut LocationDigests, path: &str) {
    let kind = match path.starts_with('/') {
        true => "file /",
        false => "file",
    };
    let path = String::from_utf8_lossy(&decoded(path)).to_lowercase();
    let steps = resolved_segments(&path);
    places.own.insert(digest(kind, &steps));
    let folders = (1..steps.len()).filter_map(|end| steps.get(..end));
    let folders = folders.map(|folder| digest(kind, folder));
    places.folders.extend(folders);
}

/// Returns true if a storage location is below the folder of an owner, `PREFIX/NAME/`.
pub(super) fn is_below(
    storage: &ObjectStorage,
    prefix: &str,
    name: &str,
    roots: &[PathBuf],
) -> bool {
    if name.contains('/') || matches!(name, "." | "..") {
        return false;
    }
    let path = if let Some(aws) = &storage.aws {
        // If the URL has a path, it may be a bucket; the configured bucket is then part of the
        // object name.
        match endpoint(aws).1.trim_matches('/') {
            "" => aws.key.clone(),
            _ => return false,
        }
    } else if let Some(gcp) = &storage.gcp {
        gcp.object.clone()
    } else if let Some(azure) = &storage.azure {
        // Servers other than Azure's have the account name in the path.
        match resolved_segments(&account(azure).1).len() {
            0 | 1 => azure.path.clone(),
            _ => return false,
        }
    } else if let Some(file) = &storage.filesystem {
        match TargetFile::new(&file.path, roots) {
            Ok(target) => target.below_root().to_string_lossy().into_owned(),
            Err(_) if file.path.starts_with('/') => return false,
            Err(_) => file.path.clone(),
        }
    } else {
        return true;
    };
    let owner_folder = format!("{prefix}/{name}");
    let split = |text: &str| -> Vec<Vec<u8>> { segments(text.as_bytes()) };
    let is_inside = |path: Vec<Vec<u8>>, owner_folder: Vec<Vec<u8>>| {
        path.len() > owner_folder.len()
            && path.starts_with(&owner_folder)
            && !path.contains(&b"..".to_vec())
    };
    is_inside(split(&path), split(&owner_folder))
        && is_inside(segments(&decoded(&path)), segments(&decoded(&owner_folder)))
}

/// Returns the server of a bucket, and the path in front of the bucket name: a bucket in the host
/// name, then the path of the URL.
fn endpoint(aws: &Aws) -> (String, String) {
    let url = aws.url.as_deref().filter(|url| !url.is_empty());
    let Some(url) = url else {
        return ("s3".to_owned(), String::new());
    };
    let Some((host, server, folder)) = server(url) else {
        return (url.to_lowercase(), String::new());
    };
    if let Some(bucket) = host.strip_suffix(GOOGLE) {
        let bucket = bucket.trim_end_matches('.');
        return (GOOGLE.to_owned(), format!("{bucket}/{folder}"));
    }
    let host_prefix = AMAZON.iter().find_map(|suffix| host.strip_suffix(suffix));
    let Some(host_prefix) = host_prefix else {
        return (server, folder);
    };
    let labels: Vec<&str> = host_prefix.split('.').collect();
    let service = |label: &&str| *label == "s3" || label.starts_with("s3-");
    let index = labels.iter().position(service).unwrap_or_default();
    let bucket = labels.get(..index).unwrap_or_default().join(".");
    ("s3".to_owned(), format!("{bucket}/{folder}"))
}

/// Returns the server of a storage account, and the path of its URL.
fn account(azure: &Azure) -> (String, String) {
    match server(&azure.account_url) {
        Some((_, server, folder)) => (server, folder),
        None => (azure.account_url.to_lowercase(), String::new()),
    }
}

/// Returns three parts of a URL: the host, the host with its port, and the path. The default ports
/// of http and https are equivalent, as are the names of the loopback interface.
fn server(url: &str) -> Option<(String, String, String)> {
    let url = Url::parse(url).ok()?;
    let host = allowed_hosts::canonical(url.host_str()?);
    let server = match url.port_or_known_default() {
        None | Some(80 | 443) => host.clone(),
        Some(port) => format!("{host}:{port}"),
    };
    Some((host, server, url.path().to_owned()))
}

/// Returns the segments of a percent-decoded path, with `..` resolved.
fn resolved_segments(path: &str) -> Vec<Vec<u8>> {
    let mut steps = Vec::new();
    for step in segments(&decoded(path)) {
        match step.as_slice() {
            b".." => drop(steps.pop()),
            _ => steps.push(step),
        }
    }
    steps
}

/// Returns the segments of a path that are neither empty nor `.`.
fn segments(path: &[u8]) -> Vec<Vec<u8>> {
    let segments = path.split(|byte| *byte == b'/');
    let non_empty = segments.filter(|segment| !matches!(*segment, b"" | b"."));
    non_empty.map(<[u8]>::to_vec).collect()
}

/// Percent-decodes a string in one pass until it contains no valid escape.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        bytes.push(byte);
        while let [.., b'%', high, low] = bytes.as_slice()
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            bytes.truncate(bytes.len() - 3);
            bytes.push(high * 16 + low);
        }
    }
    bytes
}

/// Returns the value of a hexadecimal digit.
fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Returns the digest of a location. A digest is stored because a name may be longer than a key of
/// a table.
fn digest(server: &str, steps: &[Vec<u8>]) -> String {
    let mut hash = Sha256::new();
    hash.update(server);
    for step in steps {
        hash.update(b"/");
        hash.update(step);
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rstest::rstest;

    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    /// Groups of storage definitions; all definitions of a group have one location.
    const SAME: &[&[&str]] = &[
        &[
            r#"{"filesystem":{"path":"a/b.tgz"}}"#,
            r#"{"filesystem":{"path":"./a//b.tgz"}}"#,
            r#"{"filesystem":{"path":"a/x/../b.tgz"}}"#,
            r#"{"filesystem":{"path":"A/B.tgz"}}"#,
            r#"{"filesystem":{"path":"a%2Fb.tgz"}}"#,
            r#"{"filesystem":{"path":"a%252fb%252Etgz"}}"#,
            r#"{"filesystem":{"path":"ROOT/a/b.tgz"}}"#,
            r#"{"filesystem":{"path":"link/b.tgz"}}"#,
            r#"{"filesystem":{"path":"ROOT/link/b.tgz"}}"#,
            r#"{"filesystem":{"path":"OTHER/a/b.tgz"}}"#,
        ],
        &[r#"{"filesystem":{"path":"b.tgz"}}"#],
        &[r#"{"filesystem":{"path":"/a/b.tgz"}}"#],
        &[
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r"}}"#,
            r#"{"aws":{"bucket":"B","key":"/k/x","region":"other"}}"#,
            r#"{"aws":{"bucket":"b","key":"k%2fx","region":"r"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"https://s3.r.amazonaws.com"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"https://S3.amazonaws.com.:443/"}}"#,
            r#"{"aws":{"bucket":"k","key":"x","region":"r","url":"https://b.s3.r.amazonaws.com"}}"#,
            r#"{"aws":{"bucket":"k","key":"x","region":"r","url":"https://s3-r.amazonaws.com/b"}}"#,
        ],
        &[r#"{"aws":{"bucket":"b","key":"K/x","region":"r"}}"#],
        &[r#"{"aws":{"bucket":"c","key":"k/x","region":"r"}}"#],
        &[
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://127.0.0.1:9000"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://localhost:9000/"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"https://[::1]:9000"}}"#,
            r#"{"aws":{"bucket":"k","key":"x","region":"r","url":"http://0x7f000001:9000/B"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://[::ffff:127.0.0.1]:9000"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://0.0.0.0:9000"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://[::]:9000"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://[64:ff9b::7f00:1]:9000"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://ip6-localhost:9000"}}"#,
        ],
        &[r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://127.0.0.1:9001"}}"#],
        &[
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"http://minio.example"}}"#,
            r#"{"aws":{"bucket":"b","key":"k/x","region":"r","url":"https://MinIO.example/"}}"#,
        ],
        &[
            r#"{"gcp":{"project":"p","bucket":"b","object":"o/x"}}"#,
            r#"{"gcp":{"project":"q","bucket":"b","object":"o%2fx"}}"#,
            r#"{"aws":{"bucket":"b","key":"o/x","region":"r","url":"https://storage.googleapis.com"}}"#,
            r#"{"aws":{"bucket":"o","key":"x","region":"r","url":"https://b.storage.googleapis.com"}}"#,
        ],
        &[
            r#"{"azure":{"account_url":"https://a.blob.core.windows.net","container":"c","path":"p/x"}}"#,
            r#"{"azure":{"account_url":"https://A.blob.core.windows.net/","container":"C","path":"p//x"}}"#,
            r#"{"azure":{"account_url":"https://a.blob.core.windows.net/c","container":"p","path":"x"}}"#,
        ],
        &[
            r#"{"azure":{"account_url":"https://b.blob.core.windows.net","container":"c","path":"p/x"}}"#,
        ],
        &[
            r#"{"azure":{"account_url":"https://a.blob.core.windows.net","container":"c","path":"P/x"}}"#,
        ],
        &[r#"{"azure":{"account_url":"none","container":"c","path":"p/x"}}"#],
    ];

    #[test]
    fn a_place_has_one_form() -> Tested {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("a"))?;
        std::os::unix::fs::symlink("a", root.join("link"))?;
        std::os::unix::fs::symlink(&root, folder.path().join("other"))?;
        let other = folder.path().join("other");
        let roots = [root.clone(), other.clone()];
        let digests_of = |text: &str| -> Result<BTreeSet<String>, serde_json::Error> {
            let text = text.replace("ROOT", &root.to_string_lossy());
            let text = text.replace("OTHER", &other.to_string_lossy());
            Ok(places(&serde_json::from_str(&text)?, &roots).own)
        };
        for (index, group) in SAME.iter().enumerate() {
            let first = group.first().copied().unwrap_or_default();
            for storage in *group {
                let (digests, first) = (digests_of(storage)?, digests_of(first)?);
                assert!(!digests.is_disjoint(&first), "{storage} is another place");
                for other in SAME.iter().skip(index + 1).copied().flatten() {
                    assert!(
                        digests.is_disjoint(&digests_of(other)?),
                        "{storage} is {other}"
                    );
                }
            }
        }
        assert_eq!(digests_of("{}")?, BTreeSet::new());
        Ok(())
    }

    #[rstest]
    #[case::below(r#"{"filesystem":{"path":"a/b/c"}}"#, true)]
    #[case::other_case(r#"{"filesystem":{"path":"./A//b/c/d"}}"#, true)]
    #[case::escaped(r#"{"filesystem":{"path":"a%2fb%2fc"}}"#, true)]
    #[case::same(r#"{"filesystem":{"path":"a/b"}}"#, false)]
    #[case::longer_name(r#"{"filesystem":{"path":"a/bc/d"}}"#, false)]
    #[case::absolute(r#"{"filesystem":{"path":"/a/b/c"}}"#, false)]
    #[case::other_storage(r#"{"aws":{"bucket":"a","key":"b/c","region":"r"}}"#, false)]
    fn a_file_lies_in_folders(#[case] text: &str, #[case] expected: bool) -> Tested {
        let read = |text: &str| -> Result<LocationDigests, serde_json::Error> {
            Ok(places(&serde_json::from_str(text)?, &[]))
        };
        let outer = read(r#"{"filesystem":{"path":"a/B"}}"#)?;
        let inner = read(text)?;
        assert_eq!(!inner.folders.is_disjoint(&outer.own), expected);
        Ok(())
    }

    #[test]
    fn percent_signs_take_time_in_proportion() {
        let deep = format!("%{}41", "25".repeat(1 << 20));
        assert_eq!(decoded(&deep), b"A");
    }

    #[rstest]
    #[case::alone("%", "%")]
    #[case::cut_off("%4", "%4")]
    #[case::no_digits("%zz%41", "%zzA")]
    #[case::made_of_escapes("%%34%31", "A")]
    #[case::twice("%2541", "A")]
    fn percent_signs_are_decoded(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(decoded(text), expected.as_bytes());
    }

    #[rstest]
    #[case::file(r#"{"filesystem":{"path":"t/ann/x"}}"#, true)]
    #[case::file_below_a_root(r#"{"filesystem":{"path":"/srv/a/t/ann/x"}}"#, true)]
    #[case::file_in_folders(r#"{"filesystem":{"path":"./t//ann/d/x"}}"#, true)]
    #[case::folder_of_the_owner(r#"{"filesystem":{"path":"t/ann"}}"#, false)]
    #[case::owner_with_a_longer_name(r#"{"filesystem":{"path":"t/anna/x"}}"#, false)]
    #[case::other_case(r#"{"filesystem":{"path":"T/ann/x"}}"#, false)]
    #[case::dots(r#"{"filesystem":{"path":"t/ann/../bob/x"}}"#, false)]
    #[case::escaped_dots(r#"{"filesystem":{"path":"t/ann/%2e%2e/bob/x"}}"#, false)]
    #[case::escaped_slash(r#"{"filesystem":{"path":"t%2fann/x"}}"#, false)]
    #[case::other_root(r#"{"filesystem":{"path":"/srv/b/t/ann/x"}}"#, false)]
    #[case::no_prefix(r#"{"filesystem":{"path":"x"}}"#, false)]
    #[case::aws(r#"{"aws":{"bucket":"b","key":"/t/ann/x","region":"r"}}"#, true)]
    #[case::aws_by_url(
        r#"{"aws":{"bucket":"b","key":"t/ann/x","region":"r","url":"https://s3.r.amazonaws.com/"}}"#,
        true
    )]
    #[case::aws_below_a_path(
        r#"{"aws":{"bucket":"b","key":"t/ann/x","region":"r","url":"https://s3.r.amazonaws.com/v"}}"#,
        false
    )]
    #[case::aws_bucket_in_the_host(
        r#"{"aws":{"bucket":"b","key":"t/ann/x","region":"r","url":"https://v.s3.r.amazonaws.com"}}"#,
        false
    )]
    #[case::aws_prefix_as_bucket(r#"{"aws":{"bucket":"t","key":"ann/x","region":"r"}}"#, false)]
    #[case::gcp(r#"{"gcp":{"bucket":"b","object":"t/ann/x"}}"#, true)]
    #[case::gcp_of_another(r#"{"gcp":{"bucket":"b","object":"t/bob/x"}}"#, false)]
    #[case::azure(
        r#"{"azure":{"account_url":"http://127.0.0.1:1/acc","container":"c","path":"t/ann/x"}}"#,
        true
    )]
    #[case::azure_below_a_path(
        r#"{"azure":{"account_url":"https://a.example/c/d","container":"c","path":"t/ann/x"}}"#,
        false
    )]
    #[case::no_storage("{}", true)]
    fn owners_stay_below_their_prefix(#[case] storage: &str, #[case] expected: bool) -> Tested {
        let roots = [PathBuf::from("/srv/a")];
        let read: ObjectStorage = serde_json::from_str(storage)?;
        assert_eq!(is_below(&read, "t", "ann", &roots), expected);
        Ok(())
    }

    #[test]
    fn owners_need_no_prefix() -> Tested {
        let roots = [PathBuf::from("/srv/a")];
        let file: ObjectStorage = serde_json::from_str(r#"{"filesystem":{"path":"a/b/x"}}"#)?;
        assert!(!is_below(&file, "", "a/b", &roots));
        assert!(is_below(&file, "", "a", &roots));
        Ok(())
    }
}
