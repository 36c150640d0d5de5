//! Layout of all pages: head, navigation, foot.

use maud::{DOCTYPE, Markup, html};

use super::super::text::visible;

/// A page, with its depth of folders below the first one.
pub(super) struct Layout<'a> {
    pub(super) depth: usize,
    /// Its category, above its title.
    pub(super) kind: &'a str,
    pub(super) title: &'a str,
    /// Its part of the site, by file.
    pub(super) part: &'a str,
}

/// The parts of the site, each with its file.
const PARTS: [(&str, &str); 4] = [
    ("index.html", "Overview"),
    ("sections.html", "Sections"),
    ("history.html", "History"),
    ("differences.html", "Differences"),
];

impl Layout<'_> {
    /// Renders the page with this content.
    pub(super) fn page(&self, content: &Markup) -> Markup {
        let up = "../".repeat(self.depth);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (visible(self.title)) " – conformance" }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href={ (up) "style.css" };
                }
                body.site {
                    a.skip href="#content" { "Skip to the content" }
                    header {
                        p.kind { (visible(self.kind)) }
                        h1 { (visible(self.title)) }
                        nav aria-label="Parts of the site" {
                            @for (file, name) in PARTS {
                                a href={ (up) (file) } aria-current=[(file == self.part).then_some("page")] { (name) }
                            }
                        }
                    }
                    main id="content" { (content) }
                    footer {
                        p { "Made by the conformance suite " (env!("CARGO_PKG_VERSION")) " from stored evidence, judged by the rules of this version. Tokens and secrets are redacted." }
                    }
                }
            }
        }
    }
}
