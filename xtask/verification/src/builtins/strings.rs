//! Strings as operands: general ones, sentences of the language that a function parses, and byte
//! strings that are not UTF-8.

use rego_generate::Choices;
use serde_json::Value;

/// Parts of general strings.
const PARTS: [&str; 40] = [
    "",
    "a",
    "b",
    "A",
    "ab",
    "abc",
    "x",
    "/",
    ".",
    ",",
    " ",
    "-",
    "%",
    "=",
    "&",
    ":",
    "\\",
    "\"",
    "'",
    "<",
    "\n",
    "\t",
    "0",
    "1",
    "12",
    "é",
    "ß",
    "Ω",
    "İ",
    "ﬁ",
    "€",
    "\u{1F600}",
    "\u{301}",
    "\u{200d}",
    "\u{fffd}",
    "\u{0}",
    "\u{2028}",
    "*",
    "{",
    "}",
];

/// Byte sequences that are not valid UTF-8, in hexadecimal.
const BROKEN: [&str; 12] = [
    "ff", "fe", "80", "c3", "c328", "a9", "e282", "f09f98", "eda080", "c0af", "ff61", "61ff62",
];

/// Sentences of small languages, by the prefix of the names of the functions that parse them.
const WORDS: [(&str, &[&str]); 21] = [
    (
        "net.cidr_expand",
        &[
            "10.0.0.0/30",
            "::1/127",
            "10.1.2.3/32",
            "192.168.0.0/33",
            "10.0.0.1/29",
            "1.2.3",
        ],
    ),
    (
        "base64.",
        &[
            "YQ==", "YWI=", "/2E=", "/mE=", "//79", "YQ", "Y Q==", "YQ==\n", "____", "-_",
        ],
    ),
    (
        "base64url.",
        &["YQ", "YQ==", "_2E", "-_8=", "/2E=", "YWI", "Y"],
    ),
    ("hex.", &["61", "ff", "FFfe", "6", "zz", "0061", "é"]),
    (
        "urlquery.",
        &[
            "a=b",
            "a+b",
            "%41",
            "%ff",
            "%",
            "%zz",
            "a=%ff&a=1",
            "a=1;b=2",
            "&&",
            "=",
            "a=é",
        ],
    ),
    (
        "regex.",
        &[
            "a", ".", "a*", "(a)(b)?", "[a-c]+", "^a|b$", "\\w+", "\\d", "(?i)A", "é", ".*", "$",
            "", "(", "$1", "${1}x", "$$", "\\pL", "[^a]",
        ],
    ),
    (
        "glob.",
        &[
            "*", "**", "a*", "?", "[a-c]", "[!a]", "{a,b}", "a.*", "\\*", "a/**/b", "[", "{a",
        ],
    ),
    (
        "json.",
        &[
            "1",
            "\"a\"",
            "{\"a\": 1}",
            "[1, 2]",
            "{",
            "null",
            "\"\\ud800\"",
            " 1 ",
            "1e400",
            "/a",
            "/a/0",
            "a/b",
            "add",
            "remove",
            "~1",
        ],
    ),
    (
        "yaml.",
        &[
            "a: 1",
            "- 1\n- a",
            "\"a\"",
            "a: [",
            "~",
            "yes",
            "0x10",
            "1e3",
            "a: &b 1\nc: *b",
            "# x",
        ],
    ),
    (
        "time.",
        &[
            "2024-01-02T03:04:05Z",
            "2024-02-30T00:00:00Z",
            "1h30m",
            "-1.5s",
            "2006-01-02",
            "UTC",
            "Europe/Berlin",
            "RFC3339",
            "Monday",
            "1d",
            "2024-01-02",
        ],
    ),
    (
        "units.",
        &[
            "1", "1K", "1Ki", "1.5M", "10GiB", "1m", "-1", "1e3", "K", "\"1G\"", "1 G",
        ],
    ),
    (
        "semver.",
        &[
            "1.2.3",
            "1.2.3-a.1",
            "v1.2.3",
            "1.2",
            "1.2.3+b",
            "01.2.3",
            "1.0.0-alpha",
        ],
    ),
    (
        "uuid.",
        &[
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "6ba7b8109dad11d180b400c04fd430c8",
            "x",
        ],
    ),
    (
        "net.",
        &[
            "10.0.0.0/8",
            "10.1.2.3",
            "::1",
            "fe80::/10",
            "192.168.0.0/33",
            "10.0.0.1/24",
            "::ffff:1.2.3.4",
            "1.2.3",
        ],
    ),
    (
        "uri.",
        &[
            "http://a.b:80/c?d=e#f",
            "//a",
            "mailto:x@y",
            "http://[::1]/",
            "%zz",
            "http://u:p@h/%ff",
            "a b",
        ],
    ),
    (
        "graphql.",
        &[
            "query { a }",
            "type Query { a: Int }",
            "{ a b }",
            "type Query {",
            "schema { query: Q } type Q { a(b: Int!): [String] }",
            "query q($x: Int) { a }",
        ],
    ),
    (
        "io.jwt.",
        &[
            "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln",
            "a.b.c",
            "eyJhbGciOiJub25lIn0.e30.",
            "secret",
        ],
    ),
    (
        "crypto.",
        &[
            "secret",
            "-----BEGIN CERTIFICATE-----\n",
            "-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n",
        ],
    ),
    (
        "sprintf",
        &[
            "%s",
            "%v",
            "%q",
            "%d",
            "%x",
            "%5s|",
            "%-5s|",
            "%.1s",
            "%+q",
            "%#q",
            "%05d",
            "%t",
            "%T",
            "%[2]s %[1]s",
            "%!",
            "%%",
            "%c",
            "%U",
            "%e",
            "%g",
            "%s %s",
        ],
    ),
    (
        "strings.render",
        &[
            "{{.a}}",
            "{{range .a}}{{.}}{{end}}",
            "{{if .a}}x{{else}}y{{end}}",
            "{{.a.b}}",
            "{{len .a}}",
            "{{printf \"%q\" .a}}",
        ],
    ),
    (
        "to_number",
        &[
            "1", "-1", "1.5", "1e3", "0x10", "NaN", "inf", " 1", "1_0", "+1", "", "1.", ".5",
        ],
    ),
];

/// Generates a string for an operand of a function, in Rego syntax.
pub(super) fn string(name: &str, choices: &mut Choices<'_>) -> String {
    let words = WORDS.iter().find(|(start, _)| name.starts_with(start));
    match (choices.below(10), words) {
        (0 | 1, _) => broken(choices),
        (2..=6, Some((_, words))) => Value::from(choices.of(words)).to_string(),
        _ => usual(choices),
    }
}

fn usual(choices: &mut Choices<'_>) -> String {
    let count = choices.below(5);
    let text: String = (0..count).map(|_| choices.of(&PARTS)).collect();
    Value::from(text).to_string()
}

/// Generates a call of `hex.decode` that returns bytes with sequences that are not UTF-8.
fn broken(choices: &mut Choices<'_>) -> String {
    let mut digits = String::new();
    for _ in 0..1 + choices.below(2) {
        for byte in choices.of(&PARTS).bytes() {
            digits.push_str(&format!("{byte:02x}"));
        }
        digits.push_str(choices.of(&BROKEN));
    }
    format!("hex.decode(\"{digits}\")")
}
