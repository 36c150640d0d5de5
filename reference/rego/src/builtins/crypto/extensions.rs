//! Extensions of certificates and of certificate requests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::constraint_syntax::{is_domain, is_mailbox, is_mask};
use crate::Value;
use crate::builtins::keys::reader::{
    BOOLEAN, IDENTIFIER, INTEGER, OCTETS, Reader, SEQUENCE, dotted, identifier,
};
use crate::builtins::pem::encode;
use crate::builtins::url::Url;
use crate::value::lossy;

/// Extended key usages with their names and OIDs, in the order of their numbers.
pub(super) const USAGES: [(&str, &str); 14] = [
    ("KeyUsageAny", "2.5.29.37.0"),
    ("KeyUsageServerAuth", "1.3.6.1.5.5.7.3.1"),
    ("KeyUsageClientAuth", "1.3.6.1.5.5.7.3.2"),
    ("KeyUsageCodeSigning", "1.3.6.1.5.5.7.3.3"),
    ("KeyUsageEmailProtection", "1.3.6.1.5.5.7.3.4"),
    ("KeyUsageIPSECEndSystem", "1.3.6.1.5.5.7.3.5"),
    ("KeyUsageIPSECTunnel", "1.3.6.1.5.5.7.3.6"),
    ("KeyUsageIPSECUser", "1.3.6.1.5.5.7.3.7"),
    ("KeyUsageTimeStamping", "1.3.6.1.5.5.7.3.8"),
    ("KeyUsageOCSPSigning", "1.3.6.1.5.5.7.3.9"),
    (
        "KeyUsageMicrosoftServerGatedCrypto",
        "1.3.6.1.4.1.311.10.3.3",
    ),
    ("KeyUsageNetscapeServerGatedCrypto", "2.16.840.1.113730.4.1"),
    (
        "KeyUsageMicrosoftCommercialCodeSigning",
        "1.3.6.1.4.1.311.2.1.22",
    ),
    (
        "KeyUsageMicrosoftKernelCodeSigning",
        "1.3.6.1.4.1.311.61.1.1",
    ),
];

/// Object identifier of the subject alternative names.
const NAMES: [u64; 4] = [2, 5, 29, 17];

/// Tags of names by their kind.
const EMAIL: u8 = 0x81;
const DNS: u8 = 0x82;
const URI: u8 = 0x86;
const ADDRESS: u8 = 0x87;

/// Unparsed extension.
#[derive(Debug, Clone)]
pub(super) struct Extension {
    pub(super) id: Vec<u64>,
    pub(super) critical: bool,
    pub(super) value: Vec<u8>,
}

/// Subject alternative names, or names of a name constraint.
#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    pub(super) dns: Vec<String>,
    pub(super) emails: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    /// URIs as written.
    pub(super) uris: Vec<String>,
    /// Networks: address and mask as bytes.
    pub(super) networks: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Number in an extension; absent if the extension or the number is.
pub(super) type Limit = Option<i64>;

/// Parsed extensions.
#[derive(Debug, Default, Clone)]
pub(super) struct Extensions {
    pub(super) written: Vec<Extension>,
    pub(super) key_usage: u32,
    /// Basic constraints, if any: whether the certificate is a CA, and the path length limit.
    pub(super) basic: Option<(bool, Limit)>,
    pub(super) names: Names,
    pub(super) has_names: bool,
    pub(super) permitted: Names,
    pub(super) excluded: Names,
    pub(super) constrains_names: bool,
    pub(super) constraints_critical: bool,
    pub(super) key_id: Option<Vec<u8>>,
    pub(super) authority_key_id: Option<Vec<u8>>,
    /// Indexes into [`USAGES`].
    pub(super) usages: Vec<usize>,
    pub(super) other_usages: Vec<Vec<u8>>,
    pub(super) policies: Vec<Vec<u8>>,
    pub(super) mappings: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) inhibit_any: Limit,
    pub(super) inhibit_mapping: Limit,
    pub(super) explicit_policy: Limit,
    pub(super) revocation: Vec<String>,
    pub(super) responders: Vec<String>,
    pub(super) issuers: Vec<String>,
    /// Critical extensions that are not supported.
    pub(super) unhandled: Vec<Vec<u64>>,
}

impl Extensions {
    /// Parses the sequence of extensions of a certificate; `None` when a supported one is malformed.
    pub(super) fn read(der: &[u8]) -> Option<Self> {
        let mut read = Self::default();
        let written = list(der)?;
        for extension in &written {
            if !read.take(extension)? && extension.critical {
                read.unhandled.push(extension.id.clone());
            }
        }
        Some(Self { written, ..read })
    }

    /// Parses the sequence of extensions of a request, of which only the names are supported.
    pub(super) fn read_of_request(der: &[u8]) -> Option<Self> {
        let written = list(der)?;
        let names = match written.iter().find(|extension| extension.id == NAMES) {
            Some(extension) => names(&extension.value)?,
            None => Names::default(),
        };
        Some(Self {
            written,
            names,
            ..Self::default()
        })
    }

    /// Parses one extension; returns whether it is supported.
    fn take(&mut self, extension: &Extension) -> Option<bool> {
        let critical = extension.critical;
        let mut value = Reader::new(&extension.value);
        match *extension.id {
            // Key ids and access to information must not be critical.
            [2, 5, 29, 14 | 35] | [1, 3, 6, 1, 5, 5, 7, 1, 1] if critical => return None,
            [2, 5, 29, 14] => self.key_id = Some(value.read(OCTETS)?.to_vec()),
            [2, 5, 29, 15] => self.key_usage = key_usage(value.bit_string()?.bytes),
            [2, 5, 29, 17] => {
                self.names = names(&extension.value)?;
                self.has_names = true;
                return Some(!self.names.is_empty());
            }
            [2, 5, 29, 19] => self.basic = Some(basic(value.nested(SEQUENCE)?)?),
            [2, 5, 29, 30] => {
                self.constrains_names = true;
                self.constraints_critical = critical;
                return self.take_constraints(value);
            }
            [2, 5, 29, 31] => self.revocation = revocation(value.nested(SEQUENCE)?)?,
            [2, 5, 29, 32] => self.policies = policies(value.nested(SEQUENCE)?)?,
            [2, 5, 29, 33] => self.mappings = mappings(value.nested(SEQUENCE)?)?,
            [2, 5, 29, 35] => {
                let key = value.nested(SEQUENCE)?.optional(0x80)?;
                self.authority_key_id = key.map(<[u8]>::to_vec);
            }
            [2, 5, 29, 36] => {
                let mut limits = value.nested(SEQUENCE)?;
                self.explicit_policy = optional_limit(&mut limits, 0x80)?;
                self.inhibit_mapping = optional_limit(&mut limits, 0x81)?;
            }
            [2, 5, 29, 37] => self.take_usages(value.nested(SEQUENCE)?)?,
            [2, 5, 29, 54] => self.inhibit_any = Some(value.small_integer(INTEGER)?),
            [1, 3, 6, 1, 5, 5, 7, 1, 1] => self.take_access(value.nested(SEQUENCE)?)?,
            _ => return Some(false),
        }
        Some(true)
    }

    fn take_usages(&mut self, mut usages: Reader<'_>) -> Option<()> {
        while !usages.is_empty() {
            let id = usages.identifier()?;
            let dotted = dotted(&identifier(id)?);
            match USAGES.iter().position(|(_, known)| *known == dotted) {
                Some(usage) => self.usages.push(usage),
                None => self.other_usages.push(id.to_vec()),
            }
        }
        Some(())
    }

    fn take_access(&mut self, mut descriptions: Reader<'_>) -> Option<()> {
        while !descriptions.is_empty() {
            let mut description = descriptions.nested(SEQUENCE)?;
            let method = identifier(description.identifier()?)?;
            let Some(place) = description.optional(URI)? else {
                continue;
            };
            let place = lossy(place).into_owned();
            match *method {
                [1, 3, 6, 1, 5, 5, 7, 48, 1] => self.responders.push(place),
                [1, 3, 6, 1, 5, 5, 7, 48, 2] => self.issuers.push(place),
                _ => {}
            }
        }
        Some(())
    }

    /// Parses name constraints; returns whether all kinds of names are supported.
    fn take_constraints(&mut self, mut value: Reader<'_>) -> Option<bool> {
        let mut kinds = value.nested(SEQUENCE)?;
        let (permitted, excluded) = (kinds.optional(0xa0)?, kinds.optional(0xa1)?);
        let subtrees: [&[u8]; 2] = [permitted, excluded].map(Option::unwrap_or_default);
        let is_complete = value.is_empty() && kinds.is_empty();
        if !is_complete || subtrees.iter().all(|subtrees| subtrees.is_empty()) {
            return None;
        }
        let [permitted, excluded] = subtrees.map(Reader::new);
        let all = [
            self.permitted.constrain(permitted)?,
            self.excluded.constrain(excluded)?,
        ];
        Some(all == [true; 2])
    }
}

/// Splits the sequence of extensions, which must be distinct; each is unparsed.
fn list(der: &[u8]) -> Option<Vec<Extension>> {
    let mut written: Vec<Extension> = Vec::new();
    let mut list = Reader::new(der).nested(SEQUENCE)?;
    while !list.is_empty() {
        let mut parts = list.nested(SEQUENCE)?;
        let id = identifier(parts.identifier()?)?;
        let critical = parts.peek(BOOLEAN) && parts.boolean()?;
        let value = parts.read(OCTETS)?.to_vec();
        if written.iter().any(|earlier| earlier.id == id) {
            return None;
        }
        written.push(Extension {
            id,
            critical,
            value,
        });
    }
    Some(written)
}

impl Names {
    fn is_empty(&self) -> bool {
        self.dns.is_empty()
            && self.emails.is_empty()
            && self.addresses.is_empty()
            && self.uris.is_empty()
    }

    /// Parses subtrees of names; returns whether all kinds of names are supported.
    fn constrain(&mut self, mut subtrees: Reader<'_>) -> Option<bool> {
        let mut understood = true;
        while !subtrees.is_empty() {
            let (tag, bytes) = subtrees.nested(SEQUENCE)?.any()?;
            let text = || ascii(bytes);
            match tag {
                EMAIL => {
                    let email = text()?;
                    let is_valid = match email.contains('@') {
                        true => is_mailbox(&email),
                        false => is_domain(&email, true),
                    };
                    self.emails.push(is_valid.then_some(email)?);
                }
                DNS => self.dns.push(text().filter(|name| is_domain(name, true))?),
                URI => {
                    let is_host =
                        |name: &String| is_domain(name, true) && name.parse::<IpAddr>().is_err();
                    self.uris.push(text().filter(is_host)?);
                }
                ADDRESS if matches!(bytes.len(), 8 | 32) => {
                    let (address, mask) = bytes.split_at(bytes.len() / 2);
                    is_mask(mask).then_some(())?;
                    self.networks.push((address.to_vec(), mask.to_vec()));
                }
                ADDRESS => return None,
                _ => understood = false,
            }
        }
        Some(understood)
    }
}

/// Converts the key usage bit string to an integer, first bit lowest.
fn key_usage(bytes: &[u8]) -> u32 {
    let bits = (0_u32..).zip(
        bytes
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1)),
    );
    bits.take(9).map(|(at, bit)| u32::from(bit) << at).sum()
}

fn basic(mut parts: Reader<'_>) -> Option<(bool, Limit)> {
    let signs = parts.peek(BOOLEAN) && parts.boolean()?;
    let limit = optional_limit(&mut parts, INTEGER)?;
    let is_valid = limit.is_none_or(|limit| limit >= 0);
    is_valid.then_some((signs, limit))
}

fn optional_limit(parts: &mut Reader<'_>, tag: u8) -> Option<Limit> {
    match parts.peek(tag) {
        true => parts.small_integer(tag).map(Some),
        false => Some(None),
    }
}

fn names(value: &[u8]) -> Option<Names> {
    let mut names = Names::default();
    let mut list = Reader::new(value).nested(SEQUENCE)?;
    while !list.is_empty() {
        let (tag, bytes) = list.any()?;
        match tag {
            EMAIL => names.emails.push(ascii(bytes)?),
            DNS => names.dns.push(ascii(bytes)?),
            URI => {
                let uri = ascii(bytes)?;
                let url = Url::parse(&uri).ok()?;
                is_domain(&lossy(url.host()), false).then_some(())?;
                names.uris.push(uri);
            }
            ADDRESS => names.addresses.push(address(bytes)?),
            _ => {}
        }
    }
    Some(names)
}

fn ascii(bytes: &[u8]) -> Option<String> {
    bytes.is_ascii().then(|| lossy(bytes).into_owned())
}

/// Parses an IP address of four or sixteen bytes.
pub(super) fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(IpAddr::V4(Ipv4Addr::from(bytes)));
    }
    Some(IpAddr::V6(Ipv6Addr::from(
        <[u8; 16]>::try_from(bytes).ok()?,
    )))
}

/// Parses the CRL distribution points.
fn revocation(mut points: Reader<'_>) -> Option<Vec<String>> {
    let mut places = Vec::new();
    while !points.is_empty() {
        let Some(name) = points.nested(SEQUENCE)?.optional(0xa0)? else {
            continue;
        };
        let mut full = Reader::new(name).nested(0xa0)?;
        while full.peek(URI) {
            places.push(lossy(full.read(URI)?).into_owned());
        }
    }
    Some(places)
}

/// Returns the identifiers of the policies, which must be distinct.
fn policies(mut list: Reader<'_>) -> Option<Vec<Vec<u8>>> {
    let mut policies: Vec<Vec<u8>> = Vec::new();
    while !list.is_empty() {
        let id = list.nested(SEQUENCE)?.large_identifier()?;
        if policies.iter().any(|earlier| earlier == id) {
            return None;
        }
        policies.push(id.to_vec());
    }
    Some(policies)
}

fn mappings(mut list: Reader<'_>) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut mappings = Vec::new();
    while !list.is_empty() {
        let mut pair = list.nested(SEQUENCE)?;
        let issuer = pair.read(IDENTIFIER)?.to_vec();
        mappings.push((issuer, pair.read(IDENTIFIER)?.to_vec()));
    }
    Some(mappings)
}

/// Converts an extension to an object.
pub(super) fn extension_value(extension: &Extension) -> Value {
    let id: Vec<Value> = extension.id.iter().copied().map(Value::from).collect();
    Value::object([
        ("Id", Value::from(id)),
        ("Critical", Value::from(extension.critical)),
        ("Value", Value::from(encode(&extension.value))),
    ])
}

/// Converts the components of a URI to an object.
pub(super) fn uri_value(uri: &str) -> Value {
    let Ok(url) = Url::parse(uri) else {
        return Value::Null;
    };
    let omits_host = !url.scheme.is_empty() && url.opaque.is_empty() && !uri.contains("://");
    let user = match url.userinfo {
        Some(_) => Value::object::<&str>([]),
        None => Value::Null,
    };
    Value::object([
        (
            "ForceQuery",
            Value::from(url.query.is_empty() && uri.contains('?')),
        ),
        ("Fragment", Value::from(&*lossy(&url.fragment))),
        ("Host", Value::from(&*lossy(url.host()))),
        ("OmitHost", Value::from(omits_host)),
        ("Opaque", Value::from(url.opaque)),
        ("Path", Value::from(&*lossy(&url.path))),
        ("RawFragment", Value::from("")),
        ("RawPath", Value::from(url.raw_path.unwrap_or_default())),
        ("RawQuery", Value::from(url.query)),
        ("Scheme", Value::from(url.scheme)),
        ("User", user),
    ])
}
