//! Bundles during whose builds processes crashed, and the order of owners.

use rstest::rstest;

use super::*;

/// Claims the only bundle, which is suspected; returns its number of crashes.
async fn suspect(store: &Store, owner: &str) -> Tested<Option<u32>> {
    assert!(store.waiting(Queue::Due).await?.is_empty(), "not suspected");
    let claim = store.claim_suspect(owner, Duration::ZERO).await?;
    Ok(claim.map(|claim| claim.deaths))
}

async fn condemn(store: &Store) -> Tested {
    change(store, "source s {}").await?;
    change(store, "bundle b {\"requirements\":[{\"source\":\"s\"}]}").await?;
    while store.propagate_changes().await? {}
    // Each of the processes crashes.
    let first = claim(store, "first", Duration::ZERO).await?;
    assert_eq!(first.map(|claim| claim.deaths), Some(0));
    assert_eq!(suspect(store, "second").await?, Some(1));
    let last = store.claim_suspect("third", LEASE).await?;
    let last = last.ok_or("not suspected")?;
    assert_eq!(last.deaths, MAX_DEATHS);
    let mut verdict = finish("", BuildResult::InternalError, None);
    if let BuildOutcome::Failed { condemned, .. } = &mut verdict {
        *condemned = true;
    }
    assert!(store.finish(&last, &verdict).await?);
    assert_eq!(claim(store, "third", LEASE).await?, None);
    Ok(())
}

/// Events for a bundle that is not built any more, and the crashes in its next claim.
#[rstest]
#[case::data("data", "data s 1", None)]
#[case::other_source("other", "source other {}", None)]
#[case::bundle("bundle", "bundle b {\"requirements\":[{\"source\":\"s\"}]}", Some(0))]
#[case::source("source", "source s {}", Some(0))]
#[case::stack(
    "stack",
    "stack x {\"selector\":{},\"requirements\":[{\"source\":\"s\"}]}",
    Some(0)
)]
#[tokio::test]
async fn definitions_redeem_a_bundle_and_data_does_not(
    #[case] test: &str,
    #[case] line: &str,
    #[case] deaths: Option<u32>,
) -> Tested {
    for database in TestDatabase::all(&format!("redeem_{test}")).await? {
        let store = database.store().await?;
        condemn(&store).await?;
        change(&store, line).await?;
        while store.propagate_changes().await? {}
        let next = claim(&store, "fourth", LEASE).await?;
        assert_eq!(next.map(|claim| claim.deaths), deaths);
    }
    Ok(())
}

#[tokio::test]
async fn what_ends_a_claim_ends_the_suspicion() -> Tested {
    for database in TestDatabase::all("suspicion").await? {
        let store = database.store().await?;
        change(&store, "bundle b {}").await?;
        store.propagate_changes().await?;
        // A process that releases a bundle, or finishes it, has not crashed.
        for _ in 0..3 {
            let released = claim(&store, "one", LEASE).await?.ok_or("not due")?;
            store.release(&released).await?;
            let built = claim(&store, "two", LEASE).await?.ok_or("not due")?;
            assert_eq!(built.deaths, 0);
            let again = Some(Duration::ZERO);
            let failed = finish("", BuildResult::BuildFailed, again);
            assert!(store.finish(&built, &failed).await?);
        }
        // Nor has a process that claims its own bundle again, or reports that it is alive.
        for _ in 0..3 {
            let claimed = claim(&store, "three", Duration::ZERO).await?;
            assert_eq!(claimed.map(|claim| claim.deaths), Some(0));
        }
        assert_eq!(suspect(&store, "four").await?, Some(1));
        let lost = store.claim_suspect("five", LEASE).await?.ok_or("not due")?;
        assert_eq!(lost.deaths, 2);
        store.mark_lost(lost.bundle).await?;
        store.release(&lost).await?;
        let next = claim(&store, "six", LEASE).await?;
        assert_eq!(next.map(|claim| claim.deaths), Some(0));
    }
    Ok(())
}

/// Owners take turns: each is listed once, with its oldest bundle, without suspected ones.
#[tokio::test]
async fn owners_wait_with_their_oldest_bundle() -> Tested {
    for database in TestDatabase::all("turns").await? {
        let store = database.store().await?;
        let mut keys = Keys::default();
        for name in ["a", "b", "c"] {
            keys.add(name, Role::Owner, KeyDigest::of(name))?;
        }
        for bundle in ["b1", "a1", "b2", "c1", "a2"] {
            let owner = bundle.get(..1).unwrap_or_default();
            let principal = keys.principal(&format!("Bearer {owner}")).cloned();
            let principal = principal.ok_or("the key is not known")?;
            store
                .put(&principal, &entry(Kind::Bundle, bundle, "{}")?)
                .await?;
            while store.propagate_changes().await? {}
            // The clock of the database has to advance.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        for queue in [Queue::Changed, Queue::Due] {
            let mut waiting = store.waiting(queue).await?;
            waiting.sort_by_key(|entry| entry.since);
            let tenants: Vec<_> = waiting.iter().map(|entry| entry.tenant.as_str()).collect();
            assert_eq!(tenants, ["b", "a", "c"]);
        }
        let dead = store.claim(Queue::Due, "c", "gone", Duration::ZERO).await?;
        assert_eq!(dead.map(|claim| claim.tenant).as_deref(), Some("c"));
        let of_a = store.claim(Queue::Changed, "a", "o", LEASE).await?;
        let of_a = of_a.ok_or("not due")?;
        let name = store.bundle(of_a.bundle).await?.map(|inputs| inputs.name);
        assert_eq!(name.as_deref(), Some("a1"));
        let mut waiting = store.waiting(Queue::Due).await?;
        waiting.sort_by_key(|entry| entry.since);
        let tenants: Vec<_> = waiting.iter().map(|entry| entry.tenant.as_str()).collect();
        assert_eq!(tenants, ["b", "a"]);
        assert!(store.has_suspect().await?);
    }
    Ok(())
}
