//! Evaluates generated policies until the evaluations end or are cancelled.

#![no_main]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions};
use rego_generate::Choices;

/// Time after which the evaluations of a run are cancelled. If they continue nevertheless, the run
/// exceeds the time limit of the fuzzer.
const RUN_TIMEOUT: Duration = Duration::from_secs(5);

/// Channel to the thread that cancels a run if the next one has not begun within the timeout.
static CLOCK: LazyLock<Mutex<mpsc::Sender<Arc<AtomicBool>>>> = LazyLock::new(|| {
    let (sender, runs) = mpsc::channel::<Arc<AtomicBool>>();
    std::thread::spawn(move || {
        let mut run = Arc::default();
        loop {
            match runs.recv_timeout(RUN_TIMEOUT) {
                Ok(next) => run = next,
                Err(mpsc::RecvTimeoutError::Timeout) => run.store(true, Ordering::Relaxed),
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    Mutex::new(sender)
});

fuzz_target!(|bytes: &[u8]| {
    let cancelled = Arc::new(AtomicBool::new(false));
    CLOCK.lock().unwrap().send(Arc::clone(&cancelled)).unwrap();
    let mut choices = Choices::new(bytes);
    let input = from_json(rego_generate::input(&mut choices).as_bytes()).ok();
    let documents = from_json(rego_generate::documents().as_bytes());
    let module = Module::parse("fuzz.rego", &rego_generate::module(&mut choices));
    let (Ok(documents), Ok(module)) = (documents, module) else {
        return;
    };
    let Ok(policy) = Compiler::new(&Policy::default())
        .put("fuzz.rego", module)
        .compile()
    else {
        return;
    };
    for query in rego_generate::QUERIES {
        if let Ok(query) = Query::parse(&policy, query, &QueryOptions::default()) {
            let mut evaluation = Evaluation::new(&documents);
            evaluation.input = input.clone();
            evaluation.cancelled = Arc::clone(&cancelled);
            drop(query.evaluate(&mut evaluation));
        }
    }
});
