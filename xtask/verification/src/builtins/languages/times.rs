//! Operands of time functions: layouts with strings to parse, durations, and time zones.

use rego_generate::Choices;

use super::{digits, joined, literal, nearly};

const ZONES: [&str; 20] = [
    "",
    "UTC",
    "Local",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "EST5EDT",
    "Etc/GMT+7",
    "Antarctica/Troll",
    "Europe/Dublin",
    "America/Nuuk",
    "Africa/Monrovia",
    "GMT",
    "Asia/Tehran",
    "europe/berlin",
];

/// Parts of time layouts, each with strings to parse; the first string is valid.
const PARTS: [(&str, &[&str]); 44] = [
    (
        "2006",
        &["2024", "1969", "0000", "2100", "2262", "9999", "024"],
    ),
    ("06", &["24", "68", "69", "00"]),
    ("01", &["01", "12", "13", "00", "2"]),
    ("1", &["1", "02", "12", "0"]),
    ("Jan", &["Jan", "feb", "DEC", "January"]),
    ("January", &["January", "march", "MAY", "Jan"]),
    ("02", &["01", "28", "29", "30", "31", "32", "00"]),
    ("2", &["1", "29", "30"]),
    ("_2", &[" 1", "1", "31", "  1"]),
    ("__2", &["  1", "060", " 60", "366"]),
    ("002", &["001", "060", "366", "000"]),
    ("Mon", &["Mon", "tue", "Xyz"]),
    ("Monday", &["Monday", "tuesday", "Mon"]),
    ("15", &["00", "7", "23", "24"]),
    ("03", &["03", "12", "00", "13"]),
    ("3", &["3", "12", "0"]),
    ("04", &["00", "59", "60"]),
    ("4", &["4", "59", "004"]),
    ("05", &["00", "59", "60", "05.25", "05,5"]),
    ("5", &["5", "59", "5.123456789012"]),
    ("PM", &["AM", "PM", "pm"]),
    ("pm", &["am", "pm", "AM"]),
    (".000", &[".123", ".12", ",123", ""]),
    (".999", &[".123", ".1", "", ".1234567890"]),
    (",000000000", &[",123456789", ".123456789", ",1"]),
    ("05.00", &["05.12", "05", "5.12"]),
    ("05,999", &["05,5", "05.5"]),
    ("-0700", &["+0200", "-0330", "+2400", "Z", "+0160"]),
    ("-07:00", &["+02:00", "-14:00", "+24:59"]),
    ("-07", &["+02", "-14", "+25"]),
    ("-070000", &["+020030", "-000001"]),
    ("-07:00:00", &["+02:00:30", "+02:00"]),
    ("Z0700", &["Z", "+0200", "-0000"]),
    ("Z07:00", &["Z", "+02:00", "z"]),
    ("Z07", &["Z", "+02"]),
    ("Z070000", &["Z", "+010203"]),
    ("Z07:00:00", &["Z", "+01:02:03"]),
    (
        "MST",
        &[
            "MST", "CEST", "UTC", "GMT+3", "GMT-24", "+03", "-0130", "WITA", "ABCDE", "ChST",
            "MeST", "XYZ",
        ],
    ),
    ("T", &["T", "t"]),
    ("Z", &["Z"]),
    ("_2006", &["_2024", " 2024"]),
    ("Janet", &["Janet", "Febet"]),
    ("Z0", &["Z0"]),
    ("07", &["07"]),
];

const BETWEEN: [&str; 12] = [
    "-", " ", ":", "", "/", ".", ", ", "T", "  ", "\u{e9}", "_", "0",
];

const NAMED: [&str; 14] = [
    "ANSIC",
    "UnixDate",
    "RubyDate",
    "RFC822",
    "RFC822Z",
    "RFC850",
    "RFC1123",
    "RFC1123Z",
    "RFC3339",
    "RFC3339Nano",
    "Kitchen",
    "DateTime",
    "Stamp",
    "2006-01-02T15:04:05Z07:00",
];

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    Some(match name {
        "time.parse_rfc3339_ns" => vec![literal(rfc3339(choices))],
        "time.parse_ns" if choices.rarely(4) => {
            vec![literal("RFC3339"), literal(rfc3339(choices))]
        }
        "time.parse_ns" => {
            let (layout, text) = layout(choices);
            vec![
                literal(nearly(layout, choices)),
                literal(nearly(text, choices)),
            ]
        }
        "time.parse_duration_ns" => vec![literal(duration(choices))],
        "time.format" | "time.date" | "time.clock" | "time.weekday" => vec![moment(choices)],
        "time.diff" => vec![moment(choices), moment(choices)],
        "time.add_date" => {
            let size = [
                "0",
                "1",
                "-1",
                "12",
                "-13",
                "400",
                "-400",
                "31",
                "100000",
                "-2147483649",
            ];
            let mut operands = vec![moment(choices)];
            operands.extend((0..3).map(|_| choices.of(&size).to_owned()));
            operands
        }
        _ => return None,
    })
}

fn rfc3339(choices: &mut Choices<'_>) -> String {
    let year = choices.of(&[
        "2024", "1970", "1677", "2262", "0001", "9999", "1600", "2100",
    ]);
    let month = choices.of(&["01", "02", "12", "13", "00", "06", "1"]);
    let day = choices.of(&["01", "28", "29", "30", "31", "32", "00"]);
    let hour = choices.of(&["00", "12", "23", "24", "7"]);
    let minute = choices.of(&["00", "30", "59", "60"]);
    let fraction = choices.of(&["", ".5", ".123456789", ".1234567891", ",5", "."]);
    let zone = choices.of(&[
        "Z", "+02:00", "-08:30", "+24:00", "+23:59", "z", "", "+0200", "+00:60",
    ]);
    let mark = choices.of(&["T", "T", "T", "t", " "]);
    nearly(
        format!("{year}-{month}-{day}{mark}{hour}:{minute}:{minute}{fraction}{zone}"),
        choices,
    )
}

/// Generates a time layout, and a string to parse with it.
fn layout(choices: &mut Choices<'_>) -> (String, String) {
    if choices.rarely(8) {
        return (
            choices.of(&NAMED).to_owned(),
            joined(&["02 ", "Jan ", "06 ", "15:04", ":05", "2006"], 6, choices),
        );
    }
    let (mut layout, mut text) = (String::new(), String::new());
    for at in 0..1 + choices.below(5) {
        let between = if at == 0 { "" } else { choices.of(&BETWEEN) };
        let (part, texts) = PARTS
            .get(choices.below(PARTS.len()))
            .copied()
            .unwrap_or_default();
        layout.push_str(between);
        layout.push_str(part);
        text.push_str(between);
        // The first string of a part is valid, the last ones are invalid.
        let first = texts.first().copied().unwrap_or_default();
        text.push_str(if choices.rarely(3) {
            choices.of(texts)
        } else {
            first
        });
    }
    (layout, text)
}

fn duration(choices: &mut Choices<'_>) -> String {
    let units = [
        "s", "m", "h", "ms", "us", "\u{b5}s", "\u{3bc}s", "ns", "d", "w", "y", "", "M", "x",
    ];
    let mut text = choices.of(&["", "", "-", "+", "--"]).to_owned();
    for _ in 0..1 + choices.below(3) {
        let most = if choices.rarely(8) { 20 } else { 4 };
        text.push_str(&digits(most, choices));
        if choices.rarely(3) {
            text.push('.');
            text.push_str(&digits(12, choices));
        }
        text.push_str(choices.of(&units));
    }
    nearly(text, choices)
}

fn moment(choices: &mut Choices<'_>) -> String {
    let nanoseconds = nanoseconds(choices);
    let zone = literal(choices.of(&ZONES));
    match choices.below(5) {
        0 => nanoseconds,
        1 => format!("[{nanoseconds}, {zone}]"),
        2 => format!("[{nanoseconds}, {zone}, {}]", literal(choices.of(&NAMED))),
        _ => format!("[{nanoseconds}, {zone}, {}]", literal(layout(choices).0)),
    }
}

fn nanoseconds(choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        0 => choices
            .of(&[
                "0",
                "-1",
                "9223372036854775807",
                "-9223372036854775808",
                "9223372036854775808",
                "1.5",
                "1e18",
                "1e3",
                "4102444800000000000",
                "4118990400000000000",
            ])
            .to_owned(),
        1 => format!("-{}", whole(digits(18, choices))),
        2 => whole(format!("{}000000000", digits(10, choices))),
        _ => {
            let first = choices.of(&["1", "2", "4", "5", "6", "8"]);
            format!(
                "{first}{}{}",
                digits(9, choices),
                choices.of(&["000000000", "500000000", "123456789"])
            )
        }
    }
}

/// Returns digits without leading zeros.
fn whole(digits: String) -> String {
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        some => some.to_owned(),
    }
}
