//! Name constraints of certificate authorities.

use std::net::IpAddr;

use super::extensions::{Extensions, Names};
use crate::builtins::url::Url;

/// Whether all names are permitted by the authority and none is excluded.
pub(super) fn allow(authority: &Extensions, names: &Names) -> bool {
    let (permitted, excluded) = (&authority.permitted, &authority.excluded);
    let dns = names.dns.iter().all(|name| {
        let matches = |rule: &String| domain_matches(name, rule, false);
        is_permitted(
            permitted.dns.iter().map(matches),
            excluded.dns.iter().map(matches),
        )
    });
    let emails = names.emails.iter().all(|name| {
        let matches = |rule: &String| email_matches(name, rule);
        is_permitted(
            permitted.emails.iter().map(matches),
            excluded.emails.iter().map(matches),
        )
    });
    let uris = names.uris.iter().all(|name| {
        let url = Url::parse(name).unwrap_or_default();
        let host = str::from_utf8(url.hostname()).unwrap_or_default();
        let unrestricted = permitted.uris.is_empty() && excluded.uris.is_empty();
        // A rule about hosts does not cover addresses, so they are not allowed.
        if host.is_empty() || host.parse::<IpAddr>().is_ok() {
            return unrestricted;
        }
        let matches = |rule: &String| domain_matches(host, rule, true);
        is_permitted(
            permitted.uris.iter().map(matches),
            excluded.uris.iter().map(matches),
        )
    });
    let addresses = names.addresses.iter().all(|address| {
        let matches = |rule: &(Vec<u8>, Vec<u8>)| address_matches(*address, rule);
        is_permitted(
            permitted.networks.iter().map(matches),
            excluded.networks.iter().map(matches),
        )
    });
    dns && emails && uris && addresses
}

/// Whether a permitting rule matches, if there are any, and no excluding rule matches.
fn is_permitted(
    permitted: impl ExactSizeIterator<Item = bool>,
    mut excluded: impl Iterator<Item = bool>,
) -> bool {
    let unrestricted = permitted.len() == 0;
    let mut permitted = permitted;
    !excluded.any(|matches| matches) && (unrestricted || permitted.any(|matches| matches))
}

/// Whether a domain is that of a rule or a subdomain. A rule with a leading dot only matches
/// subdomains; for hosts of URIs and emails, subdomains require that dot.
fn domain_matches(name: &str, rule: &str, exact: bool) -> bool {
    if rule.is_empty() {
        return true;
    }
    let (name, rule) = (name.to_ascii_lowercase(), rule.to_ascii_lowercase());
    if let Some(parent) = rule.strip_prefix('.') {
        let below = name.strip_suffix(parent);
        return below.is_some_and(|below| below.ends_with('.'));
    }
    let below = name.strip_suffix(&rule);
    below.is_some_and(|below| below.is_empty() || (!exact && below.ends_with('.')))
}

fn email_matches(name: &str, rule: &str) -> bool {
    let Some((local, domain)) = name.rsplit_once('@') else {
        return false;
    };
    match rule.rsplit_once('@') {
        Some((mailbox, host)) => mailbox == local && host.eq_ignore_ascii_case(domain),
        None => domain_matches(domain, rule, true),
    }
}

fn address_matches(address: IpAddr, (network, mask): &(Vec<u8>, Vec<u8>)) -> bool {
    let bytes = match address.to_canonical() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let mut rules = network.iter().zip(mask).zip(&bytes);
    bytes.len() == network.len()
        && rules.all(|((network, mask), byte)| network & mask == byte & mask)
}
