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
    use super::*;

    #[test]
    fn a_target_is_called_by_what_is_known_of_it() {
        const ENGINE: Option<&str> = Some("http://127.0.0.1:8181");
        const CONTROL: Option<&str> = Some("https://ocp.example");
        for (name, product, version, control, engine, title) in [
            ("opa", None, Some("1.22.0"), None, ENGINE, "opa 1.22.0"),
            ("reference", None, None, None, None, "reference"),
            (UNNAMED, None, None, None, None, "custom"),
            (UNNAMED, None, None, None, ENGINE, "127.0.0.1:8181"),
            (
                UNNAMED,
                None,
                Some("2"),
                None,
                ENGINE,
                "version 2 at 127.0.0.1:8181",
            ),
            (
                UNNAMED,
                Some("Acme"),
                Some("2"),
                None,
                ENGINE,
                "Acme 2 at 127.0.0.1:8181",
            ),
            (
                UNNAMED,
                None,
                None,
                CONTROL,
                ENGINE,
                "ocp.example and 127.0.0.1:8181",
            ),
            (UNNAMED, None, None, ENGINE, ENGINE, "127.0.0.1:8181"),
        ] {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let target = TargetSummary {
                name: name.to_owned(),
                vendor: "engine".to_owned(),
                control: owned(control),
                engine: owned(engine),
                capabilities: Vec::new(),
                version: owned(version),
                product: owned(product),
                by_address: name == UNNAMED,
            };
            assert_eq!(target.title(), title);
        }
    }
}
