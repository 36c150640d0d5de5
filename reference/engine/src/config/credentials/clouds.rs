//! Google Cloud and Azure credentials of services.

use serde::Deserialize;

/// Settings of a token from the metadata server of Google Cloud.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct GcpMetadata {
    audience: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    pub(crate) endpoint: Option<String>,
    pub(crate) access_token_path: Option<String>,
    pub(crate) identity_token_path: Option<String>,
}

/// Type of a Google Cloud token.
#[derive(Debug)]
pub(crate) enum GcpToken<'m> {
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
    pub(crate) fn token(&self) -> Result<GcpToken<'_>, String> {
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
pub(crate) struct AzureIdentity {
    pub(crate) endpoint: Option<String>,
    pub(crate) api_version: Option<String>,
    pub(crate) resource: Option<String>,
    pub(crate) object_id: Option<String>,
    pub(crate) client_id: Option<String>,
    pub(crate) mi_res_id: Option<String>,
    /// Whether the endpoint is that of App Service instead of virtual machines.
    #[serde(default)]
    pub(crate) use_app_service_msi: bool,
}
