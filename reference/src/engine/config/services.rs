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

    /// Takes the keys that their credentials name.
    ///
    /// # Errors
    /// When one names a key that cannot sign.
    pub(super) fn take_keys(&mut self, keys: &BTreeMap<String, Key>) -> Result<(), String> {
        for service in &mut self.0 {
            let taken = service.credentials.take_keys(keys);
            taken.map_err(|why| format!("services: `{}`: {why}", service.name))?;
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
    tls: Tls,
    /// How the engine proves who it is.
    #[serde(default)]
    pub(in crate::engine) credentials: Credentials,
    #[serde(rename = "type")]
    protocol: Option<String>,
}

impl Service {
    /// Whether it is a registry, of which bundles are images.
    pub(in crate::engine) fn is_registry(&self) -> bool {
        self.protocol.as_deref() == Some("oci")
    }

    /// Whose certificates it may show.
    pub(in crate::engine) fn tls(&self) -> &Tls {
        match &self.credentials.client_tls {
            Some(own) if self.tls.ca_cert.is_none() => &own.tls,
            _ => &self.tls,
        }
    }

    /// Says what of it cannot be used.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("services: `{}`: {why}", self.name));
        if !is_http(&self.url) {
            return wrong("`url` must be an HTTP address");
        }
        self.credentials.check().or_else(|why| wrong(&why))
    }
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
