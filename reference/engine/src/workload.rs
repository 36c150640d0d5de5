//! Workload classes of routes.

/// Workload of a route's requests, which determines where they are scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    /// Negligible work.
    Inline,
    /// Evaluation of a document, which often is quick.
    Decision,
    /// Partial evaluation of a query, which often is quick, too.
    Residual,
    /// Partial evaluation of the rule at a path.
    Filter,
    /// Any other evaluation.
    Evaluation,
    /// Reading or writing policies and documents.
    Storage,
}
