//! The members of an object: a sorted list while they are few, and a tree of such lists that
//! share their unchanged parts when they are many.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Value;

pub(super) type Member = (Value, Value);

/// The most entries of one list. A change copies one list on each level.
const WIDTH: usize = 64;

/// A list of members, or of lists.
#[derive(Clone)]
pub(super) enum Members {
    Few(Vec<Member>),
    Many(Box<Branch>),
}

/// Lists in their order, none of them empty.
#[derive(Clone)]
pub(super) struct Branch {
    /// The number of members in all lists.
    length: usize,
    parts: Vec<Part>,
}

#[derive(Clone)]
pub(super) struct Part {
    /// The least key, or one before it and behind all of the part before.
    least: Value,
    members: Arc<Members>,
}

impl Part {
    fn new(members: Members) -> Option<Self> {
        let least = members.least()?.clone();
        let members = Arc::new(members);
        Some(Self { least, members })
    }
}

impl Default for Members {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Branch {
    fn new(parts: Vec<Part>) -> Self {
        let length = parts.iter().map(|part| part.members.len()).sum();
        Self { length, parts }
    }

    /// Which part has the key, if any has.
    fn place(&self, order: &impl Fn(&Value) -> Ordering) -> usize {
        let behind = |part: &Part| order(&part.least) != Ordering::Greater;
        self.parts.partition_point(behind).saturating_sub(1)
    }
}

impl Members {
    /// Members that are in order.
    pub(super) fn of_sorted(mut members: Vec<Member>) -> Self {
        if members.len() <= WIDTH {
            members.shrink_to_fit();
            return Self::Few(members);
        }
        let mut level = Vec::new();
        let mut rest = members.into_iter().peekable();
        while rest.peek().is_some() {
            // Room is left for what is put in between.
            let few: Vec<Member> = rest.by_ref().take(WIDTH * 3 / 4).collect();
            level.extend(Part::new(Self::Few(few)));
        }
        while level.len() > WIDTH {
            let mut rest = level.into_iter().peekable();
            let mut above = Vec::new();
            while rest.peek().is_some() {
                let parts: Vec<Part> = rest.by_ref().take(WIDTH * 3 / 4).collect();
                above.extend(Part::new(Self::Many(Box::new(Branch::new(parts)))));
            }
            level = above;
        }
        Self::Many(Box::new(Branch::new(level)))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(members) => members.len(),
            Self::Many(branch) => branch.length,
        }
    }

    fn least(&self) -> Option<&Value> {
        match self {
            Self::Few(members) => members.first().map(|(key, _)| key),
            Self::Many(branch) => branch.parts.first().map(|part| &part.least),
        }
    }

    /// The member whose key is equal by this order.
    pub(super) fn find(&self, order: impl Fn(&Value) -> Ordering) -> Option<&Member> {
        let mut at = self;
        loop {
            match at {
                Self::Few(members) => {
                    let place = members.binary_search_by(|(key, _)| order(key)).ok()?;
                    return members.get(place);
                }
                Self::Many(branch) => {
                    let place = branch.place(&|key| order(key));
                    at = branch.parts.get(place)?.members.as_ref();
                }
            }
        }
    }

    /// The same, to change. The way there is copied as far as it is shared.
    pub(super) fn find_mut(&mut self, order: impl Fn(&Value) -> Ordering) -> Option<&mut Value> {
        let mut at = self;
        loop {
            match at {
                Self::Few(members) => {
                    let place = members.binary_search_by(|(key, _)| order(key)).ok()?;
                    return members.get_mut(place).map(|(_, value)| value);
                }
                Self::Many(branch) => {
                    let place = branch.place(&|key| order(key));
                    at = Arc::make_mut(&mut branch.parts.get_mut(place)?.members);
                }
            }
        }
    }

    /// Sets a member; what was there before is the answer.
    pub(super) fn insert(&mut self, key: Value, value: Value) -> Option<Value> {
        let (before, behind) = self.insert_below(key, value);
        if let Some(behind) = behind {
            let front = Part::new(std::mem::take(self));
            let parts = front.into_iter().chain([behind]).collect();
            *self = Self::Many(Box::new(Branch::new(parts)));
        }
        before
    }

    /// The same; a list that became too long is divided, and its second half the other answer.
    fn insert_below(&mut self, key: Value, value: Value) -> (Option<Value>, Option<Part>) {
        match self {
            Self::Few(members) => {
                let place = match members.binary_search_by(|(known, _)| known.cmp(&key)) {
                    Ok(place) => {
                        let known = members.get_mut(place);
                        let before = known.map(|(_, known)| std::mem::replace(known, value));
                        return (before, None);
                    }
                    Err(place) => place,
                };
                members.insert(place, (key, value));
                // What grows at its end leaves full lists behind.
                let half = if place + 1 == members.len() {
                    WIDTH
                } else {
                    WIDTH / 2
                };
                let behind = (members.len() > WIDTH).then(|| members.split_off(half));
                (None, behind.and_then(|behind| Part::new(Self::Few(behind))))
            }
            Self::Many(branch) => {
                let place = branch.place(&|known| known.cmp(&key));
                let Some(part) = branch.parts.get_mut(place) else {
                    return (None, None);
                };
                let (before, behind) = Arc::make_mut(&mut part.members).insert_below(key, value);
                branch.length += usize::from(before.is_none());
                if let Some(behind) = behind {
                    branch.parts.insert(place + 1, behind);
                }
                if branch.parts.len() <= WIDTH {
                    return (before, None);
                }
                let half = if place + 2 == branch.parts.len() {
                    WIDTH
                } else {
                    WIDTH / 2
                };
                let behind = Branch::new(branch.parts.split_off(half));
                branch.length -= behind.length;
                (before, Part::new(Self::Many(Box::new(behind))))
            }
        }
    }

    /// Removes the member whose key is equal by this order.
    pub(super) fn remove(&mut self, order: &impl Fn(&Value) -> Ordering) -> Option<Member> {
        match self {
            Self::Few(members) => {
                let place = members.binary_search_by(|(key, _)| order(key)).ok()?;
                Some(members.remove(place))
            }
            Self::Many(branch) => {
                let place = branch.place(order);
                let part = branch.parts.get_mut(place)?;
                let removed = Arc::make_mut(&mut part.members).remove(order)?;
                branch.length -= 1;
                if part.members.len() == 0 {
                    branch.parts.remove(place);
                }
                if branch.length == 0 {
                    *self = Self::default();
                }
                Some(removed)
            }
        }
    }

    /// Hands all members over in their order.
    pub(super) fn into_list(self) -> Vec<Member> {
        match self {
            Self::Few(members) => members,
            Self::Many(branch) => {
                let mut list = Vec::with_capacity(branch.length);
                for part in branch.parts {
                    list.extend(Arc::unwrap_or_clone(part.members).into_list());
                }
                list
            }
        }
    }
}

/// The members in the order of their keys.
#[derive(Debug, Clone)]
pub struct Iter<'o> {
    /// What is left of the list that is at its turn.
    few: std::slice::Iter<'o, Member>,
    /// What is left of the lists above it, the outermost first.
    above: Vec<std::slice::Iter<'o, Part>>,
    left: usize,
}

impl<'o> Iter<'o> {
    pub(super) fn new(members: &'o Members) -> Self {
        let left = members.len();
        let (few, above) = match members {
            Members::Few(members) => (members.iter(), Vec::new()),
            Members::Many(branch) => ([].iter(), vec![branch.parts.iter()]),
        };
        Self { few, above, left }
    }
}

impl<'o> Iterator for Iter<'o> {
    type Item = (&'o Value, &'o Value);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.few.next() {
                self.left -= 1;
                return Some((key, value));
            }
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(part) => match part.members.as_ref() {
                    Members::Few(members) => self.few = members.iter(),
                    Members::Many(branch) => self.above.push(branch.parts.iter()),
                },
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// The members in the order of their keys, the values to change.
#[derive(Debug)]
pub struct IterMut<'o> {
    few: std::slice::IterMut<'o, Member>,
    above: Vec<std::slice::IterMut<'o, Part>>,
}

impl<'o> IterMut<'o> {
    pub(super) fn new(members: &'o mut Members) -> Self {
        let (few, above) = match members {
            Members::Few(members) => (members.iter_mut(), Vec::new()),
            Members::Many(branch) => ([].iter_mut(), vec![branch.parts.iter_mut()]),
        };
        Self { few, above }
    }
}

impl<'o> Iterator for IterMut<'o> {
    type Item = (&'o Value, &'o mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.few.next() {
                return Some((key, value));
            }
            match self.above.last_mut()?.next() {
                None => {
                    self.above.pop();
                }
                Some(part) => match Arc::make_mut(&mut part.members) {
                    Members::Few(members) => self.few = members.iter_mut(),
                    Members::Many(branch) => self.above.push(branch.parts.iter_mut()),
                },
            }
        }
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(Iter::new(&self.members)).finish()
    }
}
