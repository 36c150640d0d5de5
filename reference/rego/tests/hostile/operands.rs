//! Hostile operands, by the types that built-in functions declare.

use rego::Value;
use rego::value::from_json;

/// Operand with a name for messages.
pub(crate) type Named = (&'static str, Value);

/// Operands by type.
pub(crate) struct Operands {
    strings: Vec<Named>,
    numbers: Vec<Named>,
    arrays: Vec<Named>,
    sets: Vec<Named>,
    objects: Vec<Named>,
    others: Vec<Named>,
}

/// Length of a long string in bytes.
const STRING_LENGTH: usize = 20_000;

/// Number of items of a long collection.
const COLLECTION_LENGTH: i64 = 20_000;

fn repeated(part: &str, length: usize) -> Value {
    Value::from(part.repeat(length / part.len()))
}

fn integers() -> Vec<Value> {
    (0..COLLECTION_LENGTH).map(Value::from).collect()
}

/// Generates strings of which each is a prefix of the next.
fn overlapping() -> Vec<Value> {
    let texts = (0..1500).map(|length| Value::from("a".repeat(length)));
    texts.collect()
}

fn set(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Set(std::sync::Arc::new(items.into_iter().collect()))
}

/// Returns a value of 60 nodes that unfolds to 2^60 nodes.
pub(crate) fn doubled(first: Value, double: fn(Value) -> Value) -> Value {
    (0..60).fold(first, |value, _| double(value))
}

fn arrays_doubled() -> Value {
    let one = Value::from(vec![Value::from(1)]);
    doubled(one, |value| Value::from(vec![value.clone(), value]))
}

fn objects_doubled() -> Value {
    let one = Value::object([("a", Value::from(1)), ("b", Value::from(1))]);
    doubled(one, |value| {
        Value::object([("a", value.clone()), ("b", value)])
    })
}

fn deep(depth: usize) -> Value {
    (0..depth).fold(Value::from(1), |value, _| Value::from(vec![value]))
}

fn deep_object(depth: usize) -> Value {
    (0..depth).fold(Value::from(1), |value, _| Value::object([("a", value)]))
}

/// Returns a number of many digits.
fn digits(count: usize) -> Value {
    from_json("7".repeat(count).as_bytes()).unwrap_or(Value::Null)
}

/// Returns a graph in which each node leads to all later ones.
fn dense_graph() -> Value {
    let name = |node: usize| format!("n{node}");
    let nodes = (0..60).map(|node| {
        let later = (node + 1..60).map(|later| Value::from(name(later)));
        (name(node), Value::from(later.collect::<Vec<_>>()))
    });
    Value::object(nodes.map(|(name, later)| (Value::from(name), later)))
}

impl Operands {
    pub(crate) fn new() -> Self {
        let json = |text: String| Value::from(text);
        let strings = vec![
            ("empty text", Value::from("")),
            ("a…", repeated("a", STRING_LENGTH)),
            (
                "a…b",
                Value::from(format!("{}b", "a".repeat(STRING_LENGTH))),
            ),
            ("/-…", repeated("/-", STRING_LENGTH)),
            ("1…", repeated("1", STRING_LENGTH)),
            ("ä…", repeated("ä\u{301}", STRING_LENGTH)),
            ("%…", repeated("%d%v", STRING_LENGTH)),
            ("*…", repeated("*a", 2000)),
            ("(a*)*b", Value::from("(a*)*b")),
            ("(…)", Value::from(format!("{}b", "(a?)".repeat(2000)))),
            ("a{…}", Value::from("((a{1,50}){1,50})b")),
            (",…", repeated(",", STRING_LENGTH)),
            (".…", repeated("1.", STRING_LENGTH / 4)),
            ("&…", repeated("a=b&", STRING_LENGTH)),
            ("[…", repeated("[", STRING_LENGTH)),
            ("{{…}}", repeated("{{.a}}", 20_000)),
            (
                "PEM…",
                repeated("-----BEGIN RSA PRIVATE KEY-----\n", STRING_LENGTH),
            ),
            (
                "JSON of arrays",
                json(format!("[{}1]", "[],".repeat(STRING_LENGTH / 3))),
            ),
            (
                "YAML of anchors",
                Value::from("a: &a [b, b]\nc: [*a, *a, *a]\n".repeat(1000)),
            ),
        ];
        let numbers = vec![
            ("-1", Value::from(-1)),
            ("a million", Value::from(1_000_000)),
            ("the largest", Value::from(i64::MAX)),
            ("twenty thousand digits", digits(20_000)),
        ];
        let arrays = vec![
            ("integers", Value::from(integers())),
            ("shared arrays", arrays_doubled()),
            (
                "shared arrays inside",
                Value::from(vec![Value::from("a"), arrays_doubled()]),
            ),
            ("deep arrays", deep(500)),
            ("overlapping texts", Value::from(overlapping())),
            (
                "equal texts",
                Value::from(vec![repeated("a", STRING_LENGTH); 5000]),
            ),
            ("short texts", Value::from(vec![Value::from("a"); 40_000])),
            (
                "addresses",
                Value::from(
                    (0..3000)
                        .map(|at: i64| Value::from(format!("10.{}.{}.0/24", at / 256, at % 256)))
                        .collect::<Vec<_>>(),
                ),
            ),
        ];
        let sets = vec![
            ("set of integers", set(integers())),
            ("set of overlapping texts", set(overlapping())),
            (
                "set of shared arrays",
                set([arrays_doubled(), Value::from(1)]),
            ),
            (
                "set of sets",
                set((0..3000).map(|at: i64| set([Value::from(at), Value::from(at + 1)]))),
            ),
        ];
        let objects = vec![
            (
                "members",
                Value::object(
                    (0..COLLECTION_LENGTH)
                        .map(|at| (Value::from(format!("k{at}")), Value::from(at))),
                ),
            ),
            ("shared objects", objects_doubled()),
            (
                "shared arrays in an object",
                Value::object([("a", arrays_doubled())]),
            ),
            ("deep objects", deep_object(500)),
            ("dense graph", dense_graph()),
            (
                "shared arrays as a key",
                Value::object([(arrays_doubled(), Value::from(1))]),
            ),
        ];
        let others = vec![("null", Value::Null), ("true", Value::from(true))];
        Self {
            strings,
            numbers,
            arrays,
            sets,
            objects,
            others,
        }
    }

    /// Returns operands for a declared type.
    pub(crate) fn of(&self, declared: &str) -> Vec<&Named> {
        let is_any = declared == "any";
        let groups = [
            ("string", &self.strings),
            ("number", &self.numbers),
            ("array", &self.arrays),
            ("set", &self.sets),
            ("object", &self.objects),
            ("null", &self.others),
        ];
        let selected = groups
            .into_iter()
            .filter(|(kind, _)| is_any || declared.contains(kind));
        let found: Vec<_> = selected.flat_map(|(_, all)| all).collect();
        match found.is_empty() {
            true => self.others.iter().collect(),
            false => found,
        }
    }
}
