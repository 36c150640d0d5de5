//! Actions and images have a digest in workflows and in examples of the documentation: a moved tag
//! must not change the code that runs.

use std::error::Error;
use std::fs;

use serde_json::Value;

use crate::sources::{paths, repository};

/// Actions and images that need no digest, with the reason.
const WITHOUT: [(&str, &str); 2] = [
    ("./", "the action of this repository"),
    (
        "OWNER/REPOSITORY@REVISION",
        "the same, to those who copy it",
    ),
];

/// Returns true if the name of an action or image contains a digest or a commit.
fn is_pinned(name: &str) -> bool {
    let hex = |text: &str, length| {
        let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        text.len() == length && text.chars().all(digit)
    };
    name.split_once('@').is_some_and(|(_, at)| {
        at.strip_prefix("sha256:")
            .map_or_else(|| hex(at, 40), |digest| hex(digest, 64))
    })
}

/// Collects the names of actions and images at any depth of a workflow.
fn named(yaml: &Value, found: &mut Vec<String>) {
    match yaml {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("uses" | "container" | "image", Value::String(text)) => {
                        found.push(text.clone());
                    }
                    _ => named(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, found)),
        _ => {}
    }
}

/// Returns the base images of a Containerfile, except names of its own stages.
fn images(containerfile: &str) -> Vec<String> {
    let mut built: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in containerfile.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is =
            |word: Option<&&str>, name| word.is_some_and(|word| word.eq_ignore_ascii_case(name));
        if !is(words.first(), "from") {
            continue;
        }
        let mut operands = words
            .into_iter()
            .skip(1)
            .filter(|word| !word.starts_with("--"));
        let image = operands.next().unwrap_or_default();
        if !built.contains(&image) {
            found.push(image.to_owned());
        }
        built.extend(operands.nth(1));
    }
    found
}

/// Returns the fenced code blocks of a page.
fn examples(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            found.push(String::new());
        } else if let Some(example) = found.last_mut().filter(|_| inside) {
            example.push_str(line);
            example.push('\n');
        }
    }
    found
}

/// Returns the actions and images in the examples of a page.
fn code_blocks(page: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut found = Vec::new();
    for example in examples(page) {
        match serde_yaml::from_str(&example) {
            Ok(yaml) => named(&yaml, &mut found),
            Err(reason) if example.contains("uses: ") => return Err(reason.into()),
            // Most examples are not YAML, so they name no action.
            Err(_) => {}
        }
        if example.starts_with("FROM ") {
            found.extend(images(&example));
        }
    }
    Ok(found)
}

fn unpinned(found: Vec<String>) -> Vec<String> {
    let excepted = |name: &str| WITHOUT.iter().any(|(known, _)| *known == name);
    let bad = |name: &String| !is_pinned(name) && !excepted(name);
    found.into_iter().filter(bad).collect()
}

#[test]
fn actions_and_images_are_named_by_digest() -> Result<(), Box<dyn Error>> {
    let workflows = paths(".github/workflows", "");
    let workflows = workflows
        .iter()
        .map(|name| format!(".github/workflows/{name}"));
    let docs = paths("docs", "")
        .into_iter()
        .map(|name| format!("docs/{name}"));
    let others = [
        "action.yml",
        "Containerfile",
        "README.md",
        "CONTRIBUTING.md",
    ];
    let pages = docs.filter(|name| name.ends_with(".md"));
    let mut count = 0;
    for file in workflows.chain(others.map(str::to_owned)).chain(pages) {
        let text = fs::read_to_string(repository().join(&file))?;
        let mut found = Vec::new();
        match file.as_str() {
            "Containerfile" => found = images(&text),
            page if page.ends_with(".md") => found = code_blocks(&text)?,
            _ => named(&serde_yaml::from_str(&text)?, &mut found),
        }
        count += found.len();
        for name in &found {
            // A commit is unreadable, so a comment with the version must follow.
            let action = is_pinned(name) && !name.contains("@sha256:");
            assert!(
                !action || text.contains(&format!("{name} # v")),
                "{file}: {name}"
            );
        }
        assert_eq!(unpinned(found), [""; 0], "{file}");
    }
    assert!(count > 20, "{count}");
    Ok(())
}

#[test]
fn tags_are_noticed() -> Result<(), Box<dyn Error>> {
    let digest = "0123456789abcdef".repeat(4);
    let commit = &digest[..40];
    let workflow = format!(
        "jobs: {{ a: {{ container: 'rust:1', services: {{ b: {{ image: 'b@sha256:{digest}' }} }}, \
         steps: [{{ uses: a/b@v4 }}, {{ uses: a/c@{commit} }}, {{ uses: a/d@{} }}, {{ uses: ./ }}] }} }}",
        &commit[..39]
    );
    let mut found = Vec::new();
    named(&serde_yaml::from_str(&workflow)?, &mut found);
    let short = format!("a/d@{}", &commit[..39]);
    assert_eq!(unpinned(found), ["rust:1", "a/b@v4", &short]);
    let file = format!("FROM --platform=x a@sha256:{digest} AS one\nfrom one as two\nFROM b:1\n");
    assert_eq!(unpinned(images(&file)), ["b:1"]);
    let page = "a\n```yaml\n- uses: a/b@v4\n```\n- uses: a/c@v4\n```\nFROM b:1\n```\n";
    assert_eq!(unpinned(code_blocks(page)?), ["a/b@v4", "b:1"]);
    Ok(())
}
