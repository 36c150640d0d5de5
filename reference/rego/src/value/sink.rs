//! JSON sinks: values or texts that are built by incremental JSON encoding.

use super::write::{Writer, escape_into};
use super::{Object, Value};

/// Receives JSON incrementally. The members of an object are written in the order of their names.
pub(crate) trait JsonSink: Sized {
    /// Writes a value.
    fn value(&mut self, value: &Value);

    /// Writes a string.
    fn string(&mut self, text: &str);

    /// Writes a list of the items that the function writes.
    fn list(&mut self, items: impl FnOnce(&mut Self));

    /// Writes an object of the members that the function writes, each value after its name.
    fn object(&mut self, members: impl FnOnce(&mut Self));

    /// Writes the name of the next value, which needs no escapes.
    fn name(&mut self, name: &'static str);

    /// Writes a term: its kind, which needs no escapes, and the value that the function writes.
    fn typed(&mut self, kind: &'static str, value: impl FnOnce(&mut Self)) {
        self.object(|out| {
            out.name("type");
            out.string(kind);
            out.name("value");
            value(out);
        });
    }
}

/// Builds a value.
#[derive(Debug, Default)]
pub(crate) struct ValueSink {
    /// Items of the innermost list or object so far.
    items: Vec<Value>,
    /// Names of the members of the innermost object so far.
    names: Vec<Value>,
}

impl ValueSink {
    /// Returns the value that the function `write` writes.
    pub(crate) fn filled(write: impl FnOnce(&mut Self)) -> Value {
        let mut sink = Self::default();
        write(&mut sink);
        sink.items.pop().unwrap_or(Value::Null)
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) -> Self {
        let outer = std::mem::take(self);
        write(self);
        std::mem::replace(self, outer)
    }
}

impl JsonSink for ValueSink {
    fn value(&mut self, value: &Value) {
        self.items.push(value.clone());
    }

    fn string(&mut self, text: &str) {
        self.items.push(Value::from(text));
    }

    fn list(&mut self, items: impl FnOnce(&mut Self)) {
        let list = self.inside(items).items;
        self.items.push(list.into());
    }

    fn object(&mut self, members: impl FnOnce(&mut Self)) {
        let Self { items, names } = self.inside(members);
        let object: Object = names.into_iter().zip(items).collect();
        self.items.push(object.into());
    }

    fn name(&mut self, name: &'static str) {
        self.names.push(Value::from(name));
    }
}

/// Writes compact JSON text.
#[derive(Debug)]
pub(crate) struct TextSink(Vec<u8>);

impl TextSink {
    /// Appends the text that the function writes.
    pub(crate) fn append(out: &mut Vec<u8>, write: impl FnOnce(&mut Self)) {
        let mut sink = Self(std::mem::take(out));
        write(&mut sink);
        *out = sink.0;
    }

    /// Writes a comma, except for the first item.
    fn separate(&mut self) {
        if !matches!(self.0.last(), None | Some(b'[' | b'{' | b':')) {
            self.0.push(b',');
        }
    }

    fn inside(&mut self, brackets: [u8; 2], write: impl FnOnce(&mut Self)) {
        let [open, close] = brackets;
        self.separate();
        self.0.push(open);
        write(self);
        self.0.push(close);
    }
}

impl JsonSink for TextSink {
    fn value(&mut self, value: &Value) {
        self.separate();
        let mut writer = Writer::new(usize::MAX);
        writer.out = std::mem::take(&mut self.0);
        // This cannot fail, because there is no limit.
        let _ = writer.value(value, None);
        self.0 = writer.out;
    }

    fn string(&mut self, text: &str) {
        self.separate();
        self.0.push(b'"');
        escape_into(text.as_bytes(), &mut self.0);
        self.0.push(b'"');
    }

    fn list(&mut self, items: impl FnOnce(&mut Self)) {
        self.inside(*b"[]", items);
    }

    fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.inside(*b"{}", members);
    }

    fn name(&mut self, name: &'static str) {
        self.separate();
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    // Most of a residual consists of terms, so the cost of each piece of their text matters.
    fn typed(&mut self, kind: &'static str, value: impl FnOnce(&mut Self)) {
        self.separate();
        self.0.extend_from_slice(b"{\"type\":\"");
        self.0.extend_from_slice(kind.as_bytes());
        self.0.extend_from_slice(b"\",\"value\":");
        value(self);
        self.0.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonSink, TextSink, Value, ValueSink};

    fn write(out: &mut impl JsonSink) {
        out.object(|out| {
            out.name("a");
            out.list(|out| {
                out.string("[\"{:");
                out.list(|_| {});
                out.value(&Value::from(-1));
                out.object(|_| {});
            });
            out.name("b");
            out.string("");
            out.name("c");
            out.list(|out| {
                out.typed("null", |out| out.value(&Value::Null));
                out.typed("array", |out| out.list(|_| {}));
            });
        });
    }

    #[test]
    fn values_and_texts_are_the_same() {
        let text = r#"{"a":["[\"{:",[],-1,{}],"b":"","c":[{"type":"null","value":null},{"type":"array","value":[]}]}"#;
        assert_eq!(ValueSink::filled(write).to_string(), text);
        let mut out = Vec::new();
        TextSink::append(&mut out, write);
        assert_eq!(String::from_utf8_lossy(&out), text);
    }
}
