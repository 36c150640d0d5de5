//! Credentials that cloud providers issue to their workloads.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use test_server::{Request, Response, TestServer, empty, header, respond};

use crate::environment::{Done, Environment, HANG_LIMIT, get, quick, until};
use crate::program::Program;

/// Expiry time of keys that remain valid during a test.
const FAR: &str = "2099-01-01T00:00:00Z";

/// Headers of a request that [`line`] prints.
const HEADERS: [&str; 6] = [
    "authorization",
    "metadata",
    "metadata-flavor",
    "x-aws-ec2-metadata-token",
    "x-aws-ec2-metadata-token-ttl-seconds",
    "x-identity-header",
];

/// Returns a response of the AWS Security Token Service with a key.
fn document(action: &str, end: &str) -> String {
    format!(
        r#"<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result>
        <AssumedRoleUser><Arn>arn</Arn></AssumedRoleUser><Credentials>
        <AccessKeyId>given</AccessKeyId><SecretAccessKey>hidden</SecretAccessKey>
        <SessionToken>session</SessionToken><Expiration>{end}</Expiration>
        </Credentials></{action}Result><ResponseMetadata/></{action}Response>"#
    )
}

/// Responds like the metadata services of all cloud providers. Keys expire at `end`, tokens after a
/// number of seconds.
fn answer(request: &Request, end: &str, seconds: u64) -> Response {
    let path = request.uri().path();
    let body = String::from_utf8_lossy(request.body()).into_owned();
    let token = |seconds: Value| {
        json!({"access_token": "given", "token_type": "Bearer", "expires_in": seconds}).to_string()
    };
    let body = match path {
        "/latest/api/token" => "session-of-machine".to_owned(),
        _ if path.starts_with("/refuses") => return empty(403),
        "/empty" => "{}".to_owned(),
        _ if path.ends_with("/identity") => format!("e30.{}.x", encoded_end(seconds)),
        _ if path.starts_with("/computeMetadata/") => token(json!(seconds)),
        _ if path.starts_with("/azure") => token(json!(seconds.to_string())),
        _ if body.contains("Action=AssumeRoleWithWebIdentity&") => {
            document("AssumeRoleWithWebIdentity", end)
        }
        _ if body.contains("Action=AssumeRole&") => document("AssumeRole", end),
        _ => {
            let (access, secret) = ("AccessKeyId", "SecretAccessKey");
            let key = json!({"Code": "Success", access: "given", secret: "hidden",
                             "Token": "session", "Expiration": end});
            key.to_string()
        }
    };
    respond(200, &[], body)
}

/// Encodes the claims of a token that expires after a number of seconds.
fn encoded_end(seconds: u64) -> String {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let claims = json!({"exp": now.as_secs() + seconds}).to_string();
    base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, claims)
}

/// Formats a request as one line, with only the key id of an AWS signature.
fn line(request: &Request) -> String {
    let mut line = format!("{} {}", request.method(), request.uri());
    for name in HEADERS {
        let value = header(request, name);
        let value = match value.starts_with("AWS4-") {
            true => value.split('/').next().unwrap_or_default(),
            false => value,
        };
        if !value.is_empty() {
            line += &format!(" {name}: {value}");
        }
    }
    let body = String::from_utf8_lossy(request.body());
    match body.is_empty() {
        true => line,
        false => format!("{line} {body}"),
    }
}

fn config(environment: &Environment, credentials: &Value) -> Value {
    json!({
        "services": {"s": {"url": environment.url(), "credentials": credentials}},
        "bundles": {"rules": {"resource": "/rules", "polling": quick()}},
        "status": {"console": true},
    })
}

/// Configured credentials, the requests that the engine sends to obtain them, and the beginning of
/// its authorization for the bundle. `CLOUD` stands for the address of the server, `FILE` for a
/// file with a token.
struct Case {
    credentials: Value,
    variables: &'static [(&'static str, &'static str)],
    expected_requests: &'static [&'static str],
    proof: &'static str,
}

const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=given/";

fn keys_of_aws() -> Vec<Case> {
    let in_container = json!({"s3_signing": {"metadata_credentials": {"aws_region": "east"}}});
    let machine = json!({"metadata_credentials": {"aws_region": "east", "iam_role": "reader"}});
    let identity = json!({"aws_region": "East", "session_name": "own", "iam_role_arn": "no"});
    let assumes = |aws_signing: Value| {
        json!({"s3_signing": {"assume_role_credentials": {
            "aws_region": "east", "iam_role_arn": "arn:role", "aws_signing": aws_signing,
        }}})
    };
    vec![
        Case {
            credentials: json!({"s3_signing": machine}),
            variables: &[("http_proxy", "CLOUD"), ("no_proxy", "")],
            expected_requests: &[
                "PUT http://169.254.169.254/latest/api/token x-aws-ec2-metadata-token-ttl-seconds: 60",
                "GET http://169.254.169.254/latest/meta-data/iam/security-credentials/reader \
                 x-aws-ec2-metadata-token: session-of-machine",
            ],
            proof: SIGNED,
        },
        Case {
            credentials: in_container.clone(),
            variables: &[
                ("http_proxy", "CLOUD"),
                ("no_proxy", ""),
                ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/key"),
            ],
            expected_requests: &["GET http://169.254.170.2/v2/key"],
            proof: SIGNED,
        },
        Case {
            credentials: in_container.clone(),
            variables: &[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/key"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token"),
            ],
            expected_requests: &["GET /key authorization: token"],
            proof: SIGNED,
        },
        Case {
            credentials: in_container,
            variables: &[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/key"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "FILE"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token"),
            ],
            expected_requests: &["GET /key authorization: from file"],
            proof: SIGNED,
        },
        Case {
            credentials: json!({"s3_signing": {"web_identity_credentials": identity}}),
            variables: &[
                ("AWS_ENDPOINT_URL_STS", "CLOUD"),
                ("AWS_ROLE_ARN", "arn:role"),
                ("AWS_WEB_IDENTITY_TOKEN_FILE", "FILE"),
            ],
            expected_requests: &[
                "POST / Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Arole&\
                     RoleSessionName=own&Version=2011-06-15&WebIdentityToken=from+file%0A",
            ],
            proof: SIGNED,
        },
        Case {
            credentials: assumes(json!({"environment_credentials": {}})),
            variables: &[("AWS_ENDPOINT_URL_STS", "CLOUD")],
            expected_requests: &["POST / authorization: AWS4-HMAC-SHA256 Credential=access \
                     Action=AssumeRole&RoleArn=arn%3Arole&RoleSessionName=open-policy-agent&\
                     Version=2011-06-15"],
            proof: SIGNED,
        },
        Case {
            credentials: assumes(json!({
                "web_identity_credentials": {"iam_role_arn": "first"},
                "metadata_credentials": {"aws_region": "east"},
            })),
            variables: &[
                ("AWS_ENDPOINT_URL_STS", "CLOUD"),
                ("AWS_ROLE_ARN", "unused"),
                ("AWS_WEB_IDENTITY_TOKEN_FILE", "FILE"),
            ],
            expected_requests: &[
                "POST / Action=AssumeRoleWithWebIdentity&RoleArn=first&\
                 RoleSessionName=open-policy-agent&Version=2011-06-15&\
                 WebIdentityToken=from+file%0A",
                "POST / authorization: AWS4-HMAC-SHA256 Credential=given \
                 Action=AssumeRole&RoleArn=arn%3Arole&RoleSessionName=open-policy-agent&\
                 Version=2011-06-15",
            ],
            proof: SIGNED,
        },
    ]
}

fn places_in_their_order() -> Vec<Case> {
    let several = json!({"s3_signing": {
        "metadata_credentials": {"aws_region": "east"},
        "profile_credentials": {"path": "/missing", "aws_region": "east"},
        "environment_credentials": {},
    }});
    vec![
        Case {
            credentials: several.clone(),
            variables: &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/key")],
            expected_requests: &[],
            proof: "AWS4-HMAC-SHA256 Credential=access/",
        },
        Case {
            credentials: several,
            variables: &[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/key"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token"),
                ("AWS_ACCESS_KEY_ID", ""),
            ],
            expected_requests: &["GET /key authorization: token"],
            proof: SIGNED,
        },
    ]
}

fn tokens_of_others() -> Vec<Case> {
    let path = "/computeMetadata/own/token";
    vec![
        Case {
            credentials: json!({"gcp_metadata": {"endpoint": "CLOUD", "audience": "https://a/b"}}),
            variables: &[],
            expected_requests: &[
                "GET /computeMetadata/v1/instance/service-accounts/default/identity\
                     ?audience=https://a/b metadata-flavor: Google",
            ],
            proof: "Bearer e30.",
        },
        Case {
            credentials: json!({"gcp_metadata": {"scopes": ["https://a/b", "c"]}}),
            variables: &[("http_proxy", "CLOUD"), ("no_proxy", "")],
            expected_requests: &[
                "GET http://metadata.google.internal/computeMetadata/v1/instance/\
                     service-accounts/default/token?scopes=https://a/b,c metadata-flavor: Google",
            ],
            proof: "Bearer given",
        },
        Case {
            credentials: json!({"gcp_metadata": {
                "endpoint": "CLOUD", "scopes": ["c"], "access_token_path": path,
            }}),
            variables: &[],
            expected_requests: &["GET /computeMetadata/own/token?scopes=c metadata-flavor: Google"],
            proof: "Bearer given",
        },
        Case {
            credentials: json!({"azure_managed_identity": {
                "endpoint": "CLOUD/azure", "object_id": "o", "client_id": "c", "mi_res_id": "/m",
            }}),
            variables: &[("IDENTITY_ENDPOINT", "CLOUD/refuses")],
            expected_requests: &[
                "GET /azure?api-version=2018-02-01&client_id=c&mi_res_id=%2Fm&object_id=o&\
                     resource=https%3A%2F%2Fstorage.azure.com%2F metadata: true",
            ],
            proof: "Bearer given",
        },
        Case {
            credentials: json!({"azure_managed_identity": {"resource": "r"}}),
            variables: &[
                ("IDENTITY_ENDPOINT", "CLOUD/azure"),
                ("IDENTITY_HEADER", "own"),
            ],
            expected_requests: &[
                "GET /azure?api-version=2019-08-01&resource=r x-identity-header: own",
            ],
            proof: "Bearer given",
        },
        Case {
            credentials: json!({"azure_managed_identity": {
                "endpoint": "CLOUD/azure", "api_version": "v", "use_app_service_msi": true,
            }}),
            variables: &[("IDENTITY_HEADER", "own")],
            expected_requests: &[
                "GET /azure?api-version=v&resource=https%3A%2F%2Fstorage.azure.com%2F \
                     x-identity-header: own",
            ],
            proof: "Bearer given",
        },
    ]
}

/// Starts an engine and a server with keys and tokens of a given expiry.
async fn start(
    case: &Case,
    end: String,
    seconds: u64,
) -> Done<(Environment, TestServer, Program, std::net::SocketAddr)> {
    let environment = Environment::new().await?;
    let file = environment.folder.path().join("token");
    std::fs::write(&file, "from file\n")?;
    let file = file.to_string_lossy().into_owned();
    let cloud = TestServer::start(move |request: Request| {
        std::future::ready(answer(&request, &end, seconds))
    })
    .await?;
    let set = |text: &str| text.replace("CLOUD", &cloud.url()).replace("FILE", &file);
    let credentials = serde_json::from_str(&set(&case.credentials.to_string()))?;
    let variables = case.variables.iter();
    let variables: Vec<_> = variables.map(|(name, value)| (*name, set(value))).collect();
    let config = config(&environment, &credentials);
    let (program, address) = Program::start_within(&environment, config, &variables)?;
    Ok((environment, cloud, program, address))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cloud_is_asked_its_way_and_once() -> Done {
    let cases = [keys_of_aws(), places_in_their_order(), tokens_of_others()];
    for case in cases.into_iter().flatten() {
        let (environment, cloud, _program, _) = start(&case, FAR.to_owned(), 3600).await?;
        let mock = &environment.mock;
        let enough = || Some(mock.seen("/rules")).filter(|seen| seen.len() > 3);
        let what = format!("{} {:?}", case.credentials, case.variables);
        for seen in until(&what, enough).await? {
            let proof = seen.header("authorization").unwrap_or_default();
            assert!(proof.starts_with(case.proof), "{what}: {proof}");
            if case.proof == SIGNED {
                assert!(proof.contains("/east/s3/aws4_request") || proof.contains("/East/"));
                assert_eq!(seen.header("x-amz-security-token"), Some("session"));
            }
        }
        let requests: Vec<String> = cloud.requests().iter().map(line).collect();
        assert_eq!(requests, case.expected_requests, "{what}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_soon_is_asked_for_again() -> Done {
    let soon = SystemTime::now() + Duration::from_secs(240);
    let soon = humantime::format_rfc3339_seconds(soon).to_string();
    for case in [
        keys_of_aws().swap_remove(2),
        tokens_of_others().swap_remove(0),
    ] {
        let (environment, cloud, _program, _) = start(&case, soon.clone(), 9).await?;
        let enough = || Some(cloud.requests()).filter(|requests| requests.len() > 3);
        until("four questions", enough).await?;
        assert!(!environment.mock.seen("/rules").is_empty());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_cloud_gives_is_reported() -> Done {
    let container = json!({"s3_signing": {"metadata_credentials": {"aws_region": "east"}}});
    let several = places_in_their_order().swap_remove(0).credentials;
    let failing_case = |credentials: &Value, variables, part| {
        let credentials = credentials.clone();
        (
            Case {
                credentials,
                variables,
                expected_requests: &[],
                proof: "",
            },
            part,
        )
    };
    let gcp = json!({"gcp_metadata": {"endpoint": "CLOUD/refuses", "audience": "a",
                                      "identity_token_path": ""}});
    let custom_path = json!({"gcp_metadata": {"endpoint": "CLOUD", "scopes": ["a"],
                                      "access_token_path": "/empty"}});
    for (case, part) in [
        failing_case(&container, &[], "neither `iam_role` is configured nor"),
        failing_case(
            &several,
            &[("AWS_ACCESS_KEY_ID", "")],
            "no AWS_ACCESS_KEY_ID set in environment; file `/missing`: ",
        ),
        failing_case(
            &container,
            &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/key")],
            "needs AWS_CONTAINER_AUTHORIZATION_TOKEN",
        ),
        failing_case(
            &container,
            &[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/refuses"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "hidden"),
            ],
            "the metadata service replied with 403",
        ),
        failing_case(
            &container,
            &[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "CLOUD/empty"),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "hidden"),
            ],
            "the metadata service gave no `Expiration`",
        ),
        failing_case(
            &json!({"s3_signing": {"web_identity_credentials": {"aws_region": "east"}}}),
            &[],
            "no AWS_ROLE_ARN set in environment",
        ),
        failing_case(&gcp, &[], "the metadata server replied with"),
        failing_case(&custom_path, &[], "the metadata server gave no token"),
        failing_case(
            &json!({"azure_managed_identity": {}}),
            &[("IDENTITY_ENDPOINT", "CLOUD/azure")],
            "no IDENTITY_HEADER set in environment",
        ),
    ] {
        let (environment, _cloud, _program, address) = start(&case, FAR.to_owned(), 60).await?;
        let failed = async || -> Done<String> {
            loop {
                let (_, answer) = get(address, "/v1/status").await?;
                let message = answer["result"]["bundles"]["rules"]["message"].as_str();
                match message {
                    Some(message) => return Ok(message.to_owned()),
                    None => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        let message = tokio::time::timeout(HANG_LIMIT, failed()).await??;
        assert!(message.contains(part), "`{part}` in: {message}");
        assert!(!message.contains("hidden"), "{message}");
        assert!(environment.mock.seen("/rules").is_empty(), "{part}");
    }
    Ok(())
}
