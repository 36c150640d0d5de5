//! The names of runs that stand side by side.

use super::Digest;

/// Names the runs by their targets, and by the run too where one target has several.
pub(crate) fn labels(digests: &[Digest]) -> Vec<String> {
    let name = |digest: &Digest| {
        let Some(started) = &digest.started else {
            return "no target".to_owned();
        };
        let target = &started.target;
        let url = target.engine.as_ref().or(target.control.as_ref());
        match url.filter(|_| target.name == "custom") {
            // Of a target that has no name the address says more.
            Some(url) => url.split("://").last().unwrap_or(url).to_owned(),
            None => target.title(),
        }
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
