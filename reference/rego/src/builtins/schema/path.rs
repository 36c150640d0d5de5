//! Paths in documents.

/// Path from the root of a document to a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

/// Name of the root.
const ROOT: &str = "(Root)";

impl Path<'_> {
    /// Formats the path as clients see it: names and indexes separated by dots.
    pub(super) fn field(&self) -> String {
        let mut steps: Vec<std::borrow::Cow<'_, str>> = Vec::new();
        let mut at = self;
        loop {
            at = match at {
                Path::Root => break,
                Path::Member(before, name) => {
                    steps.push((*name).into());
                    before
                }
                Path::Item(before, index) => {
                    steps.push(index.to_string().into());
                    before
                }
            };
        }
        match steps.is_empty() {
            true => ROOT.to_owned(),
            false => {
                steps.reverse();
                steps.join(".")
            }
        }
    }
}
