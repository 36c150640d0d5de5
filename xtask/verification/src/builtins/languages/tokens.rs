//! Operands that are tokens, keys, certificates and signed requests: combinations of recorded
//! operands, some of them with one change, and tokens that are signed in the call itself.

use std::sync::LazyLock;

use rego_generate::Choices;
use serde::Deserialize;
use serde_json::Value;

use super::{joined, list, literal, nearly};

/// Start of a PEM block.
const PEM: &str = "-----BEGIN";

/// Recorded call of a built-in function.
#[derive(Debug, Deserialize)]
struct Recorded {
    call: String,
    operands: Vec<Value>,
}

static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let tables = ["certificates", "jwt"];
    let read = |name: &str| -> Option<Vec<Recorded>> {
        let path = format!("reference/rego/tests/builtins/{name}.json");
        let text = std::fs::read_to_string(crate::root().join(path)).ok()?;
        serde_json::from_str(&text).ok()
    };
    tables.into_iter().filter_map(read).flatten().collect()
});

pub(super) fn operands(name: &str, choices: &mut Choices<'_>) -> Option<Vec<String>> {
    Some(match name {
        "io.jwt.encode_sign" => encode(choices),
        "providers.aws.sign_req" => request(choices),
        "io.jwt.decode" => vec![token(choices)],
        "io.jwt.decode_verify" if choices.rarely(2) => vec![token(choices), constraints(choices)],
        "io.jwt.verify_hs256" | "io.jwt.verify_hs384" | "io.jwt.verify_hs512"
            if choices.rarely(2) =>
        {
            vec![
                token(choices),
                literal(choices.of(&["secret", "", "Secret", "s"])),
            ]
        }
        name if name.starts_with("io.jwt.verify") => {
            vec![
                recorded("io.jwt.verify", 0, choices),
                recorded("io.jwt.verify", 1, choices),
            ]
        }
        "io.jwt.decode_verify" => vec![recorded(name, 0, choices), recorded(name, 1, choices)],
        "crypto.x509.parse_and_verify_certificates" => vec![certificates(choices)],
        "crypto.x509.parse_and_verify_certificates_with_options" => {
            vec![certificates(choices), options(choices)]
        }
        "crypto.x509.parse_certificates" => vec![recorded("crypto.x509.parse_cert", 0, choices)],
        "crypto.x509.parse_keypair" => vec![recorded(name, 0, choices), recorded(name, 1, choices)],
        "crypto.parse_private_keys"
        | "crypto.x509.parse_rsa_private_key"
        | "crypto.x509.parse_certificate_request" => {
            vec![recorded("crypto.", 0, choices)]
        }
        _ => return None,
    })
}

/// Returns an operand of a recorded call, given its position and a prefix of the function's name.
fn recorded(start: &str, position: usize, choices: &mut Choices<'_>) -> String {
    let all: Vec<&Value> = RECORDED
        .iter()
        .filter(|row| row.call.starts_with(start))
        .filter_map(|row| row.operands.get(position))
        .collect();
    let at = choices.below(256) * 256 + choices.below(256);
    let chosen = at.checked_rem(all.len()).and_then(|at| all.get(at));
    match chosen {
        Some(Value::String(text)) => literal(changed(text, choices)),
        Some(other) => other.to_string(),
        None => literal(""),
    }
}

/// Returns the string; in rare cases with a change.
fn changed(text: &str, choices: &mut Choices<'_>) -> String {
    match choices.below(12) {
        0 => nearly(text.to_owned(), choices),
        1 => {
            let at = (choices.below(256) * text.len() / 256).min(text.len());
            text.get(..at).unwrap_or(text).to_owned()
        }
        2 => format!("{text}{}", choices.of(&["\n", " ", "x", "=", "\0"])),
        3 => text.replacen(
            choices.of(&["-----BEGIN ", "\n", "A", ".", "CERTIFICATE"]),
            choices.of(&["", "\r\n", "B", " "]),
            1,
        ),
        4 => format!("{}{text}", choices.of(&["\n", " ", "x\n", "#"])),
        5..=7 if text.starts_with(PEM) => damaged(text, choices),
        _ => text.to_owned(),
    }
}

/// Changes one character of the Base64 text of a PEM block, and thereby a byte or two of its DER.
fn damaged(text: &str, choices: &mut Choices<'_>) -> String {
    let first = text.find('\n').unwrap_or_default();
    let at = first + (choices.below(256) * 256 + choices.below(256)) % (text.len() - first);
    let other = choices.of(&["A", "B", "g", "w", "/", "4", "9"]);
    match text.get(at..=at) {
        Some(old) if old.chars().all(|c| c.is_ascii_alphanumeric()) => {
            let mut damaged = text.to_owned();
            damaged.replace_range(at..=at, other);
            damaged
        }
        _ => text.to_owned(),
    }
}

/// Generates the JSON of a header or of claims, with some of the members.
fn object(members: &[&str], choices: &mut Choices<'_>) -> String {
    let chosen = list(3, choices, &|choices| choices.of(members).to_owned());
    format!("{{{chosen}}}")
}

const HEADERS: [&str; 12] = [
    "\"alg\": \"HS256\"",
    "\"alg\": \"HS512\"",
    "\"alg\": \"none\"",
    "\"alg\": \"RS256\"",
    "\"typ\": \"JWT\"",
    "\"cty\": \"JWT\"",
    "\"cty\": \"text\"",
    "\"kid\": \"a\"",
    "\"crit\": [\"b64\"]",
    "\"alg\": 1",
    "\"enc\": \"A128GCM\"",
    "\"b64\": false",
];
const CLAIMS: [&str; 14] = [
    "\"iss\": \"me\"",
    "\"aud\": \"you\"",
    "\"aud\": [\"you\", \"all\"]",
    "\"exp\": 2000000000",
    "\"exp\": 1",
    "\"nbf\": 2000000000",
    "\"nbf\": 1",
    "\"exp\": \"1\"",
    "\"exp\": 1.5e9",
    "\"a\": {\"b\": [1, null]}",
    "\"aud\": 1",
    "\"iat\": 1",
    "\"exp\": -1",
    "\"iss\": 1",
];

/// Generates an expression that evaluates to a token.
fn token(choices: &mut Choices<'_>) -> String {
    if choices.rarely(4) {
        return recorded("io.jwt.", 0, choices);
    }
    let claims = match choices.below(8) {
        0 => choices
            .of(&[
                "",
                "[]",
                "1",
                "null",
                "{",
                "\"a\"",
                "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln",
                "{} x",
            ])
            .to_owned(),
        _ => object(&CLAIMS, choices),
    };
    let head = match choices.below(3) {
        0 => object(&HEADERS, choices),
        _ => format!(
            "{{{}}}",
            choices.of(&[
                "\"alg\": \"HS256\"",
                "\"typ\": \"JWT\", \"alg\": \"HS256\"",
                "\"alg\": \"HS384\"",
                "\"alg\": \"HS512\", \"kid\": \"x\""
            ])
        ),
    };
    let (head, claims) = (literal(head), literal(claims));
    if choices.rarely(3) {
        let encoding = choices.of(&[
            "base64url.encode_no_pad",
            "base64url.encode_no_pad",
            "base64url.encode",
        ]);
        let signature =
            literal(choices.of(&["", "c2ln", "c2ln=", "c2", "_-", "+/", "A", " ", "c2ln.x"]));
        return format!("concat(\".\", [{encoding}({head}), {encoding}({claims}), {signature}])");
    }
    format!(
        "io.jwt.encode_sign_raw({head}, {claims}, {})",
        literal("{\"kty\": \"oct\", \"k\": \"c2VjcmV0\"}")
    )
}

/// Generates the constraints for `io.jwt.decode_verify`.
fn constraints(choices: &mut Choices<'_>) -> String {
    let secret = choices.of(&[
        "\"secret\": \"secret\"",
        "\"secret\": \"secret\"",
        "\"secret\": \"\"",
        "\"cert\": \"x\"",
        "\"secret\": \"x\"",
    ]);
    let mut members = vec![secret.to_owned()];
    let groups: [&[&str]; 5] = [
        &[
            "\"alg\": \"HS256\"",
            "\"alg\": \"HS512\"",
            "\"alg\": \"none\"",
            "\"alg\": 1",
            "\"alg\": \"\"",
        ],
        &["\"iss\": \"me\"", "\"iss\": \"you\"", "\"iss\": 1"],
        &["\"aud\": \"you\"", "\"aud\": \"x\"", "\"aud\": [\"you\"]"],
        &[
            "\"time\": 1000000000",
            "\"time\": 1700000000000000000",
            "\"time\": 3000000000000000000",
            "\"time\": \"x\"",
            "\"time\": 1.5",
            "\"time\": 2000000000000000000",
        ],
        &["\"x\": 1"],
    ];
    for group in groups {
        if choices.rarely(3) {
            members.push(choices.of(group).to_owned());
        }
    }
    // The time is fixed, because the current time could change the result between both sides.
    if !members.iter().any(|member| member.starts_with("\"time\"")) {
        members.push("\"time\": 1700000000000000000".to_owned());
    }
    format!("{{{}}}", members.join(", "))
}

/// Generates the operands of `io.jwt.encode_sign`, for a deterministic signature.
fn encode(choices: &mut Choices<'_>) -> Vec<String> {
    let once = |members: &[&str], choices: &mut Choices<'_>| {
        let (one, other) = (
            choices.of(members).to_owned(),
            choices.of(members).to_owned(),
        );
        let name = |member: &str| member.split(':').next().unwrap_or_default().to_owned();
        if name(&one) == name(&other) {
            format!("{{{one}}}")
        } else {
            format!("{{{one}, {other}}}")
        }
    };
    let header = match choices.below(4) {
        0 => once(&HEADERS, choices),
        _ => format!(
            "{{\"alg\": {}, \"typ\": \"JWT\"}}",
            literal(choices.of(&["HS256", "HS384", "HS512", "hs256", "", "none", "XX"]))
        ),
    };
    let key = choices.of(&[
        "{\"kty\": \"oct\", \"k\": \"c2VjcmV0\"}",
        "{\"kty\": \"oct\", \"k\": \"\"}",
        "{\"kty\": \"oct\"}",
        "{\"kty\": \"oct\", \"k\": \"c2VjcmV0==\"}",
        "{\"kty\": \"oct\", \"k\": \"/+\"}",
        "{\"kty\": \"oct\", \"k\": 1}",
        "{}",
        "{\"kty\": \"OCT\", \"k\": \"YQ\"}",
        "{\"kty\": \"oct\", \"k\": \"YQ\", \"alg\": \"HS512\", \"kid\": \"a\", \"use\": \"enc\"}",
        "{\"kty\": \"oct\", \"k\": \"A\"}",
        "{\"keys\": []}",
        "{\"kty\": \"oct\", \"k\": \"YQ\", \"key_ops\": [\"verify\"]}",
        "{\"kty\": \"oct\", \"k\": \"c2VjcmV0\"}",
        "{\"kty\": \"oct\", \"k\": \"c2VjcmV0\"}",
    ]);
    vec![header, once(&CLAIMS, choices), key.to_owned()]
}

fn certificates(choices: &mut Choices<'_>) -> String {
    let one = recorded("crypto.x509.parse_cert", 0, choices);
    match choices.below(3) {
        0 => one,
        1 => format!(
            "concat(\"\\n\", [{one}, {}])",
            recorded("crypto.x509.parse_cert", 0, choices)
        ),
        _ => recorded("crypto.x509.parse_keypair", 0, choices),
    }
}

fn options(choices: &mut Choices<'_>) -> String {
    let groups: [&[&str]; 4] = [
        &[
            "\"CurrentTime\": 1800000000000000000",
            "\"CurrentTime\": 1",
            "\"CurrentTime\": \"x\"",
            "\"CurrentTime\": 1.5",
            "\"CurrentTime\": -1",
        ],
        &[
            "\"DNSName\": \"a.b\"",
            "\"DNSName\": \"\"",
            "\"DNSName\": 1",
        ],
        &[
            "\"KeyUsages\": [\"KeyUsageAny\"]",
            "\"KeyUsages\": [\"KeyUsageServerAuth\", \"KeyUsageClientAuth\"]",
            "\"KeyUsages\": [\"x\"]",
            "\"KeyUsages\": [1]",
            "\"KeyUsages\": []",
            "\"KeyUsages\": \"KeyUsageAny\"",
            "\"KeyUsages\": [\"KeyUsageNope\"]",
        ],
        &[
            "\"MaxConstraintComparisons\": 1",
            "\"MaxConstraintComparisons\": \"x\"",
            "\"MaxConstraintComparisons\": 1.5",
            "\"x\": 1",
        ],
    ];
    let mut members = Vec::new();
    for group in groups {
        if choices.rarely(2) {
            members.push(choices.of(group).to_owned());
        }
    }
    format!("{{{}}}", members.join(", "))
}

/// Generates the operands of `providers.aws.sign_req`.
fn request(choices: &mut Choices<'_>) -> Vec<String> {
    let url = format!(
        "{}{}",
        choices.of(&[
            "http://example.com",
            "https://a.b:8443",
            "http://x",
            "x",
            "http://[::1]:80",
            "http://u:p@x"
        ]),
        joined(
            &[
                "/", "a", "?", "b=1", "&", "%20", " ", "+", "\u{e9}", "/../", "#f", "~", "=",
                "a=2", "%2f"
            ],
            5,
            choices
        )
    );
    let mut members = vec![
        format!("\"url\": {}", literal(url)),
        format!(
            "\"method\": {}",
            literal(choices.of(&["GET", "post", "PUT", "", "get"]))
        ),
    ];
    let groups: [&[&str]; 4] = [
        &[
            "\"headers\": {\"X-A\": \" b  c \"}",
            "\"headers\": {\"host\": \"h\"}",
            "\"headers\": {\"a\": 1}",
            "\"headers\": {\"B\": \"1\", \"a\": \"2\"}",
            "\"headers\": []",
            "\"headers\": {\"Authorization\": \"x\"}",
            "\"headers\": {\"a\": [\"1\", \"2\"]}",
            "\"headers\": {\"x-amz-date\": \"x\", \"user-agent\": \"u\"}",
        ],
        &[
            "\"body\": {\"a\": 1}",
            "\"body\": \"a\"",
            "\"body\": null",
            "\"body\": [1, 2]",
        ],
        &[
            "\"raw_body\": \"a\"",
            "\"raw_body\": \"\"",
            "\"raw_body\": 1",
        ],
        &["\"timeout\": 1"],
    ];
    for group in groups {
        if choices.rarely(3) {
            members.push(choices.of(group).to_owned());
        }
    }
    let mut config = vec![
        "\"aws_access_key\": \"AK\"",
        "\"aws_secret_access_key\": \"SK\"",
        "\"aws_service\": \"s3\"",
        "\"aws_region\": \"eu-west-1\"",
    ];
    match choices.below(8) {
        0 => {
            config.remove(choices.below(4));
        }
        1 => config.push("\"aws_session_token\": \"T\""),
        2 => config.push(choices.of(&[
            "\"disable_payload_signing\": true",
            "\"disable_payload_signing\": 1",
            "\"x\": 1",
            "\"aws_session_token\": 1",
        ])),
        3 => {
            config.remove(2);
            config.push(choices.of(&[
                "\"aws_service\": \"es\"",
                "\"aws_service\": \"\"",
                "\"aws_service\": 1",
                "\"aws_service\": \"glacier\"",
            ]));
        }
        _ => {}
    }
    let time = choices.of(&[
        "1451606400000000000",
        "0",
        "1700000000123456789",
        "-1",
        "1.5",
        "4e18",
        "9223372036854775808",
        "\"x\"",
    ]);
    vec![
        format!("{{{}}}", members.join(", ")),
        format!("{{{}}}", config.join(", ")),
        time.to_owned(),
    ]
}
