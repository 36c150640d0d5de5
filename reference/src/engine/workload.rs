//! Workload classes of routes.

/// What the requests of a route take, which says where they are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    /// Next to nothing.
    Inline,
    /// The evaluation of a document, which often is quick.
    Decision,
    /// What is left of a query, which often is quick, too.
    Residual,
    /// The same of the rule of a path.
    Filter,
    /// An evaluation.
    Evaluation,
    /// Reading or writing policies and documents.
    Storage,
}
