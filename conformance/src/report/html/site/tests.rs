//! Tests of the site's source. A browser tests its appearance, by `cargo xtask site`.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::judge::verdict::{Reason, Verdict};
use crate::report::digest::samples;

fn implementation(name: &str, version: &str, digest: Digest) -> Implementation {
    let profile = Catalogue::embedded()
        .ok()
        .and_then(|known| known.profile("engine-decision"));
    let standings = profile.map(|profile| ProfileResult::of(profile, digest.rows.iter()));
    Implementation {
        name: name.to_owned(),
        version: version.to_owned(),
        about: vec!["Source: `x`".to_owned()],
        digest,
        standings: standings.into_iter().collect(),
    }
}

fn pages() -> BTreeMap<String, String> {
    let sample = || samples::all().pop().unwrap_or_default();
    let all = [
        implementation("OPA", "1.0.0", sample()),
        implementation("OPA", "1.1.0", sample()),
        implementation("the <other>", "", sample()),
    ];
    site(&all).into_iter().collect()
}

#[test]
fn every_link_leads_to_a_page_and_a_place_on_it() {
    let pages = pages();
    assert!(pages.len() > 10, "{:?}", pages.keys());
    let mut broken = BTreeSet::new();
    for (path, page) in &pages {
        for link in page.split("href=\"").skip(1) {
            let link = link.split('"').next().unwrap_or_default();
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            if link.starts_with("data:") {
                continue;
            }
            let mut at: Vec<&str> = path.split('/').collect();
            at.pop();
            for part in file.split('/') {
                match part {
                    ".." => drop(at.pop()),
                    part => at.push(part),
                }
            }
            let goal = match file {
                "" => path.clone(),
                _ => at.join("/"),
            };
            let exists = pages
                .get(&goal)
                .is_some_and(|goal| place.is_empty() || goal.contains(&format!("id=\"{place}\"")));
            if !exists {
                broken.insert(format!("{path}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_version_has_a_folder_of_its_own() {
    let sample = || samples::all().pop().unwrap_or_default();
    let names = [
        ("OPA", "1.0.0"),
        ("opa_", "1.0.0"),
        ("-", "1"),
        ("history", "1"),
        ("../..", ".."),
        ("a", "engine-decision.json"),
        ("a", "1+1"),
    ];
    let all = names.map(|(name, version)| implementation(name, version, sample()));
    let pages = site(&all);
    let paths: BTreeSet<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths.len(), pages.len());
    for path in &paths {
        let parts: Vec<&str> = path.split('/').collect();
        assert!(
            !parts
                .iter()
                .any(|part| part.is_empty() || part.starts_with('.')),
            "{path}"
        );
        let ancestors =
            (1..parts.len()).map(|end| parts.iter().take(end).copied().collect::<Vec<_>>());
        for folder in ancestors {
            let folder = folder.join("/");
            assert!(
                !paths.contains(folder.as_str()),
                "{path}: {folder} is a file"
            );
        }
    }
    for path in ["opa/1.0.0/index.html", "opa-2/1.0.0/index.html"] {
        assert!(paths.contains(path), "{paths:?}");
    }
}

#[test]
fn nothing_of_a_server_becomes_markup() {
    for (path, page) in pages() {
        for wrong in [
            "<script", "<img", "style=\"", "\u{1b}", "\u{202e}", "<other>",
        ] {
            assert!(!page.contains(wrong), "{wrong:?} in {path}");
        }
    }
}

#[test]
fn a_badge_says_how_a_profile_is_kept() {
    let pages = pages();
    for path in [
        "badges/opa/engine-decision.json",
        "badges/opa/1.0.0/engine-decision.json",
    ] {
        let badge = pages.get(path).map(String::as_str).unwrap_or_default();
        let badge: serde_json::Value = serde_json::from_str(badge).unwrap_or_default();
        assert_eq!(
            badge.get("label"),
            Some(&"engine-decision 2026.12".into()),
            "{path}"
        );
        assert_eq!(badge.get("schemaVersion"), Some(&1.into()), "{path}");
    }
}

#[test]
fn clients_stand_by_the_rules_that_they_were_judged_by() {
    let mut client = implementation(
        "a client",
        "2.0.0",
        samples::judged(
            [
                ("client/engine/a", Verdict::Pass),
                ("client/engine/b", Verdict::NotRun(Reason::Interrupted)),
            ]
            .into_iter(),
        ),
    );
    client.standings.clear();
    let pages: BTreeMap<String, String> = site(&[client]).into_iter().collect();
    let overview = pages.get("index.html").map(String::as_str);
    let row = overview.and_then(|page| page.split("id=\"clients-title\"").nth(1));
    let row = row.and_then(|rest| rest.split("a-client/2.0.0/index.html").nth(1));
    let row = row.and_then(|rest| rest.split("</tr>").next());
    assert_eq!(
        row.map(|row| row.contains("<b>1</b> of 1")),
        Some(true),
        "{row:?}"
    );
}
