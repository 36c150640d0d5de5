//! `uri.is_valid` and `uri.parse`.

use super::operand::{answer, any, text};
use super::url::Url;
use super::{Call, Cost, Failure, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("uri.is_valid", Cost::Library, is_valid),
    ("uri.parse", Cost::Library, parse),
];

fn is_valid(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let text = any(operands, 1).as_str().unwrap_or_default();
    answer(!text.is_empty() && Url::parse(text).is_ok())
}

fn parse(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let url = Url::parse(text(operands, 1)?).map_err(Failure::Value)?;
    let raw_path = url.raw_path.as_deref().map_or(&*url.path, str::as_bytes);
    let members = [
        ("scheme", url.scheme.as_bytes()),
        ("hostname", url.hostname()),
        ("port", url.port()),
        ("path", &url.path),
        ("raw_path", raw_path),
        ("raw_query", url.query.as_bytes()),
        ("fragment", &url.fragment),
    ];
    let present = members.into_iter().filter(|(_, part)| !part.is_empty());
    answer(Value::object(
        present.map(|(name, part)| (name, Value::string(part))),
    ))
}
