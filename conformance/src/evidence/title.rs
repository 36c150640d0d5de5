//! Titles of targets in reports.

use super::TargetSummary;
use crate::scenario::UNNAMED;

impl TargetSummary {
    /// Returns the target's name and judged version, if known. A target given by addresses is named
    /// by its addresses and by the product that it reports, if any.
    pub(crate) fn title(&self) -> String {
        let version = self.version.as_deref();
        if self.name != UNNAMED {
            return words(&[Some(&self.name), version]);
        }
        let urls = [&self.control, &self.engine].into_iter().flatten();
        let mut places: Vec<&str> = urls.filter_map(|url| url.split("://").last()).collect();
        places.dedup();
        let places = places.join(" and ");
        let name = match &self.product {
            Some(product) => words(&[Some(product), version]),
            None => version.map_or_else(String::new, |version| format!("version {version}")),
        };
        match (name.is_empty(), places.is_empty()) {
            (true, true) => self.name.clone(),
            (true, false) => places,
            (false, true) => name,
            (false, false) => format!("{name} at {places}"),
        }
    }
}

fn words(words: &[Option<&str>]) -> String {
    let words: Vec<&str> = words.iter().flatten().copied().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ENGINE: Option<&str> = Some("http://127.0.0.1:8181");
    const CONTROL: Option<&str> = Some("https://ocp.example");

    #[rstest]
    #[case::name_and_version("opa", None, Some("1.22.0"), None, ENGINE, "opa 1.22.0")]
    #[case::name("reference", None, None, None, None, "reference")]
    #[case::nothing(UNNAMED, None, None, None, None, "custom")]
    #[case::address(UNNAMED, None, None, None, ENGINE, "127.0.0.1:8181")]
    #[case::version_and_address(
        UNNAMED,
        None,
        Some("2"),
        None,
        ENGINE,
        "version 2 at 127.0.0.1:8181"
    )]
    #[case::product(
        UNNAMED,
        Some("Acme"),
        Some("2"),
        None,
        ENGINE,
        "Acme 2 at 127.0.0.1:8181"
    )]
    #[case::both_addresses(UNNAMED, None, None, CONTROL, ENGINE, "ocp.example and 127.0.0.1:8181")]
    #[case::one_address_for_both(UNNAMED, None, None, ENGINE, ENGINE, "127.0.0.1:8181")]
    fn a_target_is_called_by_what_is_known_of_it(
        #[case] name: &str,
        #[case] product: Option<&str>,
        #[case] version: Option<&str>,
        #[case] control: Option<&str>,
        #[case] engine: Option<&str>,
        #[case] title: &str,
    ) {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let target = TargetSummary {
            name: name.to_owned(),
            vendor: "engine".to_owned(),
            control: owned(control),
            engine: owned(engine),
            capabilities: Vec::new(),
            undetected: Vec::new(),
            version: owned(version),
            product: owned(product),
            by_address: name == UNNAMED,
        };
        assert_eq!(target.title(), title);
    }
}
