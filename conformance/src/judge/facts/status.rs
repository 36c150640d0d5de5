//! Facts about the status of a response.

use super::View;

/// Key of the status fact.
pub(crate) const STATUS: &str = "status";

/// Formats expected statuses as the value of a fact.
pub(crate) fn any_status(statuses: &[u16]) -> String {
    let names: Vec<String> = statuses.iter().map(u16::to_string).collect();
    format!("<{}>", names.join(" or "))
}

impl View<'_> {
    pub(super) fn status_class(&self, holds: bool, class: &str) -> (String, String) {
        let value = if holds {
            class.to_owned()
        } else {
            self.answer.status.to_string()
        };
        (STATUS.to_owned(), value)
    }
}
