//! Names of runs in reports that compare them.

use super::Digest;
use crate::evidence::TargetSummary;

/// Returns the target's name for each run, with the run's name if several have the same target.
pub(crate) fn labels(digests: &[Digest]) -> Vec<String> {
    let name = |digest: &Digest| {
        let target = digest.started.as_ref().map(|started| &started.target);
        target.map_or_else(|| "no target".to_owned(), TargetSummary::title)
    };
    let names: Vec<String> = digests.iter().map(name).collect();
    let label = |(digest, name): (&Digest, &String)| {
        let once = names.iter().filter(|other| *other == name).count() == 1;
        match &digest.started {
            Some(started) if !once => format!("{name} {}", started.run),
            _ => name.clone(),
        }
    };
    digests.iter().zip(&names).map(label).collect()
}
