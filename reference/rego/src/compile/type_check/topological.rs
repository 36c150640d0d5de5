//! Topological order of type inference, in layers that are inferred in parallel: first the rules
//! that read no others, then those that read only those, and so on.
//!
//! The type of a path can depend on more than the types of the paths that its rules read: a
//! reference with variables, or into a document that rules below extend, reveals whether the types
//! of other paths are known yet. Those are inferred one by one, in their order. So are all paths if
//! there is an error, because errors hide others.

use super::environment::TypeNode;
use super::pass::{Pass, Rules};
use crate::Value;
use crate::parallel;
use crate::types::Type;

/// Types that are inferred ahead of the sequential order.
pub(super) enum InferredType {
    /// Types of all paths.
    All(TypeNode),
    /// Types of some of the paths, by their indices.
    Some(Vec<Option<Option<Type>>>),
}

/// Infers types in parallel as far as possible, for a policy without known types.
pub(super) fn find(rules: &Rules<'_>, round: &Pass<'_>) -> InferredType {
    let mut known = vec![None; round.places.len()];
    let mut types = TypeNode::default();
    let layers = layers(round);
    for mut layer in layers {
        let found = parallel::each(&mut layer, |(_, path)| rules.check(path, &types));
        for ((number, path), (of, errors)) in layer.into_iter().zip(found) {
            if !errors.is_empty() {
                return InferredType::Some(Vec::new());
            }
            if let Some(known) = known.get_mut(number) {
                *known = Some(of.clone());
            }
            types.set(path, of);
        }
    }
    match known.iter().all(Option::is_some) {
        true => InferredType::All(types),
        false => InferredType::Some(known),
    }
}

/// Paths that read only paths of preceding layers, with their indices.
type Layer<'r> = Vec<(usize, &'r [Value])>;

fn layers<'r>(round: &Pass<'r>) -> Vec<Layer<'r>> {
    let mut layers: Vec<Layer<'r>> = Vec::new();
    let mut depths: Vec<Option<usize>> = vec![None; round.places.len()];
    for number in &round.order {
        let place = round.places.get(*number).filter(|place| place.is_free);
        let Some(place) = place else {
            continue;
        };
        let above = place.reads.iter().try_fold(0, |depth, read| {
            let of_read = depths.get(*read).copied().flatten()?;
            Some(depth.max(of_read + 1))
        });
        let Some(depth) = above else {
            continue;
        };
        if depth == layers.len() {
            layers.push(Layer::new());
        }
        if let (Some(layer), Some(own_depth)) = (layers.get_mut(depth), depths.get_mut(*number)) {
            layer.push((*number, place.path.as_slice()));
            *own_depth = Some(depth);
        }
    }
    layers
}
