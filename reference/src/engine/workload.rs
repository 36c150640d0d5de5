//! What the requests of a route take.

/// What the requests of a route take, which says where they are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    /// Next to nothing.
    Inline,
    /// The evaluation of a document, which often is quick.
    Decision,
    /// An evaluation.
    Evaluation,
    /// Reading or writing policies and documents.
    Storage,
}
