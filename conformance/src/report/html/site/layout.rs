//! Layout of all pages of the site: head, navigation, foot.

use maud::{DOCTYPE, Markup, html};

use super::super::text::visible;

/// Frame of a page; `depth` is the number of folders above it on the site.
pub(super) struct Layout<'a> {
    pub(super) depth: usize,
    /// Category of the page, shown above its title.
    pub(super) kind: &'a str,
    pub(super) title: &'a str,
    /// The navigation entry that the page belongs to, by the entry's file.
    pub(super) part: &'a str,
}

/// Navigation entries of the site: file and label.
const PARTS: [(&str, &str); 4] = [
    ("index.html", "Overview"),
    ("sections.html", "Sections"),
    ("history.html", "History"),
    ("differences.html", "Differences"),
];

impl Layout<'_> {
    /// Renders the page with this content in the frame.
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
