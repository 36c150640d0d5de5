//! Redaction of tokens and secrets in events.

use super::{ClauseVerdict, Event};
use crate::http_client::redact::Redactor;
use crate::judge::verdict::{Reason, Verdict};

impl Redactor {
    /// Redacts every secret in an event's description of a target's responses. Exchanges are
    /// redacted when they are created.
    pub(crate) fn event(&self, event: &mut Event) {
        match event {
            Event::Judged(judged) => self.judged(judged),
            Event::Leaked(leaked) => self.clean(&mut leaked.names),
            Event::Changed(changed) => self.clean(&mut changed.what),
            Event::Defect(defect) => self.clean([&mut defect.what]),
            Event::RunFinished(finished) => {
                self.clean(&mut finished.unreachable);
                self.clean(&mut finished.not_compared);
            }
            Event::RunStarted(_) | Event::Exchange(_) => {}
        }
    }

    fn judged(&self, judged: &mut ClauseVerdict) {
        self.clean([&mut judged.transcript]);
        match &mut judged.verdict {
            Verdict::Fail(failure) => {
                self.clean([&mut failure.request]);
                self.clean(&mut failure.curl);
                self.clean(&mut failure.notes);
                for difference in &mut failure.differences {
                    self.clean([&mut difference.expected, &mut difference.got]);
                }
            }
            Verdict::NotRun(Reason::Unreachable(reason)) => self.clean([reason]),
            Verdict::Pass | Verdict::Recorded | Verdict::NotRun(_) => {}
        }
    }

    fn clean<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        for text in texts {
            if self.reveals(text) {
                *text = self.text(text);
            }
        }
    }
}
