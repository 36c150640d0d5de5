//! Formats arguments by type.

use super::{ANY, Argument, Flags, Formatter, LIST, MAP};
use crate::Value;
use crate::builtins::Failure;

impl Formatter<'_, '_> {
    /// Appends an argument formatted by a verb.
    pub(super) fn argument(
        &mut self,
        argument: &Argument<'_>,
        verb: char,
        flags: Flags,
    ) -> Result<(), Failure> {
        match (argument, verb) {
            (Argument::Nil, 'v' | 'T') => self.pad("<nil>", flags),
            (_, 'T') => self.unquoted(argument.kind().as_bytes(), flags),
            // There are no real addresses, so pointers have a fixed one.
            (Argument::Big(_) | Argument::List(_) | Argument::Map(_), 'p') => {
                self.pad("0xc000000000", flags);
            }
            _ if self.is_done(argument, verb, flags)? => {}
            _ => self.wrong_verb(argument, verb, flags)?,
        }
        Ok(())
    }

    /// Reports a verb that does not apply to an argument, shown in its default format.
    fn wrong_verb(
        &mut self,
        argument: &Argument<'_>,
        verb: char,
        flags: Flags,
    ) -> Result<(), Failure> {
        self.push(&format!("%!{verb}("));
        match argument {
            Argument::Nil => self.push("<nil>"),
            Argument::Big(integer) if verb == 'w' => {
                self.push("*big.Int=");
                self.big_parts(integer, flags);
            }
            Argument::Big(integer) => self.push(&format!("big.Int={integer}")),
            _ => {
                self.push(argument.kind());
                self.push("=");
                self.is_done(argument, 'v', flags)?;
            }
        }
        self.push(")");
        Ok(())
    }

    /// Appends an argument; returns false if the verb does not apply.
    fn is_done(
        &mut self,
        argument: &Argument<'_>,
        verb: char,
        flags: Flags,
    ) -> Result<bool, Failure> {
        Ok(match argument {
            Argument::Nil => false,
            Argument::Bool(value) if matches!(verb, 't' | 'v') => {
                self.pad(if *value { "true" } else { "false" }, flags);
                true
            }
            Argument::Bool(_) => false,
            Argument::Integer(integer, kind) => self.integer(*integer, kind, verb, flags),
            Argument::Big(integer) => self.big_integer(integer, verb, flags),
            Argument::Float(float) => self.float(*float, verb, flags),
            Argument::Complex(real, imaginary) => self.complex((*real, *imaginary), verb, flags),
            Argument::Text(text, _) => self.text(text, verb, flags),
            Argument::List(items) => {
                let items = items.iter().map(|item| (None, item));
                self.composite(LIST, ["[", "]"], items, verb, flags)?;
                true
            }
            Argument::Map(members) => {
                let members = members.iter().map(|(key, value)| (Some(key), value));
                self.composite(MAP, ["map[", "]"], members, verb, flags)?;
                true
            }
        })
    }

    /// Appends the parts of an array or object, each formatted by the verb. Values may share parts,
    /// so each part counts wherever it is output.
    fn composite<'v>(
        &mut self,
        kind: &str,
        brackets: [&str; 2],
        parts: impl Iterator<Item = (Option<&'v Value>, &'v Value)>,
        verb: char,
        flags: Flags,
    ) -> Result<(), Failure> {
        let [open, close] = brackets;
        if flags.source {
            self.push(kind);
        }
        self.push(if flags.source { "{" } else { open });
        let comma = if flags.source { ", " } else { " " };
        for (at, (key, value)) in parts.enumerate() {
            self.call.make(1)?;
            self.check()?;
            self.push(if at > 0 { comma } else { "" });
            if let Some(key) = key {
                self.part(key, verb, flags)?;
                self.push(":");
            }
            self.part(value, verb, flags)?;
        }
        self.push(if flags.source { "}" } else { close });
        Ok(())
    }

    fn part(&mut self, value: &Value, verb: char, flags: Flags) -> Result<(), Failure> {
        match value {
            Value::Null if flags.source => self.push(&format!("{ANY}(nil)")),
            Value::Null => self.push("<nil>"),
            _ => {
                let argument = Argument::of_document(value);
                return stacker::maybe_grow(64 << 10, 1 << 20, || {
                    self.argument(&argument, verb, flags)
                });
            }
        }
        Ok(())
    }
}
