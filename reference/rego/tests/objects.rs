//! Objects behave the same whether they are small or large, shared or not.

use std::collections::BTreeMap;

use rego::Value;
use rego::value::{Object, from_json};
use rstest::rstest;

/// Reproducible pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

#[track_caller]
fn check_same(object: &Object, model: &BTreeMap<Value, Value>) {
    assert_eq!(object.len(), model.len());
    assert!(object.iter().eq(model.iter()));
}

#[rstest]
#[case::few(8, 300)]
#[case::some_more(200, 3000)]
#[case::many(20_000, 60_000)]
fn objects_behave_like_ordered_maps(#[case] keys: u64, #[case] steps: i32) {
    let mut dice = Dice(keys);
    let (mut object, mut model) = (Object::new(), BTreeMap::new());
    let mut snapshot = (object.clone(), model.clone());
    for step in 0..steps {
        let key = Value::from(dice.below(keys));
        let value = Value::from(step);
        match dice.below(4) {
            0 => assert_eq!(object.remove_value(&key), model.remove(&key)),
            1 => assert_eq!(object.get_value_mut(&key), model.get_mut(&key)),
            _ => assert_eq!(
                object.insert(key.clone(), value.clone()),
                model.insert(key, value)
            ),
        }
        if step == steps / 2 {
            snapshot = (object.clone(), model.clone());
        }
    }
    check_same(&object, &model);
    check_same(&snapshot.0, &snapshot.1);
    for member in object.values_mut() {
        *member = Value::Null;
    }
    check_same(&snapshot.0, &snapshot.1);
    assert!(object.values().all(|member| *member == Value::Null));
    let mut retained = snapshot.0.clone();
    let even = |key: &Value| key.to_string().ends_with('2');
    retained.retain(|key, _| even(key));
    snapshot.1.retain(|key, _| even(key));
    check_same(&retained, &snapshot.1);
    let emptied: Vec<Value> = retained.keys().cloned().collect();
    for key in emptied {
        assert!(retained.remove_value(&key).is_some());
    }
    assert_eq!(retained, Object::new());
}

#[rstest]
#[case::empty(0)]
#[case::one(1)]
#[case::largest_small(64)]
#[case::smallest_large(65)]
#[case::large(5000)]
fn objects_are_made_of_members_in_any_order(#[case] size: u64) {
    let sorted: BTreeMap<Value, Value> = (0..size)
        .map(|at| (Value::from(format!("{at:05}")), Value::from(at)))
        .collect();
    let mut dice = Dice(size);
    let mut members: Vec<(Value, Value)> = sorted.clone().into_iter().collect();
    for at in (1..members.len()).rev() {
        let other = usize::try_from(dice.below(size)).unwrap_or(0);
        members.swap(at, other.min(at));
    }
    let shuffled: Object = members.iter().cloned().collect();
    check_same(&shuffled, &sorted);
    let mut inserted = Object::new();
    inserted.extend(members);
    assert_eq!(inserted, shuffled);
    assert_eq!(shuffled.get("00000").is_some(), size > 0);
    assert_eq!(shuffled.get("x"), None);
}

#[test]
fn the_last_member_with_a_key_counts() {
    let twice = Object::of_members(vec![
        (Value::from("b"), Value::from(1)),
        (Value::from("a"), Value::from(2)),
        (Value::from("b"), Value::from(3)),
    ]);
    assert_eq!(Value::from(twice).to_string(), r#"{"a":2,"b":3}"#);
}

/// The same change of an object and of the map that it is compared with.
type Change = fn(&mut Object, &mut BTreeMap<Value, Value>);

#[test]
fn objects_that_were_read_change_alone() {
    let changes: &[Change] = &[
        |object, model| {
            object.insert("00000", Value::Null);
            model.insert(Value::from("00000"), Value::Null);
        },
        |object, model| {
            object.insert("new", Value::Null);
            model.insert(Value::from("new"), Value::Null);
        },
        |object, model| {
            object.insert_if_missing("00001", || Value::Null);
            model.entry(Value::from("00001")).or_insert(Value::Null);
        },
        |object, model| {
            assert_eq!(object.remove("00002"), model.remove(&Value::from("00002")));
        },
        |object, model| {
            for value in object.values_mut().chain(model.values_mut()) {
                *value = Value::Null;
            }
        },
        |object, model| {
            object.retain(|_, value| *value == Value::from(0));
            model.retain(|_, value| *value == Value::from(0));
        },
    ];
    for size in [0, 1, 3, 64, 65, 5000] {
        let members = (0..size).rev().map(|at| format!(r#""{at:05}":{at}"#));
        let one = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        let both = from_json(format!("[{one},{one}]").as_bytes()).unwrap_or(Value::Null);
        let model: BTreeMap<Value, Value> = (0..size)
            .map(|at| (Value::from(format!("{at:05}")), Value::from(at)))
            .collect();
        let objects: Vec<&Object> = both
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .collect();
        assert_eq!(objects.len(), 2);
        for change in changes {
            for object in &objects {
                let (mut changed, mut model) = ((*object).clone(), model.clone());
                change(&mut changed, &mut model);
                check_same(&changed, &model);
            }
        }
        for object in objects {
            check_same(object, &model);
        }
    }
}
