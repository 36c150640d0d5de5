//! Checks of a definition that depend on the caller and the settings.

use super::model::Entry;
use super::principal::Principal;
use super::{Control, errors, storage_location};
use http_server::ApiError;

impl Control {
    /// Refuses a definition that the caller may not store, and resolves its storage location.
    ///
    /// # Errors
    /// `invalid_parameter` when a secret would be sent over plain http; `not_authorized` when a
    /// bundle is outside its owner's prefix; `unavailable` when the disk of its file does not
    /// respond.
    pub(super) async fn admit(
        &self,
        principal: &Principal,
        mut entry: Entry,
    ) -> Result<Entry, ApiError> {
        // The store refuses callers without write permission; no other error may precede that one.
        if !principal.may_write(entry.kind) {
            return Ok(entry);
        }
        let settings = &self.settings;
        if let Some(invalid) = entry.sends_in_clear.take()
            && !settings.access.secrets_over_http
        {
            return Err(invalid.into());
        }
        let Some(storage) = entry.storage.clone() else {
            return Ok(entry);
        };
        let roots = settings.destinations.roots.clone();
        if let Some(prefix) = &settings.owner_prefix
            && !principal.manages_all()
            && !storage_location::is_below(&storage, prefix, principal.name(), &roots)
        {
            let owner_folder = format!("{prefix}/{}/", principal.name());
            let owner_folder = owner_folder.trim_start_matches('/');
            return Err(errors::outside_prefix(principal.name(), owner_folder));
        }
        let places = storage_location::find(storage, roots).await;
        entry.places = places.map_err(|failure| {
            tracing::error!(%failure, "the place of a bundle cannot be found");
            errors::folder_silent()
        })?;
        Ok(entry)
    }
}
