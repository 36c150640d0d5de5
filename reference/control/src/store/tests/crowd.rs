//! Many owners that claim and build the same bundles concurrently.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::*;
use crate::HANG_LIMIT;

/// State shared by the owners of a crowd: which bundles are being built, and the document that the
/// last build of a bundle saw.
#[derive(Debug, Default)]
struct Deliveries {
    building: BTreeSet<i64>,
    seen: BTreeMap<String, String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_of_owners_loses_no_change_and_doubles_no_build() -> Tested {
    for database in TestDatabase::all("crowd").await? {
        let store = database.store().await?;
        for index in 0..6 {
            change(&store, &format!("source s{index} {{}}")).await?;
            let body = format!("{{\"requirements\":[{{\"source\":\"s{index}\"}}]}}");
            change(&store, &format!("bundle b{index} {body}")).await?;
        }
        let deliveries = Arc::new(Mutex::new(Deliveries::default()));
        let mut owners = Vec::new();
        for index in 0..3 {
            let store = database.store().await?;
            owners.push(tokio::spawn(run_owner(
                store,
                format!("owner{index}"),
                Arc::clone(&deliveries),
            )));
        }
        for round in 0..40 {
            for index in 0..6 {
                change(&store, &format!("data s{index} {round}")).await?;
            }
        }
        let expected: BTreeMap<_, _> = (0..6)
            .map(|index| (format!("b{index}"), "39".to_owned()))
            .collect();
        let deadline = tokio::time::Instant::now() + HANG_LIMIT;
        loop {
            let seen = lock(&deliveries).seen.clone();
            if seen == expected {
                break;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "changes are lost: {seen:?}"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for owner in owners {
            owner.abort();
            match owner.await {
                Ok(result) => result?,
                Err(failure) => assert!(failure.is_cancelled(), "{failure}"),
            }
        }
    }
    Ok(())
}

/// Builds due bundles forever; sometimes releases a claim instead.
async fn run_owner(store: Store, name: String, deliveries: Arc<Mutex<Deliveries>>) -> Tested {
    for round in 0_u32.. {
        store.propagate_changes().await?;
        let Some(claim) = claim(&store, &name, LEASE).await? else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        if !lock(&deliveries).building.insert(claim.bundle) {
            return Err(format!("two owners build {claim:?}").into());
        }
        let result = build(&store, &claim, &deliveries).await;
        lock(&deliveries).building.remove(&claim.bundle);
        let seen = result?;
        if round % 5 == 4 {
            store.release(&claim).await?;
        } else if !store
            .finish(&claim, &finish("r", BuildResult::Success, None))
            .await?
        {
            return Err(format!("{name} has lost {claim:?}: {seen}").into());
        }
    }
    Ok(())
}

async fn build(store: &Store, claim: &Claim, deliveries: &Mutex<Deliveries>) -> Tested<String> {
    let inputs = store
        .inputs(claim.bundle, u64::MAX)
        .await?
        .ok_or("deleted")?;
    let documents = inputs.sources.values().flat_map(|source| &source.documents);
    let seen: String = documents.map(|(_, text)| text.as_str()).collect();
    lock(deliveries).seen.insert(inputs.name, seen.clone());
    Ok(seen)
}

fn lock(deliveries: &Mutex<Deliveries>) -> MutexGuard<'_, Deliveries> {
    deliveries.lock().unwrap_or_else(PoisonError::into_inner)
}
