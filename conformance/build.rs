//! Embeds the clauses, API documents, snapshots, faults, variants, targets with their known
//! failures, and rules for clients, so that the shipped program needs no other files.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the constant, folder, and file extensions that it contains.
const SETS: [(&str, &str, &[&str]); 7] = [
    ("SPECS", "specs", &["yaml", "toml"]),
    ("SNAPSHOTS", "snapshots", &["snap"]),
    ("FAULTS", "faults", &["yaml"]),
    ("VARIANTS", "variants", &["yaml", "toml"]),
    ("TARGETS", "targets", &["toml"]),
    ("KNOWN", "known", &["toml"]),
    ("CLIENT_RULES", "clients", &["yaml"]),
];

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut code = String::new();
    for (name, folder, endings) in SETS {
        let root = folder_of(&manifest, folder);
        println!("cargo::rerun-if-changed={}", root.display());
        let mut files = Vec::new();
        if root.is_dir() {
            collect(&root, endings, &mut files)?;
        }
        files.sort();
        // Writing to a string cannot fail.
        let _ = writeln!(code, "/// Files of `{folder}`: path without ending, text.");
        let _ = writeln!(code, "pub const {name}: &[(&str, &str)] = &[");
        for file in files {
            let key = key(&root, &file);
            let _ = writeln!(code, "    ({key:?}, include_str!({file:?})),");
        }
        let _ = writeln!(code, "];");
    }
    std::fs::write(
        PathBuf::from(variable("OUT_DIR")?).join("embedded_files.rs"),
        code,
    )
}

/// Returns the location of a folder. Some are next to the crate in the repository, with a link in
/// the crate, so that its package contains them. In a checkout without links, a file replaces each.
fn folder_of(manifest: &Path, folder: &str) -> PathBuf {
    let (own, beside) = (manifest.join(folder), manifest.join("..").join(folder));
    match own.is_symlink() || !own.is_dir() {
        true if beside.is_dir() => beside,
        _ => own,
    }
}

fn variable(name: &str) -> io::Result<String> {
    std::env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

fn collect(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, endings, files)?;
        } else if path
            .extension()
            .is_some_and(|ending| endings.iter().any(|known| ending == *known))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the path below `root`, with `/` as separator and without the extension.
fn key(root: &Path, file: &Path) -> String {
    let below = file.strip_prefix(root).unwrap_or(file).with_extension("");
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
