//! Section `services`.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::credentials::Credentials;
use super::http_address::is_http;
use super::keys::Key;
use super::seconds::Seconds;
use super::secret::Secret;
use super::tls::Tls;

/// Services in the order of the configuration.
///
/// INVARIANT: every service has a name, and the names are unique.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Services(Vec<Service>);

impl Services {
    /// Service with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Service> {
        self.0.iter().find(|service| service.name == name)
    }

    /// Iterates over all services.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Service> {
        self.0.iter()
    }

    /// Resolves the signing keys that the services' credentials name.
    ///
    /// # Errors
    /// When a named key is missing or cannot sign.
    pub(super) fn take_keys(&mut self, keys: &BTreeMap<String, Key>) -> Result<(), String> {
        for service in &mut self.0 {
            let taken = service.credentials.take_keys(keys);
            taken.map_err(|error| format!("services: `{}`: {error}", service.name))?;
        }
        Ok(())
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

/// A remote service.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(expecting = "a service")]
pub(crate) struct Service {
    /// Name that other sections refer to.
    #[serde(default)]
    pub(crate) name: String,
    /// Base URL of the service's resources.
    #[serde(default)]
    pub(crate) url: String,
    /// Headers of every request to the service.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Timeout for the head of a response; 10 seconds if absent.
    pub(crate) response_header_timeout_seconds: Option<Seconds>,
    /// Whether any certificate of the service is accepted.
    #[serde(default)]
    pub(crate) allow_insecure_tls: bool,
    /// Trusted authorities for the service's certificate.
    #[serde(default)]
    tls: Tls,
    /// Credentials that the engine presents to the service.
    #[serde(default)]
    pub(crate) credentials: Credentials,
    #[serde(rename = "type")]
    protocol: Option<String>,
}

impl Service {
    /// Whether the service is an OCI registry, whose images are bundles.
    pub(crate) fn is_registry(&self) -> bool {
        self.protocol.as_deref() == Some("oci")
    }

    /// Effective trusted authorities for the service's certificate.
    pub(crate) fn tls(&self) -> &Tls {
        match &self.credentials.client_tls {
            Some(own) if self.tls.ca_cert.is_none() => &own.tls,
            _ => &self.tls,
        }
    }

    /// Validates the service; the error names the invalid member.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |reason: &str| Err(format!("services: `{}`: {reason}", self.name));
        if !is_http(&self.url) {
            return wrong("`url` must be an HTTP address");
        }
        self.credentials.check().or_else(|reason| wrong(&reason))
    }
}

impl<'de> Deserialize<'de> for Services {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ServicesVisitor)
    }
}

/// Accepts an object of services by name, or an array of services with names.
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
