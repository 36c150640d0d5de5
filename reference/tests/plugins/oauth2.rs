//! OAuth 2.0 tokens from an authorization server.

use rego::jwt;
use rstest::rstest;
use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, ReceivedRequest, bundle};

/// Secret of the key with the name `shared`.
const SHARED: &str = "shared secret of thirty two bytes";

/// Digest of a certificate, in the configuration (hexadecimal) and in the token header (Base64).
const THUMBPRINT: (&str, &str) = (
    "8F1BDDDE9982299E62749C20EDDBAAC57F619D04",
    "jxvd3pmCKZ5idJwg7duqxX9hnQQ=",
);

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Returns a response of the authorization server: a token with further members.
fn answer(more: &Value) -> Fixture {
    let mut answer = json!({"access_token": " given\n", "token_type": "bEARER"});
    if let (Some(members), Some(more)) = (answer.as_object_mut(), more.as_object()) {
        members.extend(more.clone());
    }
    Fixture {
        body: answer.to_string().into_bytes(),
        ..Fixture::default()
    }
}

/// Starts an engine that downloads a bundle with a token from `/token`, with these keys.
async fn engine(mut oauth2: Value, keys: Value, gives: Fixture) -> Done<Environment> {
    let mut environment = Environment::new().await?;
    let archive = bundle(&[
        (".manifest", r#"{"roots": ["a"]}"#),
        ("data.json", r#"{"a": 1}"#),
    ])?;
    environment.mock.put("/rules", Fixture::of(archive, "1"));
    environment.mock.put("/token", gives);
    oauth2["token_url"] = json!(format!("{}/token", environment.url()));
    let credentials = json!({"oauth2": oauth2});
    let config = json!({
        "services": {"s": {"url": environment.url(), "credentials": credentials}},
        "keys": keys,
        "bundles": {"rules": {"resource": "/rules", "polling": quick()}},
        "status": {"console": true},
    });
    environment.engine(config).await?;
    Ok(environment)
}

/// Returns the decoded names and values of a form, in order.
fn pairs(form: &str) -> Done<Vec<(String, String)>> {
    let url = reqwest::Url::parse(&format!("http://form/?{form}"))?;
    let pairs = url.query_pairs().into_owned();
    Ok(pairs.collect())
}

/// Configured grant, with the expected request for a token.
struct Case {
    oauth2: Value,
    authorization: Option<&'static str>,
    /// Fields of the form, except assertions, which contain random and time-dependent values.
    form: Vec<(&'static str, &'static str)>,
    /// Form field with an assertion, and the key that verifies its signature.
    signed: Option<(&'static str, &'static str)>,
}

fn cases(file: &str) -> Vec<Case> {
    vec![
        Case {
            oauth2: json!({
                "client_id": "me", "client_secret": "a b+c", "scopes": ["read", "write"],
                "additional_parameters": {"more": "a b", "grant_type": "own"},
            }),
            authorization: Some("Basic bWU6YSBiK2M="),
            form: vec![
                ("grant_type", "client_credentials"),
                ("more", "a b"),
                ("scope", "read write"),
            ],
            signed: None,
        },
        Case {
            oauth2: json!({"client_id": "me", "client_assertion": "abc", "client_secret": ""}),
            authorization: None,
            form: vec![
                ("client_assertion", "abc"),
                ("client_assertion_type", ASSERTION),
                ("client_id", "me"),
                ("grant_type", "client_credentials"),
            ],
            signed: None,
        },
        Case {
            oauth2: json!({
                "client_id": "me", "client_assertion_path": file, "client_assertion_type": "own",
            }),
            authorization: None,
            form: vec![
                ("client_assertion", "from-file"),
                ("client_assertion_type", "own"),
                ("client_id", "me"),
                ("grant_type", "client_credentials"),
            ],
            signed: None,
        },
        Case {
            oauth2: json!({"client_id": "me", "signing_key": "curve"}),
            authorization: None,
            form: vec![
                ("client_assertion_type", ASSERTION),
                ("client_id", "me"),
                ("grant_type", "client_credentials"),
            ],
            signed: Some(("client_assertion", "ES256")),
        },
        Case {
            oauth2: json!({
                "grant_type": "jwt_bearer", "signing_key": "shared", "scopes": ["a", "b"],
                "additional_claims": {"iss": "me", "n": 5}, "include_jti_claim": true,
                "thumbprint": THUMBPRINT.0,
            }),
            authorization: None,
            form: vec![
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("scope", "a b"),
            ],
            signed: Some(("assertion", "HS256")),
        },
    ]
}

#[tokio::test]
async fn each_grant_shows_what_it_is() -> Done {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("assertion");
    std::fs::write(&file, "from-file\n")?;
    let key_pair = rcgen::KeyPair::generate()?;
    let keys = json!({
        "shared": {"algorithm": "HS256", "private_key": SHARED},
        "curve": {"algorithm": "ES256", "private_key": key_pair.serialize_pem()},
    });
    for case in cases(&file.to_string_lossy()) {
        let token_response = answer(&json!({"expires_in": 3600}));
        let started = now()?;
        let environment = engine(case.oauth2.clone(), keys.clone(), token_response).await?;
        environment.wait_for_data("a", json!(1)).await?;
        let token_requests = environment.mock.seen("/token");
        let [token_request]: [ReceivedRequest; 1] =
            token_requests.try_into().map_err(|_| "one question")?;
        let what = &case.oauth2;
        assert_eq!(
            token_request.header("authorization"),
            case.authorization,
            "{what}"
        );
        let mut form = pairs(&token_request.text)?;
        if let Some((name, algorithm)) = case.signed {
            let at = form.iter().position(|(found, _)| found == name);
            let (_, token) = form.remove(at.ok_or("no assertion")?);
            let verifies = match algorithm {
                "HS256" => SHARED.to_owned(),
                _ => key_pair.public_key_pem(),
            };
            jwt::verify(&token, algorithm, &verifies)?;
            assert_claims(&token, what, started)?;
        }
        let form: Vec<(&str, &str)> = form.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(form, case.form, "{what}");
        for seen in environment.mock.seen("/rules") {
            assert_eq!(seen.header("authorization"), Some("Bearer given"));
        }
    }
    Ok(())
}

/// Returns the current time in seconds since 1970.
fn now() -> Done<u64> {
    Ok(std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_secs())
}

/// Asserts that the header and the claims of an assertion match the configuration, and that it was
/// issued at `started` or later.
fn assert_claims(token: &str, oauth2: &Value, started: u64) -> Done {
    let (header, claims) = jwt::unverified(token)?;
    let text = |value: Option<&rego::Value>| value.map(ToString::to_string);
    let number = |name| text(claims.get(name)).and_then(|text| text.parse::<u64>().ok());
    let (issued, ends) = (number("iat").ok_or("iat")?, number("exp").ok_or("exp")?);
    assert_eq!(ends - issued, 600);
    let now = now()?;
    assert!(
        (started..=now).contains(&issued),
        "{started} {issued} {now}"
    );
    let additional_claims = oauth2["additional_claims"].as_object();
    for (name, value) in additional_claims.into_iter().flatten() {
        assert_eq!(text(claims.get(name.as_str())), Some(value.to_string()));
    }
    let scopes = oauth2.get("scopes").map(|_| "\"a b\"".to_owned());
    assert_eq!(text(claims.get("scope")), scopes);
    let id = text(claims.get("jti")).map(|id| id.len());
    let expected = oauth2.get("include_jti_claim").map(|_| 38);
    assert_eq!(id, expected);
    assert_eq!(text(header.get("typ")), Some("\"JWT\"".to_owned()));
    let digest = oauth2
        .get("thumbprint")
        .map(|_| format!("\"{}\"", THUMBPRINT.1));
    assert_eq!(text(header.get("x5t")), digest);
    Ok(())
}

#[rstest]
#[case::seconds(json!({"expires_in": 3600}), true)]
#[case::seconds_as_a_text(json!({"expires_in": "3600"}), true)]
#[case::no_end(json!({}), true)]
#[case::soon(json!({"expires_in": 9}), false)]
#[case::negative(json!({"expires_in": -1}), true)]
#[tokio::test]
async fn tokens_are_used_until_shortly_before_their_end(
    #[case] more: Value,
    #[case] once: bool,
) -> Done {
    let secret = json!({"client_id": "me", "client_secret": "x"});
    let environment = engine(secret, json!({}), answer(&more)).await?;
    let mock = &environment.mock;
    let enough = || Some(mock.seen("/rules")).filter(|seen| seen.len() > 3);
    until("four requests", enough).await?;
    let token_request_count = mock.seen("/token").len();
    assert_eq!(
        token_request_count == 1,
        once,
        "{more}: asked {token_request_count} times"
    );
    Ok(())
}

/// Answer that leads to where it is from.
fn circle() -> Fixture {
    let mut circle = Fixture::status(307);
    circle.headers.push(("location", "/token".to_owned()));
    circle
}

#[rstest]
#[case::refusal(Fixture::status(401), "the authorization server replied with 401")]
#[case::redirect(circle(), "the authorization server replied with 307")]
#[case::no_json(Fixture::of(b"hidden".to_vec(), "1"), "gave no token")]
#[case::other_type(answer(&json!({"token_type": "mac"})), "is not a bearer token")]
#[case::number(answer(&json!({"access_token": 5})), "gave no token")]
#[case::long(Fixture::of(vec![b' '; (1 << 20) + 1], "1"), "is too long")]
#[case::line_feed(answer(&json!({"access_token": "a\nb"})), "cannot be sent")]
#[tokio::test]
async fn what_gives_no_token_is_reported_without_a_secret(
    #[case] token_response: Fixture,
    #[case] part: &str,
) -> Done {
    let secret = json!({"client_id": "me", "client_secret": "hidden"});
    let environment = engine(secret, json!({}), token_response).await?;
    let failed = |_, answer: &Value| {
        let message = answer["result"]["bundles"]["rules"]["message"].as_str();
        message.is_some_and(|message| message.contains(part))
    };
    let answer = environment.wait_for("/v1/status", failed).await?;
    assert!(!answer.to_string().contains("hidden"), "{answer}");
    assert!(environment.mock.seen("/rules").is_empty());
    Ok(())
}
