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
    use rstest::rstest;

    use super::{ends_in_number, has_zone};

    #[rstest]
    #[case::octal("010.1.1.1", true)]
    #[case::three_parts("1.2.3", true)]
    #[case::hexadecimal("0x7f.1", true)]
    #[case::one_part("2130706433", true)]
    #[case::dot_at_the_end("1.2.3.4.", true)]
    #[case::hexadecimal_without_digits("a.0x", true)]
    #[case::digit_and_letter("a.1x", false)]
    #[case::number_in_front("1.example", false)]
    #[case::name_and_dot("example.", false)]
    #[case::letter("x", false)]
    #[case::empty("", false)]
    fn old_forms_of_addresses_are_no_names(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(ends_in_number(name), expected);
    }

    #[rstest]
    #[case::six("fe80::1%lo", true)]
    #[case::empty_zone("fe80::1%", false)]
    #[case::four_in_six("::ffff:1.2.3.4%lo", false)]
    #[case::four("1.2.3.4%lo", false)]
    #[case::name("a%b", false)]
    #[case::no_zone("fe80::1", false)]
    fn zones_belong_to_addresses_of_six(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(has_zone(name), expected);
    }
}
