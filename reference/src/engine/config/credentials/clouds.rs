//! Google Cloud and Azure credentials of services.

use serde::Deserialize;

/// Settings of a token from the metadata server of Google Cloud.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::engine) struct GcpMetadata {
    audience: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    pub(in crate::engine) endpoint: Option<String>,
    pub(in crate::engine) access_token_path: Option<String>,
    pub(in crate::engine) identity_token_path: Option<String>,
}

/// Type of a Google Cloud token.
#[derive(Debug)]
pub(in crate::engine) enum GcpToken<'m> {
    /// Identity token for this audience.
    Identity(&'m str),
    /// Access token with these scopes.
    Access(&'m [String]),
}

impl GcpMetadata {
    /// Type of the token to request.
    ///
    /// # Errors
    /// When neither or both of `audience` and `scopes` are configured.
    pub(in crate::engine) fn token(&self) -> Result<GcpToken<'_>, String> {
        let audience = self.audience.as_deref();
        let audience = audience.filter(|audience| !audience.is_empty());
        match (audience, self.scopes.as_slice()) {
            (Some(audience), []) => Ok(GcpToken::Identity(audience)),
            (None, scopes @ [_, ..]) => Ok(GcpToken::Access(scopes)),
            _ => Err("`gcp_metadata` takes either `audience` or `scopes`".to_owned()),
        }
    }
}

/// Settings of a token for a managed identity of Azure. Missing members have default values.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::engine) struct AzureIdentity {
    pub(in crate::engine) endpoint: Option<String>,
    pub(in crate::engine) api_version: Option<String>,
    pub(in crate::engine) resource: Option<String>,
    pub(in crate::engine) object_id: Option<String>,
    pub(in crate::engine) client_id: Option<String>,
    pub(in crate::engine) mi_res_id: Option<String>,
    /// Whether the endpoint is that of App Service instead of virtual machines.
    #[serde(default)]
    pub(in crate::engine) use_app_service_msi: bool,
}
