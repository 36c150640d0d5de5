//! `net.lookup_ip_addr`: resolves the addresses of a host.

use std::net::{IpAddr, Ipv6Addr};

use crate::Value;
use crate::builtins::operand::{answer, text};
use crate::builtins::{Call, Failure, allow_net};
use crate::host::HostError;
use crate::value::Set;

pub(super) fn lookup(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let name = text(operands, 1)?;
    allow_net::check(call.session, name)?;
    if let Ok(address) = name.parse::<IpAddr>() {
        return answer(Set::from([address_value(address)]));
    }
    if has_zone(name) {
        return answer(Set::from([Value::from(name.as_str())]));
    }
    if ends_in_number(name) {
        return Err(unknown(name));
    }
    let addresses = call.wait(|host, cancellation| host.addresses(name, cancellation));
    match addresses {
        Ok(addresses) if !addresses.is_empty() => {
            answer(addresses.into_iter().map(address_value).collect::<Set>())
        }
        Err(HostError::AbortReason(ended)) => Err(Failure::Aborted(ended)),
        Err(HostError::Disallowed) => Err(allow_net::disallowed(name)),
        Err(HostError::Refused(reason) | HostError::Broken(reason)) => {
            Err(Failure::Value(format!("lookup {name}: {reason}")))
        }
        _ => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Failure {
    Failure::Value(format!("lookup {name}: no such host"))
}

/// Whether a name is an IPv6 address with a zone.
fn has_zone(name: &str) -> bool {
    let Some((address, zone)) = name.split_once('%') else {
        return false;
    };
    let address = address.parse::<Ipv6Addr>();
    !zone.is_empty() && address.is_ok_and(|address| address.to_ipv4_mapped().is_none())
}

/// Whether the last label of a name is a number, as in the legacy forms of IPv4 addresses,
/// `010.1.1.1` or `0x7f.1`. System libraries parse them as other addresses than policies do, and no
/// host has such a name.
fn ends_in_number(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    match digits {
        Some(digits) => digits.chars().all(|c| c.is_ascii_hexdigit()),
        None => !last.is_empty() && last.chars().all(|c| c.is_ascii_digit()),
    }
}

fn address_value(address: IpAddr) -> Value {
    Value::from(address.to_canonical().to_string())
}

#[cfg(test)]
mod tests {
    use super::{ends_in_number, has_zone};

    #[test]
    fn old_forms_of_addresses_are_no_names() {
        for name in [
            "010.1.1.1",
            "1.2.3",
            "0x7f.1",
            "2130706433",
            "1.2.3.4.",
            "a.0x",
        ] {
            assert!(ends_in_number(name), "{name}");
        }
        for name in ["a.1x", "1.example", "example.", "x", ""] {
            assert!(!ends_in_number(name), "{name}");
        }
    }

    #[test]
    fn zones_belong_to_addresses_of_six() {
        assert!(has_zone("fe80::1%lo"));
        for name in [
            "fe80::1%",
            "::ffff:1.2.3.4%lo",
            "1.2.3.4%lo",
            "a%b",
            "fe80::1",
        ] {
            assert!(!has_zone(name), "{name}");
        }
    }
}
