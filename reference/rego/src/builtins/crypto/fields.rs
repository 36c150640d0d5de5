//! Fields of a certificate.

use crate::builtins::keys::public_key::{AlgorithmIdentifier, PublicKey};
use crate::builtins::keys::reader::{GENERALIZED_TIME, INTEGER, Reader, SEQUENCE, UTC_TIME};
use chrono::{DateTime, FixedOffset, NaiveDate};

/// Tags of the fields by their position.
const VERSION: u8 = 0xa0;
const ISSUER_ID: u8 = 0x81;
const SUBJECT_ID: u8 = 0x82;
const EXTENSIONS: u8 = 0xa3;

/// Fields of a certificate, apart from its extensions unparsed.
#[derive(Debug)]
pub(super) struct Fields<'d> {
    /// DER of the certificate.
    pub(super) raw: &'d [u8],
    /// DER of the part that is signed.
    pub(super) signed: &'d [u8],
    /// Version, from 1 to 3.
    pub(super) version: i64,
    pub(super) serial: &'d [u8],
    pub(super) signature_algorithm: AlgorithmIdentifier<'d>,
    pub(super) issuer: &'d [u8],
    pub(super) not_before: DateTime<FixedOffset>,
    pub(super) not_after: DateTime<FixedOffset>,
    pub(super) subject: &'d [u8],
    pub(super) key: PublicKey<'d>,
    /// Contents of the extensions, if any.
    pub(super) extensions: Option<&'d [u8]>,
    pub(super) signature: Vec<u8>,
}

impl<'d> Fields<'d> {
    /// Parses the certificate at the start of some DER; returns the rest too. `None` if it is
    /// malformed.
    pub(super) fn read(der: &'d [u8]) -> Option<(Self, &'d [u8])> {
        let raw = Reader::new(der).raw(SEQUENCE)?;
        let rest = der.get(raw.len()..)?;
        let mut certificate = Reader::new(raw).nested(SEQUENCE)?;
        let signed = certificate.raw(SEQUENCE)?;
        let outer_algorithm = certificate.read(SEQUENCE)?;

        let mut parts = Reader::new(signed).nested(SEQUENCE)?;
        let version = version(&mut parts)?;
        let serial = parts.integer(INTEGER)?;
        let inner_algorithm = parts.read(SEQUENCE)?;
        // The signed part repeats the algorithm, so that nobody can exchange it.
        let is_valid =
            serial.first().is_some_and(|first| *first < 0x80) && inner_algorithm == outer_algorithm;
        is_valid.then_some(())?;
        let issuer = parts.raw(SEQUENCE)?;
        let mut validity = parts.nested(SEQUENCE)?;
        let (not_before, not_after) = (time(&mut validity)?, time(&mut validity)?);
        let subject = parts.raw(SEQUENCE)?;
        let key = PublicKey::read(parts.raw(SEQUENCE)?)?;
        let extensions = extensions(&mut parts, version)?;
        let fields = Self {
            raw,
            signed,
            version,
            serial,
            signature_algorithm: AlgorithmIdentifier::read(inner_algorithm)?,
            issuer,
            not_before,
            not_after,
            subject,
            key,
            extensions,
            signature: certificate.bit_string()?.right_aligned(),
        };
        Some((fields, rest))
    }
}

/// Returns the version, from 1 to 3; 1 if it is absent.
fn version(parts: &mut Reader<'_>) -> Option<i64> {
    let Some(version) = parts.optional(VERSION)? else {
        return Some(1);
    };
    let mut version = Reader::new(version);
    let number = version.small_integer(INTEGER)?;
    let is_known = (0..3).contains(&number) && version.is_empty();
    is_known.then_some(number + 1)
}

/// Returns the contents of the extensions, if the version has any.
fn extensions<'d>(parts: &mut Reader<'d>, version: i64) -> Option<Option<&'d [u8]>> {
    if version > 1 {
        parts.optional(ISSUER_ID)?;
        parts.optional(SUBJECT_ID)?;
    }
    match version {
        3 => parts.optional(EXTENSIONS),
        _ => Some(None),
    }
}

/// Parses a time: two or four digits of the year, then those of the other parts, of which only the
/// seconds of a short year are optional, and a zone.
pub(super) fn time(reader: &mut Reader<'_>) -> Option<DateTime<FixedOffset>> {
    let (digits, is_short) = match reader.any()? {
        (UTC_TIME, text) => (text, true),
        (GENERALIZED_TIME, text) => (text, false),
        _ => return None,
    };
    let text = str::from_utf8(digits).ok()?;
    let zone_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, zone) = text.split_at(zone_at);
    let (year, rest) = digits.split_at_checked(if is_short { 2 } else { 4 })?;
    let year: i32 = year.parse().ok()?;
    let year = match (is_short, year) {
        (true, ..50) => year + 2000,
        (true, _) => year + 1900,
        (false, _) => year,
    };
    let part = |at: usize| rest.get(at..at + 2)?.parse::<u32>().ok();
    let seconds = match rest.len() {
        10 => part(8)?,
        8 if is_short => 0,
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(year, part(0)?, part(2)?)?;
    let local = date.and_hms_opt(part(4)?, part(6)?, seconds)?;
    local.and_local_timezone(offset(zone)?).single()
}

/// Parses the offset of a zone: `Z`, or hours and minutes that are not both zero.
fn offset(zone: &str) -> Option<FixedOffset> {
    if zone == "Z" {
        return FixedOffset::east_opt(0);
    }
    let (sign, digits) = zone.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let is_number = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i32 = digits.parse().ok().filter(|_| is_number)?;
    let (hours, minutes) = (number / 100, number % 100);
    let is_valid = number != 0 && hours <= 24 && minutes < 60;
    let seconds = sign * (hours * 60 + minutes) * 60;
    is_valid.then(|| FixedOffset::east_opt(seconds)).flatten()
}
