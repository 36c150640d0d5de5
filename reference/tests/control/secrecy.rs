//! Secrecy: secrets appear in no response, no error, no debug output, and not in the database as
//! plain text.

use libtest_mimic::Failed;
use sqlx::Row;

use crate::environment::{Environment, send, text};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[("secrets-show-nowhere", show_nowhere)];

const MARKER: &str = "hush-Zx81-marker";

/// Request bodies with a marker in place of a secret; some of them are refused.
const BODIES: &[&str] = &[
    r#"{"value":{"type":"token_auth","token":"hush-Zx81-marker"}}"#,
    r#"{"type":"password","password":"hush-Zx81-marker"}"#,
    r#"{"value":"hush-Zx81-marker"}"#,
    r#"{"value":{"type":["hush-Zx81-marker"]}}"#,
    r#"{"value":{"token":{"a":"hush-Zx81-marker"}}}"#,
    r#"{"value":{"token":"hush-Zx81-marker"}"#,
    r#""hush-Zx81-marker""#,
];

fn show_nowhere(environment: Environment) -> Outcome {
    Box::pin(async move {
        let declared = "secrets: {declared: {type: password, password: hush-Zx81-marker}}";
        let control = environment.open(declared).await?;
        let mut outputs = vec![format!("{control:?}")];
        for (at, body) in BODIES.iter().enumerate() {
            let target = format!("/v1/secrets/k{at}");
            for (method, body) in [("PUT", *body), ("GET", ""), ("DELETE", "")] {
                if method != "DELETE" || at % 2 == 1 {
                    outputs.push(text(&send(&control, "admin", method, &target, body).await?));
                }
            }
        }
        outputs.push(text(
            &send(&control, "viewer", "GET", "/v1/secrets", "").await?,
        ));
        for config in [
            "secrets: {k: [hush-Zx81-marker]}",
            "secrets: {k: {value: hush-Zx81-marker}}",
            "secrets: {k: hush-Zx81-marker}",
            "tokens: {t: {api_key: [hush-Zx81-marker], scopes: [{role: viewer}]}}",
            "tokens: {t: {api_key: {hush-Zx81-marker: 1}, scopes: [{role: viewer}]}}",
            "tokens: {a: {api_key: hush-Zx81-marker, scopes: [{role: viewer}]}, b: {api_key: hush-Zx81-marker, scopes: [{role: viewer}]}}",
        ] {
            let path = environment.file("refused.yaml", config)?;
            match environment.open_with(&[path]).await {
                Ok(_) => return Err(format!("{config} was accepted").into()),
                Err(refusal) => outputs.push(format!("{refusal} {refusal:?}")),
            }
        }
        outputs.extend(stored(&environment).await?);
        match outputs.iter().find(|output| output.contains(MARKER)) {
            Some(output) => Err(format!("a secret shows in {output}").into()),
            None => Ok(()),
        }
    })
}

/// Returns the contents of all tables and of the database's files.
async fn stored(environment: &Environment) -> Result<Vec<String>, Failed> {
    let pool = environment.database().await?;
    let rows = sqlx::query("SELECT definition FROM resources WHERE kind = 'secret'");
    let rows = rows.fetch_all(&pool).await?;
    if rows.is_empty() {
        return Err("no secret was stored".into());
    }
    let mut stored = Vec::new();
    for row in rows {
        stored.push(row.try_get::<String, _>(0)?);
    }
    for entry in environment.folder().read_dir()? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("control.db")
        {
            stored.push(String::from_utf8_lossy(&std::fs::read(entry.path())?).into_owned());
        }
    }
    Ok(stored)
}
