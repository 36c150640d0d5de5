//! Reduction of calls with different results to simple ones.

use std::error::Error;

use super::call::Call;
use super::declared::Function;
use super::sides::{Sides, Verdict};

/// Maximum number of attempts to simplify one call.
const TRIES: usize = 300;

/// Simplifies a call with different results: sets its random bytes to 0, many at once and then one
/// by one, as long as the results still differ without a known reason.
///
/// # Errors
/// When OPA cannot be restarted.
pub(super) fn smallest(
    sides: &mut Sides,
    function: &Function,
    call: &Call,
) -> Result<Call, Box<dyn Error>> {
    let mut smallest = call.clone();
    let mut tries = 0;
    for width in [100, 40, 15, 5, 2, 1] {
        for start in (0..smallest.choices.len()).step_by(width) {
            let mut choices = smallest.choices.clone();
            for choice in choices.iter_mut().skip(start).take(width) {
                *choice = 0;
            }
            let smaller = Call::generate(function, choices);
            let length = smaller.to_string().len();
            if length >= smallest.to_string().len() {
                continue;
            }
            tries += 1;
            if tries > TRIES {
                return Ok(smallest);
            }
            if sides.one(&smaller)?.1 == Verdict::Different {
                smallest = smaller;
            }
        }
    }
    Ok(smallest)
}
