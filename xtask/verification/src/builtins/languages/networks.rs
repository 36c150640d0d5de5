//! Operands that are IP addresses and networks.

use rego_generate::Choices;

use super::{joined, list, literal, nearly, set};

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    let text = |choices: &mut Choices<'_>| literal(network(choices));
    Some(match name {
        "net.cidr_contains" | "net.cidr_intersects" => vec![text(choices), text(choices)],
        "net.cidr_is_valid" => vec![text(choices)],
        "net.cidr_expand" => vec![literal(small_network(choices))],
        "net.cidr_merge" => {
            let networks = list(6, choices, &text);
            vec![if choices.rarely(2) {
                format!("[{networks}]")
            } else {
                set(&networks)
            }]
        }
        "net.cidr_contains_matches" => vec![several(choices), several(choices)],
        _ => return None,
    })
}

/// Generates several networks, in one of the forms that `net.cidr_contains_matches` accepts.
fn several(choices: &mut Choices<'_>) -> String {
    let text = |choices: &mut Choices<'_>| literal(network(choices));
    let item = |choices: &mut Choices<'_>| match choices.below(3) {
        0 => format!("[{}, 1]", literal(network(choices))),
        1 if choices.rarely(5) => choices.of(&["[]", "[1]", "1", "{}", "null"]).to_owned(),
        _ => literal(network(choices)),
    };
    match choices.below(4) {
        0 => text(choices),
        1 => format!("[{}]", list(3, choices, &item)),
        2 => set(&list(3, choices, &item)),
        _ => {
            let member = |choices: &mut Choices<'_>| {
                format!(
                    "{}: {}",
                    literal(joined(&["a", "b", "c"], 2, choices)),
                    item(choices)
                )
            };
            // At most one member, because two members could have the same name and different
            // values.
            format!("{{{}}}", list(1, choices, &member))
        }
    }
}

fn network(choices: &mut Choices<'_>) -> String {
    let prefix = [
        "",
        "/8",
        "/24",
        "/32",
        "/33",
        "/0",
        "/64",
        "/127",
        "/128",
        "/129",
        "/08",
        "/-1",
        "/ 8",
        "/+8",
        "/255.255.0.0",
    ];
    let address = if choices.rarely(3) {
        six(choices)
    } else {
        four(choices)
    };
    let text = format!("{address}{}", choices.of(&prefix));
    nearly(text, choices)
}

/// Generates a network with few addresses, because the function returns all of them.
fn small_network(choices: &mut Choices<'_>) -> String {
    let (address, prefix) = if choices.rarely(3) {
        (
            six(choices),
            choices.of(&["/126", "/127", "/128", "/124", "/129", "/x"]),
        )
    } else {
        (
            four(choices),
            choices.of(&["/29", "/30", "/31", "/32", "/33", "/x"]),
        )
    };
    format!("{address}{prefix}")
}

fn four(choices: &mut Choices<'_>) -> String {
    let byte = ["10", "0", "1", "255", "192", "128", "127"];
    let odd = ["256", "01", "", "1000", "0x1", " 1", "1e1", "00"];
    let mut parts = Vec::new();
    for _ in 0..if choices.rarely(15) { 3 } else { 4 } {
        parts.push(if choices.rarely(20) {
            choices.of(&odd)
        } else {
            choices.of(&byte)
        });
    }
    parts.join(".")
}

fn six(choices: &mut Choices<'_>) -> String {
    let group = [
        "0", "1", "ffff", "fe80", "2001", "db8", "00ab", "A", "0000", "FFFF",
    ];
    let odd = ["12345", "g", "", "::", "-1"];
    let groups = |most: usize, choices: &mut Choices<'_>| {
        let count = choices.below(most + 1);
        let groups: Vec<&str> = (0..count)
            .map(|_| {
                if choices.rarely(25) {
                    choices.of(&odd)
                } else {
                    choices.of(&group)
                }
            })
            .collect();
        groups.join(":")
    };
    let mut text = match choices.below(6) {
        0 => {
            let eight: Vec<&str> = (0..8).map(|_| choices.of(&group)).collect();
            eight.join(":")
        }
        1 => format!("::ffff:{}", four(choices)),
        2 => format!("::{}", groups(7, choices)),
        3 => format!("{}::", groups(7, choices)),
        4 => format!("{}::{}", groups(3, choices), four(choices)),
        _ => format!("{}::{}", groups(4, choices), groups(4, choices)),
    };
    if choices.rarely(25) {
        text.push_str(choices.of(&["%eth0", "%", "%25x"]));
    }
    text
}
