//! The section `services`: who the engine talks to, and how it proves who it is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::seconds::Seconds;

/// The services in the order in which they are given.
///
/// INVARIANT: every service has a name, and no two have the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::engine) struct Services(Vec<Service>);

impl Services {
    /// The service of a name.
    pub(in crate::engine) fn get(&self, name: &str) -> Option<&Service> {
        self.0.iter().find(|service| service.name == name)
    }

    /// All of them.
    pub(in crate::engine) fn iter(&self) -> impl ExactSizeIterator<Item = &Service> {
        self.0.iter()
    }

    fn add(&mut self, service: Service) -> Result<(), String> {
        if service.name.is_empty() {
            return Err("a service has no name".to_owned());
        }
        if self.get(&service.name).is_some() {
            return Err(format!("two services are named `{}`", service.name));
        }
        self.0.push(service);
        Ok(())
    }
}

/// One service.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(expecting = "a service")]
pub(in crate::engine) struct Service {
    /// What other sections call it.
    #[serde(default)]
    pub(in crate::engine) name: String,
    /// What the paths of its resources are appended to.
    #[serde(default)]
    pub(in crate::engine) url: String,
    /// Headers of every request to it.
    #[serde(default)]
    pub(in crate::engine) headers: BTreeMap<String, Secret>,
    /// How long the head of its answer may take; 10 seconds if it is not given.
    pub(in crate::engine) response_header_timeout_seconds: Option<Seconds>,
    /// Whether any certificate will do.
    #[serde(default)]
    pub(in crate::engine) allow_insecure_tls: bool,
    /// Whose certificates will do.
    #[serde(default)]
    pub(in crate::engine) tls: Tls,
    /// How the engine proves who it is.
    #[serde(default)]
    pub(in crate::engine) credentials: Credentials,
    #[serde(rename = "type")]
    protocol: Option<String>,
}

/// Whose certificates a service may show.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::engine) struct Tls {
    /// A file with the certificates of authorities; those of the system if it is not given.
    pub(in crate::engine) ca_cert: Option<PathBuf>,
    /// Whether the authorities of the system will do beside those of the file.
    #[serde(default)]
    pub(in crate::engine) system_ca_required: bool,
}

/// How the engine proves who it is: at most one of these. Another kind is refused, unlike keys that
/// are not known elsewhere: without its credentials a service would only say that it wants some.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct Credentials {
    pub(in crate::engine) bearer: Option<Bearer>,
    pub(in crate::engine) client_tls: Option<ClientTls>,
    pub(in crate::engine) oauth2: Option<OAuth2>,
    pub(in crate::engine) s3_signing: Option<AwsSigning>,
}

/// A token that is sent as it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct Bearer {
    pub(in crate::engine) token: Option<Secret>,
    /// A file with the token, read for every request.
    pub(in crate::engine) token_path: Option<PathBuf>,
    /// What stands before the token; `Bearer` if it is not given.
    pub(in crate::engine) scheme: Option<String>,
}

/// A certificate that the engine shows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct ClientTls {
    /// A file with the certificate.
    pub(in crate::engine) cert: PathBuf,
    /// A file with its key, which is not encrypted.
    pub(in crate::engine) private_key: PathBuf,
}

/// A token that an authorization server gives for a client's secret.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct OAuth2 {
    pub(in crate::engine) token_url: String,
    pub(in crate::engine) client_id: String,
    pub(in crate::engine) client_secret: Secret,
    #[serde(default)]
    pub(in crate::engine) scopes: Vec<String>,
    #[serde(default)]
    pub(in crate::engine) additional_headers: BTreeMap<String, Secret>,
    #[serde(default)]
    pub(in crate::engine) additional_parameters: BTreeMap<String, Secret>,
    grant_type: Option<String>,
}

/// A signature of each request, the AWS way.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct AwsSigning {
    /// The AWS service that checks the signature; `s3` if it is not given.
    pub(in crate::engine) service: Option<String>,
    signature_version: Option<String>,
    environment_credentials: Option<Nothing>,
    /// The file with the key, if that is not in the environment.
    #[serde(rename = "profile_credentials")]
    pub(in crate::engine) profile: Option<AwsProfile>,
}

impl AwsSigning {
    /// Whether the key may be in the environment.
    pub(in crate::engine) fn in_environment(&self) -> bool {
        self.environment_credentials.is_some()
    }
}

/// Where in a file of credentials a key is. What is not given is looked for in the environment,
/// or has the usual value of AWS.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::engine) struct AwsProfile {
    pub(in crate::engine) path: Option<PathBuf>,
    pub(in crate::engine) profile: Option<String>,
    pub(in crate::engine) aws_region: Option<String>,
}

/// An object that has no members.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A text that messages do not show.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(in crate::engine) struct Secret(pub(in crate::engine) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Service {
    /// Says what of it cannot be used.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("services: `{}`: {why}", self.name));
        if !is_http(&self.url) {
            return wrong("`url` must be an HTTP address");
        }
        if self.protocol.as_deref() == Some("oci") {
            return wrong("images of `type: oci` are not fetched; serve the bundle over HTTP");
        }
        let Credentials {
            bearer,
            client_tls,
            oauth2,
            s3_signing,
        } = &self.credentials;
        let given = [
            bearer.is_some(),
            client_tls.is_some(),
            oauth2.is_some(),
            s3_signing.is_some(),
        ];
        if given.into_iter().filter(|given| *given).count() > 1 {
            return wrong("more than one kind of credentials");
        }
        if bearer
            .as_ref()
            .is_some_and(|bearer| bearer.token.is_some() == bearer.token_path.is_some())
        {
            return wrong("`bearer` takes either `token` or `token_path`");
        }
        if let Some(oauth2) = oauth2 {
            if !is_http(&oauth2.token_url) {
                return wrong("`token_url` must be an HTTP address");
            }
            if oauth2
                .grant_type
                .as_ref()
                .is_some_and(|kind| kind != "client_credentials")
            {
                return wrong("the only `grant_type` is `client_credentials`");
            }
        }
        if let Some(signing) = s3_signing {
            if !signing.in_environment() && signing.profile.is_none() {
                return wrong(
                    "`s3_signing` takes `environment_credentials` or `profile_credentials`",
                );
            }
            if signing
                .signature_version
                .as_ref()
                .is_some_and(|version| version != "4")
            {
                return wrong("the only `signature_version` is `4`");
            }
        }
        Ok(())
    }
}

fn is_http(url: &str) -> bool {
    let url = reqwest::Url::parse(url);
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

impl<'de> Deserialize<'de> for Services {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ServicesVisitor)
    }
}

/// Takes an object of services by name, or an array of services with names.
struct ServicesVisitor;

impl<'de> Visitor<'de> for ServicesVisitor {
    type Value = Services;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or array of services")
    }

    fn visit_unit<E>(self) -> Result<Services, E> {
        Ok(Services::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Services, A::Error> {
        let mut services = Services::default();
        while let Some((name, service)) = map.next_entry::<String, Service>()? {
            let service = Service { name, ..service };
            services.add(service).map_err(A::Error::custom)?;
        }
        Ok(services)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Services, A::Error> {
        let mut services = Services::default();
        while let Some(service) = seq.next_element()? {
            services.add(service).map_err(A::Error::custom)?;
        }
        Ok(services)
    }
}
