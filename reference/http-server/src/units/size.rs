//! Sizes of memory on the command line.

/// Parses a size such as `64MiB`, `2GiB` or `1048576`, in bytes.
///
/// # Errors
/// When it is malformed or zero.
pub fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let shift = match unit {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return Err("expected a size such as 64MiB, 2GiB or 1048576".to_owned()),
    };
    let count = digits.parse::<usize>().ok().filter(|count| *count > 0);
    let bytes = count.and_then(|count| count.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a size such as 64MiB, 2GiB or 1048576".to_owned())
}

/// Parses a size as a limit; `0` means no limit.
///
/// # Errors
/// When it is malformed.
pub fn size_or_none(text: &str) -> Result<u64, String> {
    match text {
        "0" => Ok(0),
        text => size(text).map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn amounts_have_units() {
        for (text, bytes) in [
            ("1", Some(1)),
            ("7B", Some(7)),
            ("64KiB", Some(64 << 10)),
            ("512MiB", Some(512 << 20)),
            ("2GiB", Some(2 << 30)),
            ("0", None),
            ("-1", None),
            ("1MB", None),
            ("MiB", None),
            ("", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
    }
}
