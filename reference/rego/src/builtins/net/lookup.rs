//! `net.lookup_ip_addr`: the addresses of a host.

use std::net::IpAddr;

use crate::Value;
use crate::builtins::operand::{answer, text};
use crate::builtins::{Call, Failure, hosts};
use crate::host::HostError;
use crate::value::Set;

pub(super) fn lookup(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let name = text(operands, 1)?;
    hosts::check(call.session, name)?;
    if let Ok(address) = name.parse::<IpAddr>() {
        return answer(Set::from([shown(address)]));
    }
    let addresses = call.wait(|host, wanted| host.addresses(name, wanted));
    match addresses {
        Ok(addresses) if !addresses.is_empty() => {
            answer(addresses.into_iter().map(shown).collect::<Set>())
        }
        Err(HostError::Ended(ended)) => Err(Failure::Ended(ended)),
        Err(HostError::Disallowed) => Err(hosts::disallowed(name)),
        Err(HostError::Refused(why) | HostError::Broken(why)) => {
            Err(Failure::Value(format!("lookup {name}: {why}")))
        }
        _ => Err(Failure::Value(format!("lookup {name}: no such host"))),
    }
}

fn shown(address: IpAddr) -> Value {
    Value::from(address.to_canonical().to_string())
}
