//! `net.lookup_ip_addr`: the addresses of a host.

use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc::channel;

use crate::Value;
use crate::builtins::operand::{answer, text};
use crate::builtins::{Call, Failure, hosts, waiting};
use crate::value::Set;

pub(super) fn lookup(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let name = text(operands, 1)?;
    hosts::check(call.session, name)?;
    if let Ok(address) = name.parse::<IpAddr>() {
        return answer(Set::from([shown(address)]));
    }
    // The system's resolver cannot be interrupted, so it works in a thread that may be left alone.
    let (found, finds) = channel();
    let host = name.to_string();
    let resolver = std::thread::Builder::new().spawn(move || {
        let addresses = (host.as_str(), 0_u16).to_socket_addrs();
        let addresses = addresses.map(|found| found.map(|found| found.ip()).collect::<Vec<_>>());
        found.send(addresses.map_err(|_| ())).ok();
    });
    resolver.map_err(|wrong| Failure::Value(format!("lookup {name}: {wrong}")))?;
    let addresses = waiting::receive(call, &finds)?;
    let addresses = addresses.and_then(Result::ok).unwrap_or_default();
    if addresses.is_empty() {
        return Err(Failure::Value(format!("lookup {name}: no such host")));
    }
    answer(addresses.into_iter().map(shown).collect::<Set>())
}

fn shown(address: IpAddr) -> Value {
    Value::from(address.to_canonical().to_string())
}
