//! Turns: fair scheduling of builds among owners.
//!
//! The next build belongs to the owner with the fewest running builds; ties go to the one whose
//! last turn is longest ago, and then to the one whose bundle has waited longest. One owner alone
//! may use all slots except the guest slot, which is for owners without a running build: no owner
//! waits for the builds of another one alone.

use super::permits::{Permit, Permits};
use crate::store::{Queue, Waiting};

/// Owners that wait for a turn.
#[derive(Debug)]
pub(super) struct Turns {
    queue: Queue,
    waiting: Vec<Waiting>,
}

impl Turns {
    pub(super) fn new(queue: Queue, waiting: Vec<Waiting>) -> Self {
        Self { queue, waiting }
    }

    /// Returns the next owner, with a slot for a build; `None` when nobody may start one now.
    pub(super) fn next(&mut self, slots: &Permits) -> Option<(String, Permit)> {
        self.waiting
            .sort_by_cached_key(|entry| (slots.usage(&entry.tenant), entry.since));
        self.waiting.iter().find_map(|next| {
            let slot = slots.acquire(self.queue, &next.tenant)?;
            Some((next.tenant.clone(), slot))
        })
    }

    /// Removes an owner without waiting bundles.
    pub(super) fn remove(&mut self, tenant: &str) {
        self.waiting.retain(|entry| entry.tenant != tenant);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::*;

    /// Queued and running builds of owners.
    struct Queues {
        slots: Permits,
        /// Queue times of the bundles of each owner, oldest first.
        queued: BTreeMap<String, VecDeque<i64>>,
        /// Running builds, with their owners.
        building: Vec<(String, Permit)>,
    }

    impl Queues {
        fn new(builds: usize) -> Self {
            Self {
                slots: Permits::new(builds),
                queued: BTreeMap::new(),
                building: Vec::new(),
            }
        }

        fn put(&mut self, tenant: &str, time: i64) {
            let queued = self.queued.entry(tenant.to_owned()).or_default();
            queued.push_back(time);
        }

        /// Starts all builds that may start; returns their owners in order.
        fn begin(&mut self, queue: Queue) -> Vec<String> {
            let waiting = self.queued.iter().filter_map(|(tenant, queued)| {
                Some(Waiting {
                    tenant: tenant.clone(),
                    since: *queued.front()?,
                })
            });
            let mut turns = Turns::new(queue, waiting.collect());
            let mut begun = Vec::new();
            while let Some((tenant, slot)) = turns.next(&self.slots) {
                let queued = self.queued.get_mut(&tenant);
                match queued.and_then(VecDeque::pop_front) {
                    Some(_) => {
                        begun.push(tenant.clone());
                        self.building.push((tenant, slot));
                    }
                    None => turns.remove(&tenant),
                }
            }
            begun
        }

        fn built(&self, tenant: &str) -> usize {
            let is_owned = |(owner, _): &&(String, Permit)| owner == tenant;
            self.building.iter().filter(is_owned).count()
        }
    }

    #[test]
    fn another_owner_does_not_wait_for_endless_builds() {
        for builds in 1..=5 {
            let mut queues = Queues::new(builds);
            for at in 0..6 {
                queues.put("endless", at);
            }
            let all = vec!["endless"; builds];
            assert_eq!(queues.begin(Queue::Changed), all, "{builds}");
            queues.put("other", 100);
            assert_eq!(queues.begin(Queue::Changed), ["other"], "{builds}");
            // The guest slot is not for owners that already have a running build.
            queues.put("other", 101);
            assert_eq!(queues.begin(Queue::Changed), [""; 0], "{builds}");
        }
    }

    #[test]
    fn without_a_builder_nothing_begins() {
        let mut queues = Queues::new(0);
        queues.put("one", 0);
        assert_eq!(queues.begin(Queue::Changed), [""; 0]);
    }

    #[test]
    fn one_slot_is_kept_for_changes() {
        let mut queues = Queues::new(4);
        for at in 0..9 {
            queues.put("one", at);
        }
        assert_eq!(queues.begin(Queue::Due).len(), 3);
        assert_eq!(queues.begin(Queue::Changed).len(), 1);
    }

    /// For any order of queued and finished builds: the slots are never exceeded, owners without a
    /// running build precede those with one, and an owner waits for at most one build of each other
    /// owner once a slot is free.
    #[test]
    fn turns_are_fair() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or_default() % below
        };
        for round in 0..200 {
            let (builds, owners) = (1 + random(5), 1 + random(6));
            let mut queues = Queues::new(builds);
            // Turns of others while an owner waited.
            let mut overtaken: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
            for time in 0..300 {
                for _ in 0..random(4) {
                    // The first owner queues the most.
                    let owner = random(owners).min(random(owners));
                    queues.put(&format!("o{owner}"), time);
                }
                let before: BTreeMap<String, usize> = (0..owners)
                    .map(|owner| format!("o{owner}"))
                    .map(|owner| (owner.clone(), queues.built(&owner)))
                    .collect();
                let begun = queues.begin(Queue::Changed);
                assert!(queues.building.len() <= builds + 1, "round {round}");
                for owner in before.keys() {
                    let is_waiting = queues
                        .queued
                        .get(owner)
                        .is_some_and(|queued| !queued.is_empty());
                    if !is_waiting || begun.contains(owner) {
                        overtaken.remove(owner);
                    }
                    if !is_waiting || queues.built(owner) > 0 {
                        continue;
                    }
                    let others = overtaken.entry(owner.clone()).or_default();
                    for other in &begun {
                        let count = others.entry(other.clone()).or_default();
                        *count += 1;
                        assert!(*count <= 1, "round {round}: {other} before {owner}");
                    }
                    // No owner with a running build got another one.
                    for other in &begun {
                        assert_eq!(before.get(other), Some(&0), "round {round}: {owner} waits");
                    }
                }
                for _ in 0..random(3) {
                    if !queues.building.is_empty() {
                        let ended = random(queues.building.len());
                        queues.building.swap_remove(ended);
                    }
                }
            }
        }
    }
}
