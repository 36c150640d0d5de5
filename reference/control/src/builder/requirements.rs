//! Dependency graph of sources, and their mount paths.

use std::collections::{BTreeMap, VecDeque};

use super::mount::{self, Mount};
use super::{BuildError, Job, Limits};
use crate::model::{BuildOptions, Requirement};

/// Root of the requirements of stacks; the name of the stack follows.
const STACKS: &str = "stacks";

/// Source with the mounts on its path, the innermost one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountedSource {
    /// Name of the source.
    pub(super) source: String,
    /// Mounts of the source.
    pub(super) mounts: Vec<Mount>,
}

/// Mounted sources of a bundle.
#[derive(Debug, Default)]
pub(super) struct MountedSources {
    /// Mounted sources in breadth-first order of the requirements.
    pub(super) parts: Vec<MountedSource>,
    /// Commits that requirements pin, by source.
    pub(super) pins: BTreeMap<String, String>,
}

/// Pending requirement, and how it was reached.
#[derive(Debug)]
struct PendingRequirement {
    part: MountedSource,
    /// Sources on the path to the requirement.
    chain: Vec<String>,
}

/// Follows the requirements of a bundle and of the stacks that select it.
///
/// # Errors
/// When a source does not exist, a path or prefix is not a reference, two requirements pin one
/// source to two commits, or a limit is exceeded.
pub(super) fn collect(job: &Job, limits: &Limits) -> Result<MountedSources, BuildError> {
    let mut parts = MountedSources::default();
    let mut queue = VecDeque::new();
    let requirements = job.bundle.requirements.as_deref().unwrap_or_default();
    parts.add(requirements, &[], None, &[], &mut queue)?;
    let labels = job.bundle.labels.clone().unwrap_or_default();
    let options = job.bundle.options.as_ref();
    let mounts_stacks = options.is_none_or(BuildOptions::mounts_stacks);
    for (name, stack) in &job.stacks {
        if stack.selection().selects(&labels) {
            let requirements = stack.requirements.as_deref().unwrap_or_default();
            let stack_name = mounts_stacks.then_some(name.as_str());
            parts.add(requirements, &[], stack_name, &[], &mut queue)?;
        }
    }
    while let Some(PendingRequirement { part, mut chain }) = queue.pop_front() {
        if parts.parts.contains(&part) {
            continue;
        }
        if parts.parts.len() >= limits.parts || chain.len() >= limits.depth {
            return Err(BuildError::config(format!(
                "requirements lead to more than {} sources or more than {} levels deep, last to `{}`",
                limits.parts, limits.depth, part.source
            )));
        }
        let Some(source) = job.sources.get(&part.source) else {
            let message = format!("source `{}` is required and does not exist", part.source);
            return Err(BuildError::config(message));
        };
        chain.push(part.source.clone());
        let nested = source.definition.requirements.as_deref();
        let nested = nested.unwrap_or_default();
        parts.add(nested, &part.mounts, None, &chain, &mut queue)?;
        parts.parts.push(part);
    }
    Ok(parts)
}

impl MountedSources {
    /// Adds a list of requirements. If several name one source, the last one wins; those on a
    /// source in the chain are dropped, to break cycles.
    fn add(
        &mut self,
        requirements: &[Requirement],
        mounts: &[Mount],
        stack: Option<&str>,
        chain: &[String],
        queue: &mut VecDeque<PendingRequirement>,
    ) -> Result<(), BuildError> {
        let mut latest: Vec<(&str, &Requirement)> = Vec::new();
        for requirement in requirements {
            if let Some(source) = requirement
                .source
                .as_deref()
                .filter(|name| !name.is_empty())
            {
                latest.retain(|(other, _)| *other != source);
                latest.push((source, requirement));
            }
        }
        for (source, requirement) in latest {
            self.pin(source, requirement)?;
            if chain.iter().any(|ancestor| ancestor == source) {
                continue;
            }
            let mount = resolve_mount(source, requirement, stack)?;
            let part = MountedSource {
                source: source.to_owned(),
                mounts: mount.into_iter().chain(mounts.iter().cloned()).collect(),
            };
            let chain = chain.to_vec();
            queue.push_back(PendingRequirement { part, chain });
        }
        Ok(())
    }

    fn pin(&mut self, source: &str, requirement: &Requirement) -> Result<(), BuildError> {
        let commit = requirement.git.as_ref().and_then(|git| git.commit.as_ref());
        let Some(commit) = commit.filter(|commit| !commit.is_empty()) else {
            return Ok(());
        };
        match self.pins.insert(source.to_owned(), commit.clone()) {
            Some(other) if other != *commit => Err(BuildError::config(format!(
                "requirements pin source `{source}` to two commits, {other} and {commit}"
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns the mount of a requirement, unless it is the identity.
fn resolve_mount(
    source: &str,
    requirement: &Requirement,
    stack: Option<&str>,
) -> Result<Option<Mount>, BuildError> {
    let parse = |field: &str, text: &Option<String>| {
        let path = mount::parse(text.as_deref().unwrap_or_default());
        path.map_err(|reason| {
            BuildError::config(format!(
                "requirement on source `{source}`: {field} {reason}"
            ))
        })
    };
    let from = parse("path", &requirement.path)?;
    let prefix = parse("prefix", &requirement.prefix)?;
    let to = match stack.filter(|_| requirement.automount != Some(false)) {
        Some(stack) => [vec![STACKS.to_owned(), stack.to_owned()], prefix].concat(),
        None => prefix,
    };
    let mount = Mount { from, to };
    Ok((!mount.from.is_empty() || !mount.to.is_empty()).then_some(mount))
}
