//! Groups related differences.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::DifferenceKind;
use super::requests::{Instance, SENT, folder};
use super::{Open, Proposal};

/// Maximum number of members missing in some run that are reported separately; more of them are
/// reported as one difference of the object.
const ALONE: usize = 3;
/// Maximum number of missing members that are named in a report.
const NAMED: usize = 3;

/// Value reported for a missing member.
const ABSENT: &str = "absent";

/// Creates one proposal for each location of an endpoint, and each kind of difference in shape.
pub(super) fn grouped(found: Vec<Instance>, open: &[Open]) -> Vec<Proposal> {
    let mut proposals: BTreeMap<(String, String, DifferenceKind, Vec<String>), Proposal> =
        BTreeMap::new();
    for instance in found {
        let Instance {
            file,
            rule,
            step,
            difference,
            example,
            ..
        } = instance;
        let values = match difference.kind {
            DifferenceKind::Shape => difference.values.clone(),
            DifferenceKind::Value | DifferenceKind::Words => Vec::new(),
        };
        let key = (
            file.clone(),
            difference.place.clone(),
            difference.kind,
            values,
        );
        // A status belongs to one request; a member has one place in every response.
        let alike =
            |one: &Open| difference.place.starts_with('/') || one.values == difference.values;
        let same =
            |one: &&Open| one.key == difference.place && folder(&one.rule) == file && alike(one);
        let recorded = open.iter().find(same).map(|one| one.rule.clone());
        let proposal = proposals.entry(key).or_insert_with(|| Proposal {
            recorded,
            file,
            place: difference.place,
            kind: difference.kind,
            values: difference.values,
            members: false,
            rules: BTreeSet::new(),
            example,
            rule: rule.clone(),
            step,
        });
        proposal.rules.insert(rule);
    }
    join(proposals.into_values().collect())
}

/// Replaces several proposals by one for an object of which many members are missing in some run.
fn join(proposals: Vec<Proposal>) -> Vec<Proposal> {
    let mut objects: BTreeMap<(String, String), Vec<Proposal>> = BTreeMap::new();
    let mut others = Vec::new();
    for proposal in proposals {
        let lacks = proposal.values.iter().any(|value| value == ABSENT);
        match proposal.place.rsplit_once('/') {
            Some((object, _)) if lacks && proposal.kind == DifferenceKind::Shape => {
                let key = (proposal.file.clone(), object.to_owned());
                objects.entry(key).or_default().push(proposal);
            }
            _ => others.push(proposal),
        }
    }
    for ((_, object), members) in objects {
        match members.len() > ALONE {
            true => others.extend(object_of(&object, members)),
            false => others.extend(members),
        }
    }
    others.sort_by(|one, other| (&one.file, &one.place).cmp(&(&other.file, &other.place)));
    others
}

/// Creates the proposal for an object with these members.
fn object_of(place: &str, members: Vec<Proposal>) -> Option<Proposal> {
    let runs = members.first()?.values.len();
    let alone = (0..runs).map(|run| {
        let present = members.iter().filter(|member| {
            let value = member.values.get(run);
            value.is_some_and(|value| value != ABSENT)
        });
        let names = present.filter_map(|member| member.place.rsplit('/').next());
        // A member may be listed twice, because it may have different types.
        let names: BTreeSet<&str> = names.collect();
        joined_names(&names)
    });
    let values = alone.collect();
    let rules = members.iter().flat_map(|member| member.rules.clone());
    let rules = rules.collect();
    let first = members.into_iter().next()?;
    Some(Proposal {
        place: match place {
            "" => "body".to_owned(),
            SENT => format!("{SENT}body"),
            place => place.to_owned(),
        },
        values,
        members: true,
        rules,
        ..first
    })
}

fn joined_names(names: &BTreeSet<&str>) -> String {
    let listed: Vec<&str> = names.iter().take(NAMED).copied().collect();
    match names.len() {
        0 => "none".to_owned(),
        all if all > NAMED => format!("{} and {} more", listed.join(", "), all - NAMED),
        _ => listed.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(place: &str, values: &[&str]) -> Proposal {
        Proposal {
            file: "engine/a".to_owned(),
            place: place.to_owned(),
            kind: DifferenceKind::Shape,
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            members: false,
            rules: BTreeSet::from([format!("engine/a/of{place}")]),
            example: String::new(),
            rule: String::new(),
            step: 1,
            recorded: None,
        }
    }

    #[test]
    fn many_members_of_an_object_are_told_as_one() {
        let members = [
            ("/m/a", ["absent", "a number"]),
            ("/m/b", ["absent", "a number"]),
            ("/m/c", ["a string", "absent"]),
            ("/m/d", ["absent", "an object"]),
            ("/m/e", ["absent", "an array"]),
            ("/m/typed", ["a string", "a number"]),
            ("/few/a", ["absent", "a number"]),
        ];
        let all = members.map(|(place, values)| proposal(place, &values));
        let lines = join(all.into()).into_iter().map(|one| {
            let values = one.values.join("; ");
            format!("{}: {values} ({})", one.place, one.rules.len())
        });
        let lines: Vec<String> = lines.collect();
        assert_eq!(
            lines,
            [
                "/few/a: absent; a number (1)",
                "/m: c; a, b, d and 1 more (5)",
                "/m/typed: a string; a number (1)",
            ]
        );
    }
}
