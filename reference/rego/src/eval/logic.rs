//! `not`, `and` and `or` of bodies.

use super::machine::{Continuation, Flow, Frame, Interrupt, Machine, exit_query};
use crate::ir::Body;
use crate::syntax::Connective;

impl<'p> Machine<'p> {
    /// Calls the continuation once if the bodies satisfy the connective. Bindings made within the
    /// bodies stay local to them; the second body is evaluated only if it can change the result.
    pub(super) fn logic(
        &mut self,
        frame: &Frame<'_>,
        connective: Connective,
        bodies: &[Body],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        if self.connected(frame, connective, bodies)? {
            return next(self);
        }
        Ok(())
    }

    /// Whether the bodies satisfy the connective.
    pub(super) fn connected(
        &mut self,
        frame: &Frame<'_>,
        connective: Connective,
        bodies: &[Body],
    ) -> Result<bool, Interrupt> {
        let mut holds = connective == Connective::And;
        for body in bodies {
            // All solutions of a negated body are searched, as effects may depend on them.
            let is_operand = connective != Connective::Not;
            holds = self.has_solution(frame, body, is_operand)?;
            if holds == (connective == Connective::Or) {
                break;
            }
        }
        Ok(holds != (connective == Connective::Not))
    }

    fn has_solution(
        &mut self,
        frame: &Frame<'_>,
        body: &Body,
        find_one: bool,
    ) -> Result<bool, Interrupt> {
        let mut child = frame.closure(self, body);
        child.find_one = find_one;
        let mut found = false;
        let flow = self.run(&child, &mut |_| {
            found = true;
            Ok(())
        });
        exit_query(flow)?;
        Ok(found)
    }
}
