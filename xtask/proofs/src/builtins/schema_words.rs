//! Words of schemas and of the documents that they check.

/// The schemas of drafts, by the number of a draft. An empty name is none.
pub(super) const METASCHEMAS: [&str; 5] = [
    "",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
];

pub(super) const TYPES: [&str; 7] = [
    "object", "string", "integer", "number", "array", "boolean", "null",
];

/// Names of members, and short texts.
pub(super) const NAMES: [&str; 8] = ["a", "b", "c", "d", "ab", "", "é€", "a.b"];

/// Names of subschemas, in the order of definitions.
pub(super) const IDENTIFIERS: [&str; 3] = ["a.json", "http://example.com/b.json", "#anchor"];

pub(super) const NUMBERS: [&str; 22] = [
    "0", "1", "2", "3", "4", "-1", "1.5", "2.0", "1e2", "100", "-0.5", "0.3", "1e-7", "1E21",
    "9007199254740993", "9007199254740992", "123456789012345678901234567890", "1.10", "1.1", "-0",
    "0.30000000000000004", "6",
];

pub(super) const LIMITS: [&str; 16] = [
    "1", "2", "0", "3", "-1", "1.5", "2.0", "100", "1e2", "0.1", "1000000", "123456.5",
    "1234567.25", "0.00001", "1e400", "123456789012345678901234567890",
];

pub(super) const PATTERNS: [&str; 10] = [
    "^a", "b$", ".", "^[a-c]{1,2}$", "\\d+", "^\\p{L}+$", "a|b", "", "(?i)AB", "[^a]",
];

pub(super) const FORMATS: [&str; 22] = [
    "date", "time", "date-time", "hostname", "idn-hostname", "email", "idn-email", "ipv4", "ipv6",
    "uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "regex",
    "json-pointer", "relative-json-pointer", "duration", "color", "", "DATE",
];

/// Values that no keyword takes, or only some.
pub(super) const BAD: [&str; 18] = [
    "1", "null", "\"x\"", "[]", "[1]", "{\"a\": 1}", "true", "-1", "1.5", "[\"a\", \"a\"]", "1.0",
    "\"(\"", "{\"(\": {}}", "[{}, 1]", "0", "[\"a\", 1]", "{\"a\": [1]}", "\"%zz\"",
];

/// Texts that have some format, or nearly.
pub(super) const TEXTS: [&str; 152] = [
    "2024-02-29", "2023-02-29", "2024-1-02", "2024-13-01", "0000-01-01", "2024-01-01 ",
    "10:00:00", "10:00:00Z", "10:00:00+01:00", "24:00:00", "10:00", "10:00:60", "10:00:00.123",
    "10:00:00,5Z", "1:00:00", "10:00:00z", "10:00:00+0100", "10:00:00+25:00",
    "2024-01-01T10:00:00Z", "2024-01-01t10:00:00z", "2024-01-01 10:00:00Z", "2024-01-01T10:00:00",
    "2024-01-01T10:00:00.5+01:00", "2024-01-01T10:00:00.Z", "2024-02-30T10:00:00Z",
    "2024-01-01T1:00:00Z", "2024-01-01T10:00:00,123Z", "2024-01-01T10:00:00-23:59",
    "a", "a.b", "a.b.", "-a", "a-", "a-b", "a_b", "é.de", "xn--a", "1.2", "a..b", ".a",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk",
    "a@b", "a.b@c.d", "a..b@c", ".a@b", "a.@b", "@", "a@", "@b", "a b@c", "\"a b\"@c", "\"\"@c",
    "a@b.", "a@.b", "A <a@b>", "A B <a@b>", "<a@b>", "<a@b", "\"A\" <a@b>", "a@b (c)", "a@b (c",
    "a@b c", "g: a@b;", "g:;", "g: a@b, c@d;", "a@b, c@d", "a@[127.0.0.1]", "a@[::1]", "a@[x]",
    "a@é", "é@a", "=?utf-8?q?a?= <a@b>", "=?x?q?a?= <a@b>", "A. <a@b>", "a@b\t", " a@b", "(c) a@b",
    "127.0.0.1", "127.0.0.01", "256.0.0.1", "1.2.3", "1.2.3.4.5", "::1", "::", "1::2::3",
    "::ffff:1.2.3.4", "fe80::1%eth0", "12345::", "2001:db8::1", "1:2:3:4:5:6:7:8", "::1.2.3.4",
    "0x7f.0.0.1", "[::1]",
    "http://a.b/c?d=e#f", "http://é.de", "http://a b", "http://a/b c", "urn:a:b", "a:b", "1a:b",
    ":a", "//a/b", "/a/b", "?a", "#a", "%zz", "%41", "a%", "http://[::1]", "http://[::1",
    "http://a:b", "http://a:80", "http://u:p@h", "http://a\\b", "a\\b", "x y", "{x}", "a/{b}",
    "http://a/{b", "http://a/}b{", "::", "a{b}c{d", "{{a}", "mailto:a@b", "\u{7f}", "http://",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
    "6ba7b8109dad11d180b400c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
    "^a$", "(", "a{2,1}", "(?=a)", "\\d", "\\", "a**",
    "/a/b", "/~0~1", "/~2", "/~", "a/b", "0", "0#", "1/a", "01", "-1", "1#/a", "",
    "<b>&\u{2028}",
];
