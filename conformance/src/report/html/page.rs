//! Layout of the report page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::clause::clause;
use super::filter::filter;
use super::runs::{Run, Runs};
use super::score::{cards, name, other_findings, sections, title};
use super::text::visible;
use super::undocumented_behaviour::behaviour;

pub(super) const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Renders the whole page.
pub(super) fn page(runs: &Runs<'_>) -> Markup {
    let labels: Vec<_> = runs.runs.iter().map(|run| visible(&run.label)).collect();
    let joined_labels = labels.join(", ");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Conformance of " (joined_labels) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#clauses" { "Skip to the clauses" }
                header {
                    p.kind { "Conformance report" }
                    h1 { (joined_labels) }
                    @for run in &runs.runs { (run_summary(runs, run)) }
                    nav aria-label="Parts of this page" {
                        a href="#score" { "Score" }
                        a href="#sections" { "Sections" }
                        a href="#clauses" { "Clauses" }
                        @if runs.entries().any(|entry| entry.is_open()) { a href="#behaviour" { "Behaviour" } }
                    }
                }
                main {
                    (cards(runs))
                    (other_findings(runs))
                    (sections(runs))
                    (clauses(runs))
                    (behaviour(runs))
                }
                footer {
                    p { "Made by the conformance suite " (env!("CARGO_PKG_VERSION")) " from stored evidence. Tokens and secrets are redacted." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Content security policy of the page: only its own style and script.
fn policy() -> String {
    let [style, script] = [STYLE, SCRIPT].map(|text| format!("'sha256-{}'", digest(text)));
    format!(
        "default-src 'none'; style-src {style}; script-src {script}; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// Returns the SHA-256 of a string in base64, by the hash function of the TLS library.
fn digest(text: &str) -> String {
    use base64::Engine as _;
    use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
    let hash = TLS13_AES_128_GCM_SHA256
        .tls13()
        .map(|suite| suite.common.hash_provider.hash(text.as_bytes()));
    let hash = hash.as_ref().map_or(&[][..], AsRef::as_ref);
    base64::engine::general_purpose::STANDARD.encode(hash)
}

/// Renders one line about a run: start time, suite, addresses, number of requests, duration.
fn run_summary(runs: &Runs<'_>, run: &Run<'_>) -> Markup {
    let started = run.digest.started.as_ref();
    html! {
        p.about {
            @if runs.several() { b { (visible(&run.label)) ": " } }
            @if let Some(started) = started {
                @if let Some(at) = &started.at { time datetime=(at) { (visible(at)) } ", " }
                "suite " (visible(&started.suite)) ", run " (visible(&started.run)) ", seed " (started.seed)
                @for (api, url) in [("control plane", &started.target.control), ("engine", &started.target.engine)] {
                    @if let Some(url) = url { ", " (api) " at " code { (visible(url)) } }
                }
            }
            @if let Some(finished) = &run.digest.finished {
                ", " (finished.requests) " requests in " (format!("{:.1}", finished.milliseconds / 1000.0)) " s"
            }
        }
    }
}

fn clauses(runs: &Runs<'_>) -> Markup {
    html! {
        section id="clauses" aria-labelledby="clauses-title" {
            h2 id="clauses-title" { "Every clause" span.count { (runs.entries().count()) } }
            p.lead { "Each line is one statement of a document. It opens to the exchanges that were judged." }
            (filter(runs))
            @if runs.several() {
                p.targets aria-hidden="true" {
                    @for run in &runs.runs { span { (visible(&run.label)) } }
                }
            }
            @for section in &runs.sections {
                section.section id=(section.anchor) {
                    h3 {
                        @if let Some(document) = section.document { span.api { (title(document)) } }
                        (visible(name(section)))
                    }
                    @for entry in &section.clauses { (clause(runs, entry)) }
                }
            }
            p id="nothing" hidden { "No clause fits." }
        }
    }
}
