//! Hostile contents of submission folders.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mkdirat, mknodat, openat};

use super::{EVIDENCE, copy, pack, unpacked};

/// Change of a valid submission; the second folder of the change is outside of it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) change: fn(&Path, &Path) -> io::Result<()>,
    /// Message that must be reported about the submission.
    pub(super) message: &'static str,
}

const fn case(
    name: &'static str,
    message: &'static str,
    change: fn(&Path, &Path) -> io::Result<()>,
) -> Case {
    Case {
        name,
        change,
        message,
    }
}

/// Length of a huge file, more than the memory of any machine.
const HUGE: u64 = 1 << 40;
const LINE: usize = 100 << 20;
const DEEP: usize = 10_000;
const MANY: usize = 100_000;

const LINK: &str = "evidence.ndjson.gz: is a link";
const KIND: &str = "evidence.ndjson.gz: is not a regular file";
const FOREIGN: &str = "is not part of a submission";
const LONG: &str = "is longer than 64 MiB when it is unpacked";
const LONG_LINE: &str = "is longer than 16 MiB";

pub(super) const CASES: &[Case] = &[
    case("link-to-passwd", LINK, |folder, _| {
        instead(folder, EVIDENCE, |path| symlink("/etc/passwd", path))
    }),
    case("link-to-secret", LINK, |folder, outside| {
        instead(folder, EVIDENCE, |path| {
            symlink(outside.join("secret"), path)
        })
    }),
    case("link-to-evidence", LINK, |folder, outside| {
        let real = outside.join(super::GOOD).join(EVIDENCE);
        instead(folder, EVIDENCE, |path| symlink(real, path))
    }),
    case("relative-link", "README.md: is a link", |folder, _| {
        instead(folder, "README.md", |path| symlink("report.json", path))
    }),
    case(
        "link-to-folder",
        "README.md: is a link",
        |folder, outside| instead(folder, "README.md", |path| symlink(outside, path)),
    ),
    case("link-to-itself", "report.json: is a link", |folder, _| {
        instead(folder, "report.json", |path| symlink("report.json", path))
    }),
    case("dangling-link", LINK, |folder, _| {
        instead(folder, EVIDENCE, |path| symlink("nothing", path))
    }),
    case("link-for-target", "target.toml: is a link", |folder, _| {
        symlink("/etc/shadow", folder.join("target.toml"))
    }),
    case("folder-is-link", "Not a directory", |folder, outside| {
        fs::remove_dir_all(folder)?;
        symlink(outside.join(super::GOOD), folder)
    }),
    case("folder-is-loop", "Not a directory", |folder, _| {
        fs::remove_dir_all(folder)?;
        symlink(folder, folder)
    }),
    case("folder-is-file", "Not a directory", |folder, _| {
        fs::remove_dir_all(folder)?;
        fs::write(folder, "")
    }),
    case("folder-is-pipe", "Not a directory", |folder, _| {
        fs::remove_dir_all(folder)?;
        pipe(folder)
    }),
    case("no-folder", "No such file", |folder, _| {
        fs::remove_dir_all(folder)
    }),
    case("empty-folder", "is missing", |folder, _| {
        fs::remove_dir_all(folder)?;
        fs::create_dir(folder)
    }),
    case("pipe-for-evidence", KIND, |folder, _| {
        instead(folder, EVIDENCE, pipe)
    }),
    case(
        "pipe-for-report",
        "report.json: is not a regular file",
        |folder, _| instead(folder, "report.json", pipe),
    ),
    case(
        "pipe-for-readme",
        "README.md: is not a regular file",
        |folder, _| instead(folder, "README.md", pipe),
    ),
    case("device-for-evidence", KIND, |folder, _| {
        instead(folder, EVIDENCE, zeros)
    }),
    case(
        "device-for-report",
        "report.json: is not a regular file",
        |folder, _| instead(folder, "report.json", zeros),
    ),
    case("socket", KIND, |folder, _| {
        instead(folder, EVIDENCE, |path| {
            // Binds to a short path first, as paths of sockets are limited.
            let short = std::env::temp_dir().join(format!("hostile-{}", std::process::id()));
            UnixListener::bind(&short)?;
            let moved = fs::rename(&short, &path);
            drop(fs::remove_file(short));
            moved
        })
    }),
    case("folder-for-evidence", KIND, |folder, _| {
        instead(folder, EVIDENCE, fs::create_dir)
    }),
    case(
        "huge-evidence",
        "evidence.ndjson.gz: is longer than 16 MiB",
        |folder, _| instead(folder, EVIDENCE, huge),
    ),
    case(
        "huge-report",
        "report.json: is longer than 4 MiB",
        |folder, _| instead(folder, "report.json", huge),
    ),
    case(
        "huge-readme",
        "README.md: is longer than 1 MiB",
        |folder, _| instead(folder, "README.md", huge),
    ),
    case(
        "huge-target",
        "target.toml: is longer than 1 MiB",
        |folder, _| huge(folder.join("target.toml")),
    ),
    case(
        "huge-tail",
        "evidence.ndjson.gz: is longer than 16 MiB",
        |folder, _| {
            File::options()
                .write(true)
                .open(folder.join(EVIDENCE))?
                .set_len(HUGE)
        },
    ),
    case("tail", "goes on behind its end", |folder, _| {
        let mut file = File::options().append(true).open(folder.join(EVIDENCE))?;
        file.write_all(b"and more")
    }),
    case("bomb-of-one-line", LONG_LINE, |folder, _| {
        bomb(folder, "head -c 1G /dev/zero")
    }),
    case("bomb-of-lines", "", |folder, _| {
        bomb(folder, "yes '' | head -c 1G")
    }),
    case("bomb-of-events", LONG, |folder, _| {
        bomb(
            folder,
            r#"yes '{"event":"leaked","names":[]}' | head -c 1G"#,
        )
    }),
    case("bomb-of-members", LONG, |folder, _| {
        bomb(
            folder,
            r#"yes '{"event":"leaked","names":[],"x":[[],{},0,[[],{"":0}]]}' | head -c 1G"#,
        )
    }),
    case("bomb-of-items", "more than 1000000 items", |folder, _| {
        let line = format!(
            "{{\"event\":\"leaked\",\"names\":[\"\"{}]}}\n",
            ",\"\"".repeat(5_000_000)
        );
        pack(folder, line.repeat(4).as_bytes())
    }),
    case("bomb-of-headers", "more than 1000000 items", |folder, _| {
        let headers = "[\"\",\"\"],".repeat(1_500_000);
        let text =
            unpacked(folder)?.replacen("\"headers\":[", &format!("\"headers\":[{headers}"), 1);
        pack(folder, text.as_bytes())
    }),
    case("bombs-of-members", "", |folder, _| {
        let text = unpacked(folder)?;
        let members = ",\"x\":[".to_owned() + &"{\"\":0},".repeat(2_000_000) + "0]}";
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let first = first.strip_suffix('}').unwrap_or(first).to_owned() + &members;
        pack(folder, format!("{first}\n{rest}{rest}").as_bytes())
    }),
    case("wide-report", "report.json: ", |folder, _| {
        let items = "{\"\":0},".repeat(590_000);
        fs::write(folder.join("report.json"), format!("{{\"run\":[{items}0]"))
    }),
    case(
        "wide-report-that-is-whole",
        "the report is not of this evidence",
        |folder, _| {
            let items = "{\"\":0},".repeat(590_000);
            fs::write(
                folder.join("report.json"),
                format!("{{\"run\":[{items}0]}}"),
            )
        },
    ),
    case("deep-report", "report.json: ", |folder, _| {
        fs::write(folder.join("report.json"), "[".repeat(4 << 20))
    }),
    case("deep-event", "line 1: ", |folder, _| {
        pack(
            folder,
            ("{\"event\":\"leaked\",\"names\":".to_owned() + &"[".repeat(8 << 20) + "\n")
                .as_bytes(),
        )
    }),
    case("deep-member", "line 1: ", |folder, _| {
        pack(
            folder,
            ("{\"x\":".to_owned() + &"[".repeat(8 << 20) + "\n").as_bytes(),
        )
    }),
    case("deep-answers", "", |folder, _| {
        answers(folder, &("[".repeat(500_000) + &"]".repeat(500_000)))
    }),
    case("long-line", LONG_LINE, |folder, _| {
        let line = "{\"event\":\"defect\",\"rule\":\"a\",\"what\":\"".to_owned()
            + &"x".repeat(LINE)
            + "\"}\n";
        pack(folder, line.as_bytes())
    }),
    case("long-name-of-event", "line 1: ", |folder, _| {
        pack(
            folder,
            format!("{{\"event\":\"{}\"}}\n", "x\\u001b".repeat(1 << 20)).as_bytes(),
        )
    }),
    case("no-gzip", "the evidence is cut", |folder, _| {
        fs::write(folder.join(EVIDENCE), "no gzip")
    }),
    case("no-utf8", "line 1: ", |folder, _| {
        pack(folder, b"\xff\xfe\n")
    }),
    case("nothing", "the evidence is cut", |folder, _| {
        pack(folder, b"")
    }),
    case("foreign-file", FOREIGN, |folder, _| {
        fs::write(folder.join("x"), "")
    }),
    case("file-with-lines", FOREIGN, |folder, _| {
        fs::write(folder.join("a\nb: engine-query 2026.12: 35 of 35"), "")
    }),
    case("file-with-escapes", FOREIGN, |folder, _| {
        fs::write(folder.join("\u{1b}[2J\u{1b}]0;x\u{7}\r\u{8}"), "")
    }),
    case("file-from-right-to-left", FOREIGN, |folder, _| {
        fs::write(folder.join("evidence\u{202e}zg.nosjdn\u{2066}"), "")
    }),
    case("file-with-markup", FOREIGN, |folder, _| {
        fs::write(folder.join("<script>alert(1)<'\"`$(touch x)`"), "")
    }),
    case("file-that-is-no-text", FOREIGN, |folder, _| {
        fs::write(folder.join(name(b"\xff\xfe\x80")), "")
    }),
    case("file-of-a-runner", FOREIGN, |folder, _| {
        fs::write(folder.join("::error::x ##[error]"), "")
    }),
    case("file-with-dots", FOREIGN, |folder, _| {
        fs::write(folder.join("..."), "")
    }),
    case("deep-folders", FOREIGN, |folder, _| nested(folder)),
    case("many-files", FOREIGN, |folder, _| {
        (0..MANY).try_for_each(|number| fs::write(folder.join(format!("f{number}")), ""))
    }),
    case("many-links", FOREIGN, |folder, outside| {
        (0..1_000).try_for_each(|number| symlink(outside, folder.join(format!("l{number}"))))
    }),
    case("unknown-profile", "the edition is foreign", |folder, _| {
        replace(folder, "\"engine-query\"", "\"engine-none\"")
    }),
    case("hostile-profile", "the edition is foreign", |folder, _| {
        replace(folder, "\"engine-query\"", HOSTILE)
    }),
    case("long-profile", "the edition is foreign", |folder, _| {
        replace(
            folder,
            "\"engine-query\"",
            &format!("\"{}\"", "x".repeat(8 << 20)),
        )
    }),
    case("hostile-name", "the evidence says ", |folder, _| {
        replace(folder, "\"opa\"", HOSTILE)
    }),
    case("path-for-name", "the evidence says ", |folder, _| {
        replace(folder, "\"opa\"", "\"../../../outside\"")
    }),
    case("hostile-version", "the evidence says ", |folder, _| {
        replace(folder, "\"1.22.0\"", HOSTILE)
    }),
    case("hostile-rule", "", |folder, _| {
        replace(
            folder,
            "\"engine/root/post/document-is-whole-response\"",
            HOSTILE,
        )
    }),
    case(
        "hostile-address",
        "expected that of the target",
        |folder, _| {
            replace(
                folder,
                "http://127.0.0.1",
                "http://evil.example/$(touch x)`touch y`;\\u001b[8m",
            )
        },
    ),
    case(
        "foreign-address",
        "expected that of the target",
        |folder, _| replace(folder, "http://127.0.0.1", "http://169.254.169.254"),
    ),
    case("hostile-verdict", "the outcome differs", |folder, _| {
        replace(
            folder,
            "\"verdict\":\"pass\"",
            &format!("\"verdict\":{{\"not-run\":{{\"no-setup\":{HOSTILE}}}}}"),
        )
    }),
    case("run-of-another-time", "invalid time", |folder, _| {
        replace(folder, "\"2026-11-27T22:56:34Z\"", HOSTILE)
    }),
];

/// JSON string with markup, escape sequences and commands for a page, a terminal, a shell or a log.
const HOSTILE: &str = r#""\u001b[31m<script>alert(1)</script>\u202e'; rm -rf / #`touch x`\n::error::x\n[a](javascript:alert(1)) ![b](http://evil.example)""#;

/// Hostile names of submission folders.
pub(super) const PLACES: &[&[u8]] = &[
    b"a\nb: engine-query 2026.12: 35 of 35",
    b"\x1b[31mred\r",
    b"<script>alert(1)<",
    b"'\"`$(touch x)`;",
    "opa\u{202e}zg".as_bytes(),
    b"\xff\xfe",
    b"...",
    b"-",
    b"--help",
    b"::error::x",
];

pub(super) fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Replaces a file with whatever `put` creates at its path.
fn instead(
    folder: &Path,
    name: &str,
    put: impl FnOnce(PathBuf) -> io::Result<()>,
) -> io::Result<()> {
    let path = folder.join(name);
    fs::remove_file(&path)?;
    put(path)
}

fn pipe(path: impl AsRef<Path>) -> io::Result<()> {
    Ok(mknodat(CWD, path.as_ref(), FileType::Fifo, Mode::RWXU, 0)?)
}

/// Creates a device file with endless zeros.
fn zeros(path: impl AsRef<Path>) -> io::Result<()> {
    let device = makedev(1, 5);
    Ok(mknodat(
        CWD,
        path.as_ref(),
        FileType::CharacterDevice,
        Mode::RWXU,
        device,
    )?)
}

fn huge(path: impl AsRef<Path>) -> io::Result<()> {
    File::create(path)?.set_len(HUGE)
}

/// Writes evidence that contains the output of a shell command.
fn bomb(folder: &Path, source: &str) -> io::Result<()> {
    let status = Command::new("sh")
        .args(["-c", &format!("{source} | gzip -1 > \"$0\"")])
        .arg(folder.join(EVIDENCE))
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other("gzip cannot be run")),
    }
}

/// Creates nested folders, deeper than any path can name.
fn nested(folder: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = openat(CWD, folder, flags, Mode::empty())?;
    for _ in 0..DEEP {
        mkdirat(&at, "d", Mode::RWXU)?;
        at = openat(&at, "d", flags, Mode::empty())?;
    }
    Ok(())
}

fn replace(folder: &Path, from: &str, to: &str) -> io::Result<()> {
    let text = unpacked(folder)?;
    let changed = text.replace(from, to);
    if changed == text {
        return Err(io::Error::other(format!("no {from} in the evidence")));
    }
    pack(folder, changed.as_bytes())
}

/// Replaces the body of every response in the evidence.
fn answers(folder: &Path, body: &str) -> io::Result<()> {
    let mut text = String::new();
    for line in unpacked(folder)?.lines() {
        let mut event: serde_json::Value = serde_json::from_str(line)?;
        if text.len() < 40 << 20
            && let Some(answer) = event.pointer_mut("/response/body")
        {
            *answer = serde_json::json!({ "text": body });
        }
        text.push_str(&format!("{event}\n"));
    }
    pack(folder, text.as_bytes())
}

/// Turns a submission into one of another name that is still accepted, and whose responses contain
/// markup.
fn acme(folder: &Path) -> io::Result<()> {
    let header = r#""headers":[["x-own","<img src=x onerror=alert(1)>\u202e\u001b[8m"],"#;
    let mut text = String::new();
    for line in unpacked(folder)?.lines() {
        let line = line.replacen("\"name\":\"opa\"", "\"name\":\"acme\"", 1);
        // Only headers of the response: the request precedes it.
        match line.split_once("\"response\":") {
            Some((request, answer)) => {
                let answer = answer.replacen("\"headers\":[", header, 1);
                text.push_str(&format!("{request}\"response\":{answer}\n"));
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    pack(folder, text.as_bytes())?;
    let report = folder.join("report.json");
    let report_text = fs::read_to_string(&report)?;
    fs::write(
        report,
        report_text.replacen("\"name\": \"opa\"", "\"name\": \"acme\"", 1),
    )
}

/// Creates a results tree with hostile folders; returns the names that must be reported.
pub(super) fn tree(tree: &Path, good: &Path, outside: &Path) -> io::Result<Vec<String>> {
    let profile = tree.join("engine-query");
    copy(good, &profile.join("acme/1.22.0"))?;
    acme(&profile.join("acme/1.22.0"))?;
    symlink(outside, tree.join("linked-profile"))?;
    symlink(outside, profile.join("linked-name"))?;
    symlink(
        outside.join(super::GOOD),
        profile.join("acme/linked-version"),
    )?;
    symlink("acme", profile.join("same"))?;
    pipe(profile.join("pipe"))?;
    fs::write(profile.join("file"), "")?;
    for invalid_name in PLACES {
        copy(good, &profile.join(name(invalid_name)).join("1.22.0"))?;
        copy(good, &tree.join(name(invalid_name)).join("opa/1.22.0"))?;
        copy(good, &profile.join("opa").join(name(invalid_name)))?;
    }
    let closed = profile.join("closed/1.22.0");
    copy(good, &closed)?;
    for entry in fs::read_dir(&closed)? {
        fs::set_permissions(entry?.path(), Permissions::from_mode(0o000))?;
    }
    nested(&profile.join("acme"))?;
    for number in 0..200 {
        fs::create_dir_all(profile.join(format!("zz-many/{number}")))?;
    }
    let named = [
        "linked-profile",
        "linked-name",
        "linked-version",
        "same",
        "pipe",
        "file",
    ];
    let named = named.map(|name| format!("{name}: is not part of a submission"));
    let further = [" more", "closed/1.22.0: ", "acme/d: "].map(str::to_owned);
    Ok(named.into_iter().chain(further).collect())
}
