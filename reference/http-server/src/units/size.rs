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
    use rstest::rstest;

    use super::size;

    #[rstest]
    #[case::no_unit("1", Some(1))]
    #[case::bytes("7B", Some(7))]
    #[case::kibibytes("64KiB", Some(64 << 10))]
    #[case::mebibytes("512MiB", Some(512 << 20))]
    #[case::gibibytes("2GiB", Some(2 << 30))]
    #[case::zero("0", None)]
    #[case::negative("-1", None)]
    #[case::decimal_unit("1MB", None)]
    #[case::no_number("MiB", None)]
    #[case::empty("", None)]
    #[case::too_many("99999999999GiB", None)]
    fn amounts_have_units(#[case] text: &str, #[case] bytes: Option<usize>) {
        assert_eq!(size(text).ok(), bytes);
    }
}
