//! Arrays behave the same whether they are short or long, shared or not.

use rego::Value;
use rego::value::{Array, from_json};
use rstest::rstest;

#[track_caller]
fn check_same(array: &Array, model: &[Value]) {
    assert_eq!(array.len(), model.len());
    assert!(array.iter().eq(model));
    assert_eq!((array.first(), array.last()), (model.first(), model.last()));
    for skipped in [1, 63, 64, 65, 1000, model.len()] {
        assert!(array.iter().skip(skipped).eq(model.iter().skip(skipped)));
        assert_eq!(array.get(skipped), model.get(skipped));
    }
}

#[rstest]
#[case::empty(0, 300)]
#[case::short(3, 300)]
#[case::longest_short(64, 300)]
#[case::shortest_long(65, 3000)]
#[case::long(20_000, 20_000)]
fn arrays_behave_like_lists(#[case] length: i32, #[case] steps: i32) {
    let mut model: Vec<Value> = (0..length).map(Value::from).collect();
    let text = Value::from(model.clone()).to_string();
    let read = from_json(text.as_bytes()).unwrap_or(Value::Null);
    let mut array = read.as_array().cloned().unwrap_or_default();
    check_same(&array, &model);
    let before = (array.clone(), model.clone());
    // A different number in each step, without a pattern of any length.
    let mut at = 1;
    for step in 0..steps {
        at = (at * 48_271) % 0x7fff_ffff;
        let index = at % (model.len() + 1);
        let value = Value::from(step);
        match at / 64 % 5 {
            0 if index < model.len() => {
                assert_eq!(array.remove(index), Some(model.remove(index)));
            }
            1 => {
                let (own, other) = (array.get_mut(index), model.get_mut(index));
                assert_eq!(own, other);
                for place in own.into_iter().chain(other) {
                    *place = value.clone();
                }
            }
            2 => {
                array.push(value.clone());
                model.push(value);
            }
            _ => {
                array.insert(index, value.clone());
                model.insert(index, value);
            }
        }
    }
    check_same(&array, &model);
    check_same(&before.0, &before.1);
    let mut nulls = array.clone();
    nulls.iter_mut().for_each(|item| *item = Value::Null);
    assert!(nulls.iter().all(|item| *item == Value::Null));
    check_same(&array, &model);
    while array.remove(0).is_some() {}
    check_same(&array, &[]);
}
