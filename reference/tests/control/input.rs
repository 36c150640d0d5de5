//! Arbitrary bytes in requests: every response is a documented one, never 500.

use crate::environment::{Environment, send, text};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[("any-bytes", any_bytes), ("large-and-deep", large_and_deep)];

const TARGETS: &[&str] = &[
    "/v1/bundles/x",
    "/v1/sources/x",
    "/v1/sources/x/data/y",
    "/v1/stacks/x",
    "/v1/secrets/x",
];

/// Valid bodies, to which the test applies mutations.
const SEEDS: &[&str] = &[
    r#"{"name":"x","labels":{"a":"b"},"requirements":[{"source":"x","git":{"commit":"c"}}],"excluded_files":["*"]}"#,
    r#"{"object_storage":{"aws":{"bucket":"b","key":"k","region":"r","credentials":"x"}}}"#,
    r#"{"git":{"repo":"r","credentials":"x"},"datasources":[{"type":"http","config":{"url":"u","headers":{"a":"b"}}}]}"#,
    r#"{"selector":{"a":["b*"]},"value":{"type":"t","token":"\u0041"}}"#,
    r#"[1e400,-0.0,"\ud83d\ude00",null,true,{"$serde_json::private::Number":"1"}]"#,
];

/// Deterministic random number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound.max(1)
    }
}

fn any_bytes(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
        for round in 0..400 {
            let seed = SEEDS.get(round % SEEDS.len()).copied().unwrap_or_default();
            let mut body = seed.as_bytes().to_vec();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(body.len());
                let byte = u8::try_from(numbers.below(256)).unwrap_or_default();
                match numbers.below(3) {
                    0 => body.truncate(at),
                    1 => body.insert(at, byte),
                    _ => {
                        if let Some(old) = body.get_mut(at) {
                            *old = byte;
                        }
                    }
                }
            }
            for target in TARGETS {
                let reply = send(&control, "admin", "PUT", target, body.clone()).await?;
                if ![200, 400, 404, 422].contains(&reply.status.as_u16()) {
                    let body = String::from_utf8_lossy(&body);
                    return Err(format!("{target} {body}: {}", text(&reply)).into());
                }
            }
            // Every stored definition can be read as JSON.
            for target in TARGETS.iter().chain(&["/v1/bundles", "/v1/sources?pretty"]) {
                let reply = send(&control, "admin", "GET", target, "").await?;
                serde_json::from_slice::<serde_json::Value>(&reply.body.bytes())?;
                if ![200, 404].contains(&reply.status.as_u16()) {
                    return Err(format!("{target}: {}", text(&reply)).into());
                }
            }
        }
        Ok(())
    })
}

fn large_and_deep(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = environment.open("").await?;
        send(&control, "admin", "PUT", "/v1/sources/x", "{}").await?;
        let name = |length: usize| format!("/v1/bundles/{}", "n".repeat(length));
        // Random data, because a database could compress repetitions.
        let mut numbers = Numbers(1);
        let mut random = |length: usize| -> String {
            let digits = std::iter::repeat_with(|| char::from_digit(numbers.below(36) as u32, 36));
            digits.take(length).flatten().collect()
        };
        let mut path = |length: usize| format!("/v1/sources/x/data/{}", random(length));
        let labels = format!(r#"{{"labels":{{"a":"{}"}}}}"#, "v".repeat(1 << 20));
        let revision = format!(r#"{{"revision":"{}"}}"#, "v".repeat(1 << 20));
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (target, body, expected) in [
            (name(255), "{}".to_owned(), 200),
            (name(256), "{}".to_owned(), 400),
            (path(2000), "1".to_owned(), 200),
            (path(2048), "1".to_owned(), 400),
            (name(1), labels, 400),
            (name(1), revision, 200),
            (path(1), deep(100), 200),
            (path(1), deep(1000), 400),
            (path(1), "[".repeat(1 << 20), 400),
            (name(1), deep(1 << 20), 400),
        ] {
            let reply = send(&control, "admin", "PUT", &target, body).await?;
            if reply.status.as_u16() != expected {
                let target = target.chars().take(40).collect::<String>();
                return Err(format!("{target}: {} instead of {expected}", reply.status).into());
            }
        }
        Ok(())
    })
}
