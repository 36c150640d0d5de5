//! Extensions of certificates and of certificate requests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::tlv::{self, BITS, BOOLEAN, Element, IDENTIFIER, INTEGER, OCTETS};
use crate::Value;
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
    /// Parses the sequence of extensions; `None` when a supported one is malformed.
    pub(super) fn read(der: &[u8]) -> Option<Self> {
        let mut read = Self::default();
        for (_, extension) in tlv::sequence(der)? {
            let (id, critical, value) = match *tlv::all(extension)? {
                [(IDENTIFIER, id), (OCTETS, value)] => (id, false, value),
                [(IDENTIFIER, id), (BOOLEAN, critical), (OCTETS, value)] => {
                    (id, critical != [0], value)
                }
                _ => return None,
            };
            let id = tlv::identifier(id)?;
            if read.written.iter().any(|earlier| earlier.id == id) {
                return None;
            }
            if !read.take(&id, value, critical)? && critical {
                read.unhandled.push(id.clone());
            }
            read.written.push(Extension {
                id,
                critical,
                value: value.to_vec(),
            });
        }
        Some(read)
    }

    /// Parses one extension; returns whether it is supported.
    fn take(&mut self, id: &[u64], value: &[u8], critical: bool) -> Option<bool> {
        match id {
            [2, 5, 29, 14] => self.key_id = Some(tlv::only(value, OCTETS)?.to_vec()),
            [2, 5, 29, 15] => self.key_usage = key_usage(tlv::only(value, BITS)?),
            [2, 5, 29, 17] => {
                self.names = names(value)?;
                self.has_names = true;
                return Some(!self.names.is_empty());
            }
            [2, 5, 29, 19] => self.basic = Some(basic(value)?),
            [2, 5, 29, 30] => {
                self.constrains_names = true;
                self.constraints_critical = critical;
                return self.take_constraints(value);
            }
            [2, 5, 29, 31] => self.revocation = revocation(value)?,
            [2, 5, 29, 32] => self.policies = identifiers(value)?,
            [2, 5, 29, 33] => self.mappings = mappings(value)?,
            [2, 5, 29, 35] => {
                let parts = tlv::sequence(value)?;
                let key = parts.iter().find(|(tag, _)| *tag == 0x80);
                self.authority_key_id = key.map(|(_, key)| key.to_vec());
            }
            [2, 5, 29, 36] => {
                for (tag, number) in tlv::sequence(value)? {
                    match tag {
                        0x80 => self.explicit_policy = Some(tlv::small(number)?),
                        0x81 => self.inhibit_mapping = Some(tlv::small(number)?),
                        _ => {}
                    }
                }
            }
            [2, 5, 29, 37] => self.take_usages(value)?,
            [2, 5, 29, 54] => self.inhibit_any = Some(tlv::small(tlv::only(value, INTEGER)?)?),
            [1, 3, 6, 1, 5, 5, 7, 1, 1] => self.take_access(value)?,
            _ => return Some(false),
        }
        Some(true)
    }

    fn take_usages(&mut self, value: &[u8]) -> Option<()> {
        for (_, id) in tlv::sequence(value)? {
            let dotted = tlv::dotted(&tlv::identifier(id)?);
            match USAGES.iter().position(|(_, known)| *known == dotted) {
                Some(usage) => self.usages.push(usage),
                None => self.other_usages.push(id.to_vec()),
            }
        }
        Some(())
    }

    fn take_access(&mut self, value: &[u8]) -> Option<()> {
        for (_, description) in tlv::sequence(value)? {
            let [(IDENTIFIER, method), (0x86, place)] = *tlv::all(description)? else {
                continue;
            };
            let place = String::from_utf8(place.to_vec()).ok()?;
            match tlv::dotted(&tlv::identifier(method)?).as_str() {
                "1.3.6.1.5.5.7.48.1" => self.responders.push(place),
                "1.3.6.1.5.5.7.48.2" => self.issuers.push(place),
                _ => {}
            }
        }
        Some(())
    }

    /// Parses name constraints; returns whether all kinds of names are supported.
    fn take_constraints(&mut self, value: &[u8]) -> Option<bool> {
        let mut understood = true;
        for (tag, subtrees) in tlv::sequence(value)? {
            let names = match tag {
                0xa0 => &mut self.permitted,
                0xa1 => &mut self.excluded,
                _ => return None,
            };
            for (_, subtree) in tlv::all(subtrees)? {
                let (base, _) = tlv::first(subtree)?;
                understood &= names.constrain(base)?;
            }
        }
        Some(understood)
    }
}

impl Names {
    fn is_empty(&self) -> bool {
        self.dns.is_empty()
            && self.emails.is_empty()
            && self.addresses.is_empty()
            && self.uris.is_empty()
    }

    fn constrain(&mut self, (tag, bytes): Element<'_>) -> Option<bool> {
        let text = || String::from_utf8(bytes.to_vec()).ok();
        match tag {
            0x81 => self.emails.push(text()?),
            0x82 => self.dns.push(text()?),
            0x86 => self.uris.push(text()?),
            0x87 if matches!(bytes.len(), 8 | 32) => {
                let (address, mask) = bytes.split_at(bytes.len() / 2);
                self.networks.push((address.to_vec(), mask.to_vec()));
            }
            0x87 => return None,
            _ => return Some(false),
        }
        Some(true)
    }
}

/// Converts the key usage bit string to an integer, first bit lowest.
fn key_usage(bits: &[u8]) -> u32 {
    let bytes = bits.get(1..).unwrap_or_default();
    let bits = (0_u32..).zip(
        bytes
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1)),
    );
    bits.take(9).map(|(at, bit)| u32::from(bit) << at).sum()
}

fn basic(value: &[u8]) -> Option<(bool, Limit)> {
    match *tlv::sequence(value)? {
        [] => Some((false, None)),
        [(BOOLEAN, signs)] => Some((signs != [0], None)),
        [(BOOLEAN, signs), (INTEGER, limit)] => Some((signs != [0], Some(tlv::small(limit)?))),
        [(INTEGER, limit)] => Some((false, Some(tlv::small(limit)?))),
        _ => None,
    }
}

fn names(value: &[u8]) -> Option<Names> {
    let mut names = Names::default();
    for (tag, bytes) in tlv::sequence(value)? {
        let text = || {
            String::from_utf8(bytes.to_vec())
                .ok()
                .filter(|text| text.is_ascii())
        };
        match tag {
            0x81 => names.emails.push(text()?),
            0x82 => names.dns.push(text()?),
            0x86 => {
                let uri = text()?;
                Url::parse(&uri).ok()?;
                names.uris.push(uri);
            }
            0x87 => names.addresses.push(address(bytes)?),
            _ => {}
        }
    }
    Some(names)
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
fn revocation(value: &[u8]) -> Option<Vec<String>> {
    let mut places = Vec::new();
    for (_, point) in tlv::sequence(value)? {
        for (tag, name) in tlv::all(point)? {
            let Some(((0xa0, full), _)) = tlv::first(name).filter(|_| tag == 0xa0) else {
                continue;
            };
            for (tag, place) in tlv::all(full)? {
                if tag == 0x86 {
                    places.push(String::from_utf8(place.to_vec()).ok()?);
                }
            }
        }
    }
    Some(places)
}

/// Returns the leading identifier of each inner sequence.
fn identifiers(value: &[u8]) -> Option<Vec<Vec<u8>>> {
    tlv::sequence(value)?
        .into_iter()
        .map(|(_, policy)| match tlv::first(policy)?.0 {
            (IDENTIFIER, id) => Some(id.to_vec()),
            _ => None,
        })
        .collect()
}

fn mappings(value: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    tlv::sequence(value)?
        .into_iter()
        .map(|(_, pair)| match *tlv::all(pair)? {
            [(IDENTIFIER, issuer), (IDENTIFIER, subject)] => {
                Some((issuer.to_vec(), subject.to_vec()))
            }
            _ => None,
        })
        .collect()
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
