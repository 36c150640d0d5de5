//! Activation and deactivation of bundles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rego::value::Object;
use rego::{Compiler, Value};
use tracing::warn;

use super::active_bundles::{Active, Bundles, STATUS_PATH};
use super::state::Contents;
use super::{Engine, StoreError, store};
use bundle::{Bundle, BundleError, Change, Content, Manifest, Operation, Policy};

impl Engine {
    /// Activates bundles, all or none: each snapshot replaces the bundle's previous content, each
    /// delta changes it. Content outside of the bundles' roots stays.
    ///
    /// # Errors
    /// When roots of different bundles overlap, a delta does not match an active bundle, a policy
    /// does not compile with the others, or data and rules conflict. Then nothing changes.
    pub fn activate(&self, bundles: Vec<(String, Bundle)>) -> Result<(), BundleError> {
        let mut displaced = RemovedPolicies::new();
        self.write(|contents| {
            displaced = activate(contents, bundles)?;
            Ok(())
        })?;
        log_displaced(&displaced);
        Ok(())
    }

    /// Deactivates bundles and removes all policies and data below their roots. Names of inactive
    /// bundles are ignored.
    ///
    /// # Errors
    /// When other policies do not compile without the removed ones. Then nothing changes.
    pub fn deactivate(&self, names: &[String]) -> Result<(), BundleError> {
        self.write(|contents| deactivate(contents, names))
    }

    /// Snapshot of the active bundles.
    pub fn active_bundles(&self) -> Bundles {
        self.state().contents().bundles.clone()
    }
}

/// Ids of removed policies that belonged to no bundle, by the name of the bundle that removed them.
type RemovedPolicies = BTreeMap<String, Vec<String>>;

/// Maximum number of displaced policies that the log names.
const NAMED: usize = 10;

/// Changes that an activation makes.
struct Plan {
    /// Bundles that are active afterwards.
    next: BTreeMap<String, Active>,
    /// Bundles whose documents and policies are removed first.
    replaced: Vec<Arc<Manifest>>,
    /// Documents of the new snapshots, by bundle name.
    brought: Vec<(String, Arc<Manifest>, Value)>,
    /// Policies of the new snapshots.
    policies: Vec<Policy>,
    /// Operations of the deltas.
    operations: Vec<Operation>,
}

/// Activates bundles, see [`Engine::activate`](crate::Engine::activate), and returns the
/// removed policies that belonged to no bundle; after an error the contents must be discarded.
pub(super) fn activate(
    contents: &mut Contents,
    bundles: Vec<(String, Bundle)>,
) -> Result<RemovedPolicies, BundleError> {
    let Plan {
        next,
        replaced,
        brought,
        policies,
        operations,
    } = Plan::of(&contents.bundles, bundles)?;
    apart(&next)?;
    let changed = operations.iter().map(|operation| operation.path.clone());
    let mut changed: Vec<_> = changed.collect();
    carry_out(contents, operations)?;
    let removed = erase(contents, &replaced)?;
    let displaced = displaced(contents, &next, &removed);
    for (name, manifest, documents) in &brought {
        write(&mut contents.documents, manifest, documents).map_err(|failure| {
            BundleError::new(format!("data of the bundle `{name}`: {failure}"))
        })?;
        changed.extend(manifest.roots.iter().map(<[_]>::to_vec));
    }
    compile(contents, removed, policies)?;
    for path in &changed {
        without_conflict(contents, path)?;
    }
    show(contents, next)?;
    Ok(displaced)
}

/// Removed policies that come from files or clients instead of bundles.
fn displaced(
    contents: &Contents,
    next: &BTreeMap<String, Active>,
    removed: &BTreeSet<String>,
) -> RemovedPolicies {
    let mut displaced = RemovedPolicies::new();
    let modules = contents.policy.modules();
    for module in modules.filter(|module| removed.contains(module.id())) {
        let package = module.package().names();
        let owns_package = |manifest: &Manifest| manifest.roots.holding(&package).is_some();
        if contents
            .bundles
            .iter()
            .any(|(_, manifest)| owns_package(manifest))
        {
            continue;
        }
        if let Some((bundle, _)) = next
            .iter()
            .find(|(_, active)| owns_package(&active.manifest))
        {
            let ids = displaced.entry(bundle.clone()).or_default();
            ids.push(module.id().to_owned());
        }
    }
    displaced
}

/// Logs the removed policies, so that a client that is locked out can learn why.
fn log_displaced(displaced: &RemovedPolicies) {
    for (bundle, ids) in displaced {
        let named = ids.get(..NAMED).unwrap_or(ids).join(", ");
        warn!(
            bundle,
            number = ids.len(),
            policies = named,
            "the bundle owns the packages of policies from files or clients, which are removed"
        );
    }
}

/// Deactivates bundles, see [`Engine::deactivate`](crate::Engine::deactivate); after an
/// error the contents must be discarded.
pub(super) fn deactivate(contents: &mut Contents, names: &[String]) -> Result<(), BundleError> {
    let mut next = (*contents.bundles.0).clone();
    let replaced: Vec<_> = names.iter().filter_map(|name| next.remove(name)).collect();
    let replaced: Vec<_> = replaced.into_iter().map(|active| active.manifest).collect();
    let removed = erase(contents, &replaced)?;
    compile(contents, removed, Vec::new())?;
    show(contents, next)
}

impl Plan {
    /// Plans the activation of these bundles. Of several with the same name the last one counts.
    fn of(active: &Bundles, bundles: Vec<(String, Bundle)>) -> Result<Self, BundleError> {
        let bundles: BTreeMap<String, Bundle> = bundles.into_iter().collect();
        let mut plan = Self {
            next: (*active.0).clone(),
            replaced: Vec::new(),
            brought: Vec::new(),
            policies: Vec::new(),
            operations: Vec::new(),
        };
        for (name, bundle) in bundles {
            let manifest = Arc::new(bundle.manifest);
            let active = Active {
                manifest: Arc::clone(&manifest),
                etag: bundle.etag,
            };
            let previous = plan.next.insert(name.clone(), active);
            match bundle.content {
                Content::Snapshot {
                    documents,
                    policies,
                } => {
                    plan.replaced
                        .extend(previous.map(|previous| previous.manifest));
                    plan.replaced.push(Arc::clone(&manifest));
                    plan.policies.extend(policies);
                    plan.brought.push((name, manifest, documents));
                }
                Content::Delta(operations) => {
                    follows(&name, previous.as_ref(), &manifest)?;
                    plan.operations.extend(operations);
                }
            }
        }
        Ok(plan)
    }
}

/// Refuses a delta that does not match the active bundle.
fn follows(name: &str, previous: Option<&Active>, manifest: &Manifest) -> Result<(), BundleError> {
    let previous = previous.ok_or_else(|| {
        let message = format!("the delta bundle `{name}` has no active bundle to change");
        BundleError::new(message)
    })?;
    if !previous.manifest.roots.same(&manifest.roots) {
        let (active, declared) = (&previous.manifest.roots, &manifest.roots);
        let message = format!(
            "the delta bundle `{name}` has the roots {declared}, the active bundle has {active}"
        );
        return Err(BundleError::new(message));
    }
    Ok(())
}

/// Refuses bundles whose roots overlap.
fn apart(bundles: &BTreeMap<String, Active>) -> Result<(), BundleError> {
    let roots = bundles.iter().flat_map(|(name, active)| {
        let roots = active.manifest.roots.iter();
        roots.map(move |root| (root, name))
    });
    let mut roots: Vec<_> = roots.collect();
    // In sorted order, a path inside a root directly follows it.
    roots.sort_unstable();
    let mut pairs = roots.iter().zip(roots.iter().skip(1));
    match pairs.find(|((outer, _), (inner, _))| inner.starts_with(outer)) {
        None => Ok(()),
        Some(((outer, holder), (inner, other))) => Err(BundleError::new(format!(
            "the bundles `{holder}` and `{other}` have overlapping roots: `{}` and `{}`",
            outer.join("/"),
            inner.join("/"),
        ))),
    }
}

/// Applies the operations of delta bundles to the documents.
fn carry_out(contents: &mut Contents, operations: Vec<Operation>) -> Result<(), BundleError> {
    for Operation { path, change } in operations {
        let documents = &mut contents.documents;
        let changed = match change {
            Change::Upsert(value) => store::upsert(documents, &path, value),
            Change::Replace(value) => store::replace(documents, &path, value),
            Change::Remove => store::remove(documents, &path),
        };
        changed.map_err(|failure| {
            let at = store::display_path(&path);
            BundleError::new(format!("patch operation at `{at}`: {failure}"))
        })?;
    }
    Ok(())
}

/// Removes the documents below the roots of bundles, and returns the ids of the policies there.
fn erase(
    contents: &mut Contents,
    manifests: &[Arc<Manifest>],
) -> Result<BTreeSet<String>, BundleError> {
    for root in manifests.iter().flat_map(|manifest| manifest.roots.iter()) {
        let documents = &mut contents.documents;
        match root {
            [] => *documents = Value::from(Object::new()),
            root => match store::remove(documents, root) {
                Ok(()) | Err(StoreError::NotFound(_)) => {}
                Err(failure) => return Err(BundleError::new(failure.to_string())),
            },
        }
    }
    let policies = contents.policy.modules().filter(|module| {
        let package = module.package().names();
        let mut manifests = manifests.iter();
        manifests.any(|manifest| manifest.roots.holding(&package).is_some())
    });
    Ok(policies.map(|module| module.id().to_owned()).collect())
}

/// Writes the documents of a bundle below its roots.
fn write(root: &mut Value, manifest: &Manifest, documents: &Value) -> Result<(), StoreError> {
    for path in manifest.roots.iter() {
        if let Some(document) = store::find(documents, path) {
            store::put(root, path, document.clone())?;
        }
    }
    Ok(())
}

/// Compiles the present policies, without the removed ones, together with the new ones. An
/// unchanged policy is not recompiled.
fn compile(
    contents: &mut Contents,
    mut removed: BTreeSet<String>,
    policies: Vec<Policy>,
) -> Result<(), BundleError> {
    let mut compiler = Compiler::new(&contents.policy).documents(&contents.documents);
    let mut taken = BTreeSet::new();
    for Policy { id, module } in policies {
        let present = contents.policy.module(&id);
        let stays = present.is_some() && !removed.remove(&id);
        if stays || !taken.insert(id.clone()) {
            let message = format!(
                "the id `{id}` of a policy in the bundle is already used by another policy"
            );
            return Err(BundleError::new(message));
        }
        if present.is_none_or(|present| present.text() != &*module.text) {
            compiler = compiler.put(&id, module);
        }
    }
    for id in &removed {
        compiler = compiler.remove(id);
    }
    contents.policy = compiler.compile().map_err(BundleError::of_policies)?;
    Ok(())
}

/// Refuses the document at a path if it conflicts with rules.
fn without_conflict(contents: &Contents, path: &[String]) -> Result<(), BundleError> {
    let Some(document) = store::find(&contents.documents, path) else {
        return Ok(());
    };
    let steps: Vec<Value> = path.iter().map(|step| Value::from(step.as_str())).collect();
    let checked = contents.policy.conflicts(&steps, document);
    checked.map_err(BundleError::of_policies)
}

/// Sets the active bundles, and writes their manifests to the documents at `STATUS_PATH`.
fn show(contents: &mut Contents, next: BTreeMap<String, Active>) -> Result<(), BundleError> {
    let bundles = Bundles(Arc::new(next));
    let path = STATUS_PATH.map(str::to_owned);
    let written = store::put(&mut contents.documents, &path, bundles.to_value());
    written.map_err(|failure| {
        let at = store::display_path(&path);
        BundleError::new(format!(
            "the manifests cannot be shown at `{at}`: {failure}"
        ))
    })?;
    contents.bundles = bundles;
    Ok(())
}
