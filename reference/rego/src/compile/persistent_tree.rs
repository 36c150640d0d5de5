//! Persistent trees by path: a changed tree shares unchanged nodes with the original.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use crate::Value;

/// Changes a child, which is created if it is missing and removed if it is empty afterwards. A node
/// that is not shared is changed in place.
pub(super) fn change_child<N: Clone + Default, R>(
    children: &mut RedBlackTreeMapSync<Value, Arc<N>>,
    step: &Value,
    is_bare: impl Fn(&N) -> bool,
    change: impl FnOnce(&mut N) -> R,
) -> R {
    if let Some(child) = children.get_mut(step) {
        let child = Arc::make_mut(child);
        let answer = change(child);
        if is_bare(child) {
            children.remove_mut(step);
        }
        return answer;
    }
    let mut child = N::default();
    let answer = change(&mut child);
    if !is_bare(&child) {
        children.insert_mut(step.clone(), Arc::new(child));
    }
    answer
}
