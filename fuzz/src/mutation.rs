//! Mutations of whole requests, in addition to libFuzzer's mutations of bytes.

use libfuzzer_sys::fuzzer_mutate;
use rego_generate::Choices;

use crate::script::{Part, input, parts, split};

/// Endpoints of a server, and parts from which requests to them are made.
#[derive(Debug)]
pub struct Table {
    /// Methods with paths; each `*` is replaced by a random segment.
    pub endpoints: &'static [&'static str],
    /// Suffixes that may be appended to a path, such as query strings.
    pub queries: &'static [&'static str],
    /// Bodies that are valid for at least one endpoint.
    pub bodies: &'static [&'static str],
    /// Header lines for requests, in addition to those that every server knows.
    pub headers: &'static [&'static str],
}

const METHODS: &[&str] = &[
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "",
];
const SEGMENTS: &[&str] = &[
    "a",
    "b",
    "t",
    "p",
    "q",
    "0",
    "x%2Fy",
    "%00",
    "..",
    "",
    "%zz",
    "é",
    "a%20b",
    "%22%5D%3B",
];
const HEADERS: &[&str] = &[
    "Content-Type: application/json",
    "Content-Type: application/yaml",
    "Content-Type: application/x-yaml",
    "Content-Encoding: gzip",
    "Accept-Encoding: gzip",
    "If-None-Match: *",
    "Expect: 100-continue",
    "Expect: x",
    "Transfer-Encoding: gzip",
    "Transfer-Encoding: chunked",
    "Host: other",
    "Connection: close",
    "Content-Length: 3",
    "Upgrade: h2c",
    "X: \u{1}",
];

/// Mutates the input in `data` in place, for libFuzzer; returns its new length.
pub fn mutate(table: &Table, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let decisions = decisions(seed);
    let mut choices = Choices::new(&decisions);
    if choices.below(2) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut changed = parts(&data[..size]);
    for _ in 0..=choices.below(3) {
        change(&mut changed, table, &mut choices);
    }
    let changed = input(&changed);
    let length = changed.len().min(max_size);
    data[..length].copy_from_slice(&changed[..length]);
    length
}

/// Returns pseudo-random bytes that depend on the seed.
fn decisions(seed: u32) -> [u8; 64] {
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::array::from_fn(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4]
    })
}

/// Changes one request, or inserts, copies, removes or swaps requests.
fn change(parts: &mut Vec<Part>, table: &Table, choices: &mut Choices<'_>) {
    let index = choices.below(parts.len());
    match choices.below(9) {
        0 | 1 => {
            let part = Part {
                text: request(table, choices),
                last: choices.rarely(2),
            };
            parts.insert(index + choices.below(2), part);
        }
        2 => {
            let part = parts[index].clone();
            let to = choices.below(parts.len() + 1);
            parts.insert(to, part);
        }
        3 if parts.len() > 1 => drop(parts.remove(index)),
        4 => {
            let other = choices.below(parts.len());
            parts.swap(index, other);
        }
        5 => parts[index].last ^= true,
        6 => {
            let (head, body) = split(&parts[index].text);
            let line_end = head
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(head.len());
            let line = line(table, choices).into_bytes();
            parts[index].text = [&line, &head[line_end..], b"\n\n", body].concat();
        }
        7 => {
            let (head, body) = split(&parts[index].text);
            let header = header(table, choices).as_bytes();
            parts[index].text = [head, b"\n", header, b"\n\n", body].concat();
        }
        _ => {
            let (head, _) = split(&parts[index].text);
            let body = choices.of(table.bodies).as_bytes();
            parts[index].text = [head, b"\n\n", body].concat();
        }
    }
}

fn line(table: &Table, choices: &mut Choices<'_>) -> String {
    let mut line = String::new();
    for (index, part) in choices.of(table.endpoints).split('*').enumerate() {
        if index > 0 {
            line.push_str(choices.of(SEGMENTS));
        }
        line.push_str(part);
    }
    if choices.rarely(8)
        && let Some((_, path)) = line.split_once(' ')
    {
        line = format!("{} {path}", choices.of(METHODS));
    }
    line + choices.of(table.queries)
}

fn header(table: &Table, choices: &mut Choices<'_>) -> &'static str {
    match choices.below(2) {
        0 => choices.of(HEADERS),
        _ => choices.of(table.headers),
    }
}

fn request(table: &Table, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut text = line(table, choices);
    for _ in 0..choices.below(3) {
        text.push('\n');
        text.push_str(header(table, choices));
    }
    text.push_str("\n\n");
    text.push_str(choices.of(table.bodies));
    text.into_bytes()
}
