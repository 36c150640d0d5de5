//! Signatures of bundles, which another implementation created for the files in `signed/files`.

use reference::bundle::{Bundle, Key, Limits, Verification};
use rego::{Evaluation, Policy, Query, QueryOptions, Value, Version};
use rstest::rstest;

use super::archives::archive;

const FILES: &[(&str, &str)] = &[
    (".manifest", include_str!("signed/files/.manifest")),
    ("README.md", include_str!("signed/files/README.md")),
    ("data.json", include_str!("signed/files/data.json")),
    ("a/w/data.yml", include_str!("signed/files/a/w/data.yml")),
    ("a/y/data.yaml", include_str!("signed/files/a/y/data.yaml")),
    ("deep/p.rego", include_str!("signed/files/deep/p.rego")),
];

const HS256: &str = include_str!("signed/HS256.json");
const HS384: &str = include_str!("signed/HS384.json");
const RS256: &str = include_str!("signed/RS256.json");
const PS384: &str = include_str!("signed/PS384.json");
const ES256: &str = include_str!("signed/ES256.json");
const ES512: &str = include_str!("signed/ES512.json");
const RSA: &str = include_str!("signed/rsa.pem");
const RSA_BARE: &str = include_str!("signed/rsa-bare.pem");
const RSA_CERTIFICATE: &str = include_str!("signed/rsa-certificate.pem");
const EC256: &str = include_str!("signed/ec256.pem");
const EC521: &str = include_str!("signed/ec521.pem");

/// Creates a verification with the key `named`.
fn with(algorithm: &str, key: &str) -> Verification {
    let key = Key {
        key: key.to_owned().into(),
        algorithm: algorithm.to_owned(),
        scope: String::new(),
    };
    Verification {
        keys: [("named".to_owned(), key)].into(),
        key_id: Some("named".to_owned()),
        ..Verification::default()
    }
}

/// Asserts the reason for the refusal of a bundle; an empty reason means that it is accepted.
#[track_caller]
fn judge(title: &str, files: &[(&str, &str)], verification: Option<&Verification>, part: &str) {
    let read = Bundle::read(
        &archive(files),
        "b",
        Version::V1,
        &Limits::default(),
        verification,
    );
    let reason = read
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert_eq!(reason.is_empty(), part.is_empty(), "{title}: {reason}");
    assert!(reason.contains(part), "{title}: `{part}` in: {reason}");
}

#[rstest]
#[case::hs256(HS256, "HS256", "secretsecret", "")]
#[case::rs256(RS256, "RS256", RSA, "")]
#[case::rs256_with_a_bare_key(RS256, "RS256", RSA_BARE, "")]
#[case::rs256_with_a_certificate(RS256, "RS256", RSA_CERTIFICATE, "")]
#[case::ps384(PS384, "PS384", RSA, "")]
#[case::es256(ES256, "ES256", EC256, "")]
#[case::es512(ES512, "ES512", EC521, "")]
#[case::other_secret(HS256, "HS256", "secretsecre", "the signature is not right")]
#[case::other_curve(ES256, "ES256", EC521, "the signature is not right")]
#[case::other_algorithm(RS256, "HS256", RSA, "signed by `RS256`, not `HS256`")]
#[case::no_algorithm(RS256, "none", RSA, "signed by `RS256`, not `none`")]
#[case::secret_for_a_key_pair(RS256, "RS256", "secret", "the key is not in PEM")]
#[case::key_of_another_kind(RS256, "RS256", EC256, "the signature is not right")]
#[case::other_scope(HS384, "HS384", "secretsecret", "the scope is `write`, not ``")]
#[case::no_token(
    r#"{"signatures": []}"#,
    "HS256",
    "x",
    "`signatures` must list one token"
)]
#[case::two_tokens(
    r#"{"signatures": ["a.b.c", "a.b.c"]}"#,
    "HS256",
    "x",
    "must list one token"
)]
#[case::broken_token(r#"{"signatures": ["a.b.c"]}"#, "HS256", "x", "`.signatures.json`: ")]
#[case::plugin(
    r#"{"signatures": ["a.b.c"], "plugin": "p"}"#,
    "HS256",
    "x",
    "by the plugin `p` are not"
)]
#[case::broken_file("[", "HS256", "x", "`.signatures.json`: invalid JSON")]
fn signatures_are_checked_with_their_keys(
    #[case] signature: &str,
    #[case] algorithm: &str,
    #[case] key: &str,
    #[case] part: &str,
) {
    let files = [FILES, &[(".signatures.json", signature)]].concat();
    let title = format!("{algorithm}: {signature}");
    judge(&title, &files, Some(&with(algorithm, key)), part);
}

#[test]
fn keys_are_found_by_their_names() {
    let files = [FILES, &[(".signatures.json", HS384)]].concat();
    let scoped = Verification {
        scope: "write".to_owned(),
        ..with("HS384", "secretsecret")
    };
    let named_by_token = Verification {
        key_id: None,
        ..scoped.clone()
    };
    let mut scope_of_key = with("HS384", "secretsecret");
    for key in scope_of_key.keys.values_mut() {
        "write".clone_into(&mut key.scope);
    }
    let unknown = Verification {
        key_id: Some("other".to_owned()),
        ..scoped.clone()
    };
    for (title, verification, part) in [
        ("scoped", scoped, ""),
        ("named by the token", named_by_token, ""),
        ("scope of the key", scope_of_key, ""),
        ("unknown", unknown, "there is no key `other`"),
        (
            "no keys",
            Verification::default(),
            "there is no key `named`",
        ),
    ] {
        judge(title, &files, Some(&verification), part);
    }
    let nameless = Verification {
        key_id: None,
        ..with("HS256", "secretsecret")
    };
    let files = [FILES, &[(".signatures.json", HS256)]].concat();
    judge("nameless", &files, Some(&nameless), "names a key");
}

/// Returns the files with one file changed, added or (without content) removed.
fn changed<'f>(name: &'f str, text: Option<&'f str>) -> Vec<(&'f str, &'f str)> {
    let others = FILES.iter().copied().filter(|(other, _)| *other != name);
    let changed = text.map(|text| (name, text));
    others
        .chain([(".signatures.json", HS256)])
        .chain(changed)
        .collect()
}

const OTHER_DIGEST: &str = "the digest differs from the one in the signature";

fn strict() -> Verification {
    with("HS256", "secretsecret")
}

fn lenient() -> Verification {
    Verification {
        exclude_files: vec!["*.md".to_owned(), "a/*/data.yml".to_owned()],
        ..strict()
    }
}

fn skip() -> Verification {
    Verification {
        skip: true,
        ..Verification::default()
    }
}

#[rstest]
#[case::changed_text(changed("README.md", Some("readme")), strict(), OTHER_DIGEST)]
#[case::excluded_text(changed("README.md", Some("readme")), lenient(), "")]
#[case::missing_file(
    changed("README.md", None),
    strict(),
    "`README.md`: listed in the signature, but"
)]
#[case::same_document(changed("a/w/data.yml", Some("k: [1, 2]")), strict(), "")]
#[case::changed_document(changed("a/w/data.yml", Some("k: [2, 1]")), strict(), OTHER_DIGEST)]
#[case::excluded_document(changed("a/w/data.yml", Some("k: [2, 1]")), lenient(), "")]
#[case::added_document(
    changed("a/y/data.yml", Some("k: [2, 1]")),
    strict(),
    "`a/y/data.yml`: not listed in the signature"
)]
#[case::changed_policy(
    changed("deep/p.rego", Some("package a\n\np := data.a.n")),
    strict(),
    OTHER_DIGEST
)]
#[case::skipped(changed("deep/p.rego", Some("package a")), skip(), "")]
#[case::same_manifest(
    changed(
        ".manifest",
        Some(r#"{"revision":"s1","roots":["a"],"metadata":{"x":1.0}}"#)
    ),
    strict(),
    ""
)]
#[case::changed_manifest(
    changed(
        ".manifest",
        Some(r#"{"revision":"s2","roots":["a"],"metadata":{"x":1.0}}"#)
    ),
    strict(),
    OTHER_DIGEST
)]
#[case::added_patch(
    changed("patch.json", Some(r#"{"data": [{"op": "remove", "path": "a"}]}"#)),
    strict(),
    "`patch.json`: not listed in the signature"
)]
#[case::no_signature(FILES.to_vec(), strict(), "the bundle has no `.signatures.json`")]
#[case::neither_signature_nor_keys(
    FILES.to_vec(),
    Verification::default(),
    "the bundle has no `.signatures.json`"
)]
#[case::patch_without_a_signature(
    vec![("patch.json", r#"{"data": [{"op": "remove", "path": "a"}]}"#)],
    strict(),
    "the bundle has no `.signatures.json`"
)]
fn files_are_compared_with_the_signature(
    #[case] files: Vec<(&str, &str)>,
    #[case] verification: Verification,
    #[case] part: &str,
) {
    judge(&format!("{files:?}"), &files, Some(&verification), part);
}

/// Creates a token with this header and these claims, signed with the secret `secret`.
fn token(header: &str, claims: &str) -> String {
    let key = r#"{"kty": "oct", "k": "c2VjcmV0"}"#;
    let text = format!("io.jwt.encode_sign({header}, {claims}, {key}, token)");
    let documents = Value::object([("none", Value::Null)]);
    let query = Query::parse(&Policy::default(), &text, &QueryOptions::default());
    let answers = query.map(|query| query.evaluate(&mut Evaluation::new(&documents)));
    let Ok(Ok(answers)) = answers else {
        panic!("{text}: {answers:?}");
    };
    let token = answers.first().map(|answer| answer.to_value());
    let token = token
        .as_ref()
        .and_then(|answer| answer.get("token")?.as_str());
    token.unwrap_or_default().to_owned()
}

const HEADER: &str = r#"{"alg": "HS256"}"#;
const LONG: &str = "83f4982cc7c33004bfc7e60dffb5896af69e270a7ee00ddb333d64b4230e006860b5d4791a607bd9b658aa2672619df10dbf8c3136b446df2f2d4ab0a63080d9";
const SHORT: &str = "aec300dbdd6adc737a6a326bf11b9928d0240454e89becf6e1e68a6ad0981a69";

/// Claims that list a file with its digest.
fn listed(algorithm: &str, hash: &str) -> String {
    format!(
        r#"{{"files": [{{"name": "data.json", "algorithm": "{algorithm}", "hash": "{hash}"}}]}}"#
    )
}

#[rstest]
#[case::digest(HEADER, listed("SHA-512", LONG), "")]
#[case::upper_case_digest(HEADER, listed("SHA-512", &LONG.to_uppercase()), "")]
#[case::short_digest(HEADER, listed("SHA-512-256", SHORT), "")]
#[case::digest_of_another_length(
    HEADER,
    listed("SHA-512", SHORT),
    "the digest differs from the one in the signature"
)]
#[case::md5(HEADER, listed("MD5", LONG), "its digest by `MD5` is not supported")]
#[case::no_digest_algorithm(HEADER, listed("", LONG), "its digest by `` is not supported")]
#[case::no_digest(
    HEADER,
    r#"{"files": [{"name": "data.json"}]}"#.to_owned(),
    "a listed file needs"
)]
#[case::text_instead_of_files(
    HEADER,
    r#"{"files": "data.json"}"#.to_owned(),
    "not listed in the signature"
)]
#[case::no_files(HEADER, "{}".to_owned(), "not listed in the signature")]
#[case::other_algorithm(
    r#"{"alg": "HS512"}"#,
    listed("SHA-512", LONG),
    "signed by `HS512`, not `HS256`"
)]
#[case::critical_header(
    r#"{"alg": "HS256", "crit": ["exp"]}"#,
    listed("SHA-512", LONG),
    "(`crit`)"
)]
fn tokens_are_read_with_care(#[case] header: &str, #[case] claims: String, #[case] part: &str) {
    let signatures = format!(r#"{{"signatures": ["{}"]}}"#, token(header, &claims));
    let files = [
        (".signatures.json", signatures.as_str()),
        ("data.json", r#"{"a": [1.0, "\u2028<"]}"#),
    ];
    let title = format!("{header} {claims}");
    judge(&title, &files, Some(&with("HS256", "secret")), part);
}

#[test]
fn secrets_are_not_shown() {
    let debug_text = format!("{:?}", with("HS256", "secretsecret"));
    assert!(!debug_text.contains("secretsecret"), "{debug_text}");
}
