//! Connection table: chooses which connections to close at the connection limit.
//!
//! A connection has a full place, or one of a few places in the reserve, where only health and
//! metrics probes are answered until a full place is free. Idle connections are closed to make
//! room, so that a new one always finds a place of either kind.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::address::Address;
use crate::connection::activity::{Activity, Admission, CloseReason};

/// Age from which a connection without any request is closed before those between requests.
const SILENT: Duration = Duration::from_millis(100);

/// Limits of the number of connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Number of full places.
    pub(super) all: usize,
    /// Maximum number of full places of one address.
    pub(super) share: usize,
    /// Number of places in the reserve.
    pub(super) reserve: usize,
}

/// Open connections of a listener, by id.
#[derive(Debug)]
pub(super) struct Registry<I> {
    limits: Limits,
    open: HashMap<I, Entry>,
    /// Number of occupied full places, by address.
    shares: HashMap<Address, usize>,
    /// Number of occupied full places, and of occupied places in the reserve.
    full: usize,
    reserve: usize,
}

#[derive(Debug)]
struct Entry {
    address: Address,
    place: Admission,
    activity: Arc<Activity>,
}

impl<I: Copy + Eq + std::hash::Hash> Registry<I> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            open: HashMap::new(),
            shares: HashMap::new(),
            full: 0,
            reserve: 0,
        }
    }

    /// Chooses the place of a new connection; another connection may lose its place.
    pub(super) fn admit(&mut self, peer: IpAddr) -> (Arc<Activity>, Admission) {
        let place = match self.make_room(peer.into()) {
            true => Admission::Full,
            false => {
                self.make_reserve();
                Admission::Reserve
            }
        };
        (Arc::new(Activity::new(place)), place)
    }

    /// Inserts an admitted connection.
    pub(super) fn insert(
        &mut self,
        id: I,
        peer: IpAddr,
        activity: Arc<Activity>,
        place: Admission,
    ) {
        let address = peer.into();
        let entry = Entry {
            address,
            place,
            activity,
        };
        self.take(address, place);
        self.open.insert(id, entry);
    }

    /// Removes a connection, which is closed or about to be.
    pub(super) fn remove(&mut self, id: I) {
        if let Some(entry) = self.open.remove(&id) {
            self.release(entry.address, entry.place);
        }
    }

    /// Asks all connections to end.
    pub(super) fn finish(&self) {
        for entry in self.open.values() {
            entry.activity.leave(CloseReason::Finish);
        }
    }

    /// Whether some connections have no full place.
    pub(super) fn uses_reserve(&self) -> bool {
        self.reserve > 0
    }

    /// Assigns full places to the connections that wait for them, in order.
    pub(super) fn promote(&mut self) {
        let waiting = self.open.iter().filter_map(|(id, entry)| {
            let since = entry.activity.waiting_since()?;
            (entry.place == Admission::Reserve).then_some((since, *id, entry.address))
        });
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_by_key(|(since, ..)| *since);
        for (_, id, address) in waiting {
            if self.make_room(address)
                && let Some(entry) = self.open.get_mut(&id)
            {
                entry.place = Admission::Full;
                entry.activity.give(Admission::Full);
                self.release(address, Admission::Reserve);
                self.take(address, Admission::Full);
            }
        }
    }

    /// Closes the connection that has been idle longest, if there is one.
    pub(super) fn close_idle(&mut self) -> bool {
        let found = self.longest_idle(|_| true);
        self.close(found)
    }

    /// Makes room for a connection from the address; returns false if no full place is free.
    fn make_room(&mut self, address: Address) -> bool {
        let share = self.shares.get(&address).copied().unwrap_or_default();
        let shared = share < self.limits.share;
        if shared && self.full < self.limits.all {
            return true;
        }
        // A client at its share loses one of its own connections.
        let found = self.longest_idle(|entry| {
            entry.place == Admission::Full && (shared || entry.address == address)
        });
        self.close(found)
    }

    /// Ensures that there is a place in the reserve. Considers only the addresses with the most
    /// places in it: closes their longest idle connection, or else refuses their request that has
    /// waited shortest for a full place. So a client with many connections displaces no other
    /// client. A connection that has just arrived may have a request in transit, and is closed
    /// last.
    fn make_reserve(&mut self) {
        if self.reserve < self.limits.reserve {
            return;
        }
        let mut reserved_by_address: HashMap<Address, usize> = HashMap::new();
        let waiting = self.open.values();
        for entry in waiting.filter(|entry| entry.place == Admission::Reserve) {
            *reserved_by_address.entry(entry.address).or_default() += 1;
        }
        let most = reserved_by_address.values().max().copied();
        let reserved = |entry: &Entry| {
            entry.place == Admission::Reserve
                && reserved_by_address.get(&entry.address).copied() == most
        };
        let just_came = |entry: &Entry| {
            let since = entry.activity.idle_since();
            entry.activity.is_unused() && since.is_some_and(|since| since.elapsed() < SILENT)
        };
        let idle = self.longest_idle(|entry| reserved(entry) && !just_came(entry));
        if self.close(idle) {
            return;
        }
        let others = self.open.iter().filter(|(_, entry)| reserved(entry));
        let newest = others.filter(|(_, entry)| !just_came(entry));
        let newest = newest.max_by_key(|(_, entry)| {
            let activity = &entry.activity;
            (activity.waiting_since(), activity.born())
        });
        let newest = newest.map(|(id, _)| *id);
        if let Some(entry) = newest.and_then(|id| self.open.get(&id)) {
            entry.activity.give(Admission::Refused);
            self.close(newest);
            return;
        }
        let first = self.longest_idle(reserved);
        self.close(first);
    }

    /// Returns the connection that has been idle longest. Connections without any request precede
    /// the others. In the reserve, so do connections whose clients do not read.
    fn longest_idle(&self, of: impl Fn(&Entry) -> bool) -> Option<I> {
        let now = Instant::now();
        let idle = self.open.iter().filter(|(_, entry)| of(entry));
        let idle = idle.filter_map(|(id, entry)| {
            let activity = &entry.activity;
            let blocked = entry.place == Admission::Reserve && activity.is_blocked();
            let since = match blocked {
                true => now.checked_sub(SILENT)?,
                false => activity.idle_since()?,
            };
            let silent = activity.is_unused() && now.duration_since(since) >= SILENT;
            Some((!silent, since, *id))
        });
        idle.min_by_key(|(used, since, _)| (*used, *since))
            .map(|(.., id)| id)
    }

    /// Asks a connection to end, and removes it; returns whether there is one.
    fn close(&mut self, id: Option<I>) -> bool {
        let Some((id, entry)) = id.and_then(|id| Some((id, self.open.get(&id)?))) else {
            return false;
        };
        entry.activity.leave(CloseReason::Yield);
        self.remove(id);
        true
    }

    fn take(&mut self, address: Address, place: Admission) {
        match place {
            Admission::Full => {
                self.full += 1;
                *self.shares.entry(address).or_default() += 1;
            }
            Admission::Reserve | Admission::Refused => self.reserve += 1,
        }
    }

    fn release(&mut self, address: Address, place: Admission) {
        match place {
            Admission::Full => {
                self.full = self.full.saturating_sub(1);
                if let Some(share) = self.shares.get_mut(&address) {
                    *share = share.saturating_sub(1);
                    if *share == 0 {
                        self.shares.remove(&address);
                    }
                }
            }
            Admission::Reserve | Admission::Refused => {
                self.reserve = self.reserve.saturating_sub(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;

    use super::*;
    use crate::connection::activity::BodyLength;

    const LIMITS: Limits = Limits {
        all: 4,
        share: 2,
        reserve: 2,
    };

    /// Connections by number, and their activities.
    struct TestConnections {
        registry: Registry<usize>,
        activities: Vec<Arc<Activity>>,
    }

    impl TestConnections {
        fn new() -> Self {
            Self {
                registry: Registry::new(LIMITS),
                activities: Vec::new(),
            }
        }

        /// Adds a new connection, busy or idle; returns its place.
        fn arrive(&mut self, from: &str, busy: bool) -> Admission {
            let peer = from.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
            assert!(!peer.is_unspecified(), "{from}");
            let (activity, place) = self.registry.admit(peer);
            if busy {
                activity.begin_exchange(BodyLength::Exact(0));
            }
            let id = self.activities.len();
            let entered = Arc::clone(&activity);
            self.registry.insert(id, peer, entered, place);
            self.activities.push(activity);
            place
        }

        /// Connections that are asked to make room.
        fn leaving(&self) -> Vec<usize> {
            let all = self.activities.iter().enumerate();
            let leaving =
                all.filter(|(_, activity)| activity.leaving() == Some(CloseReason::Yield));
            leaving.map(|(id, _)| id).collect()
        }
    }

    /// Repeats an attempt until it takes less time than [`SILENT`], because a new connection no
    /// longer counts as just arrived after that time.
    fn promptly<T>(attempt: impl Fn() -> (Instant, T)) -> T {
        loop {
            let (started, found) = attempt();
            if started.elapsed() < SILENT {
                return found;
            }
        }
    }

    #[test]
    fn one_client_takes_no_more_than_its_share() {
        let arrivals = [
            ("2001:db8::1", true, Admission::Full, &[][..]),
            ("2001:db8::2", false, Admission::Full, &[]),
            // The same network: the idle connection makes room for the first, and none is left for
            // the second.
            ("2001:db8::3", true, Admission::Full, &[1]),
            ("2001:db8::4", true, Admission::Reserve, &[1]),
            // Other addresses have places left.
            ("2001:db8:0:1::1", false, Admission::Full, &[1]),
            ("127.0.0.1", true, Admission::Full, &[1]),
            // All places are occupied: an idle connection makes room.
            ("127.0.0.2", true, Admission::Full, &[1, 4]),
            ("127.0.0.3", true, Admission::Reserve, &[1, 4]),
            // The reserve is full, too: an idle connection in it makes room, if there is one.
            ("127.0.0.4", false, Admission::Reserve, &[1, 4, 7]),
            ("127.0.0.5", false, Admission::Reserve, &[1, 3, 4, 7]),
            ("127.0.0.6", false, Admission::Reserve, &[1, 3, 4, 7, 8]),
        ];
        let found = promptly(|| {
            let (started, mut crowd) = (Instant::now(), TestConnections::new());
            let found =
                arrivals.map(|(from, busy, ..)| (crowd.arrive(from, busy), crowd.leaving()));
            (started, found)
        });
        for ((from, _, place, leaving), found) in arrivals.into_iter().zip(found) {
            assert_eq!(found, (place, leaving.to_vec()), "{from}");
        }
    }

    #[test]
    fn a_crowd_takes_the_reserve_from_itself() {
        let leaving = promptly(|| {
            let (started, mut crowd) = (Instant::now(), TestConnections::new());
            crowd.registry.limits.reserve = 3;
            for from in ["1.0.0.1", "1.0.0.1", "1.0.0.2", "1.0.0.2"] {
                assert_eq!(crowd.arrive(from, true), Admission::Full);
            }
            // The single connection of its address has sent no request yet, and came first.
            for from in ["1.0.0.3", "1.0.0.1", "1.0.0.1", "1.0.0.1", "1.0.0.2"] {
                assert_eq!(crowd.arrive(from, false), Admission::Reserve);
            }
            (started, crowd.leaving())
        });
        assert_eq!(leaving, [5, 6]);
    }

    #[test]
    fn who_has_just_come_is_not_pushed_out_by_requests_that_wait() {
        let leaving = promptly(|| {
            let mut crowd = TestConnections::new();
            for from in ["1.0.0.1", "1.0.0.2", "1.0.0.3", "1.0.0.4", "1.0.0.5"] {
                crowd.arrive(from, true);
            }
            let waits = crowd.activities.last().map(Arc::clone);
            let mut admission = waits
                .as_ref()
                .map(|activity| Box::pin(activity.admission()));
            let admission = admission.as_mut().map(FutureExt::now_or_never);
            assert_eq!(admission, Some(None), "it has a full place");
            let started = Instant::now();
            // The health probe has connected, but not sent its request yet.
            assert_eq!(crowd.arrive("1.0.0.6", false), Admission::Reserve);
            assert_eq!(crowd.arrive("1.0.0.7", true), Admission::Reserve);
            (started, crowd.leaving())
        });
        assert_eq!(leaving, [4]);
    }

    #[test]
    fn the_longest_idle_goes_first() {
        let leaving = promptly(|| {
            let mut crowd = TestConnections::new();
            crowd.registry.limits.share = 4;
            for (from, busy) in [("1.0.0.1", true), ("1.0.0.2", false), ("1.0.0.3", true)] {
                crowd.arrive(from, busy);
            }
            std::thread::sleep(SILENT + Duration::from_millis(20));
            // The last one has been between requests longest, and one has just arrived.
            for at in [2, 0] {
                if let Some(activity) = crowd.activities.get(at) {
                    activity.end_exchange();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let started = Instant::now();
            crowd.arrive("1.0.0.4", false);
            let leaving = [(); 4].map(|()| {
                assert_eq!(crowd.arrive("1.0.0.5", true), Admission::Full);
                crowd.leaving()
            });
            assert_eq!(crowd.arrive("1.0.0.6", true), Admission::Reserve);
            (started, leaving)
        });
        assert_eq!(
            leaving,
            [vec![1], vec![1, 2], vec![0, 1, 2], vec![0, 1, 2, 3]]
        );
    }

    #[test]
    fn places_come_free() {
        let mut crowd = TestConnections::new();
        for from in ["1.0.0.1", "1.0.0.1", "1.0.0.2", "1.0.0.2"] {
            assert_eq!(crowd.arrive(from, true), Admission::Full);
        }
        assert_eq!(crowd.arrive("1.0.0.3", true), Admission::Reserve);
        assert!(crowd.registry.uses_reserve());
        for id in 0..5 {
            crowd.registry.remove(id);
            crowd.registry.remove(id);
        }
        assert!(!crowd.registry.uses_reserve());
        assert!(crowd.registry.shares.is_empty());
        assert_eq!(crowd.arrive("1.0.0.1", true), Admission::Full);
    }
}
