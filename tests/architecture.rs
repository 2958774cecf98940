//! Holds the architecture: data flows one way, foreign types stay in their rooms, `unsafe` and files stay small.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A module imports only modules before it. `serve` is not there yet; `cli` belongs to the program, not to the library.
const ROOMS: [&str; 15] = [
    "error",
    "document",
    "section",
    "proposition",
    "model",
    "compute",
    "embedder",
    "extractor",
    "index",
    "store",
    "ingest",
    "query",
    "eval",
    "serve",
    "cli",
];

/// Rooms that may name candle's types.
const CANDLE: [&str; 4] = ["model", "compute", "embedder", "extractor"];

/// Files that may hold `unsafe` blocks: they map files or call a processor's instructions.
const UNSAFE: [&str; 11] = [
    "src/compute/attention.rs",
    "src/compute/attention_kernels.rs",
    "src/compute/elementwise.rs",
    "src/compute/kernel_avx2.rs",
    "src/compute/kernel_avx512.rs",
    "src/compute/kernel_neon.rs",
    "src/compute/product.rs",
    "src/compute/quantize.rs",
    "src/compute/similarity.rs",
    "src/index/reader.rs",
    "src/model/map.rs",
];

/// Lines that a source file should not pass.
const LINES: usize = 600;

struct Source {
    /// With `/`, from the crate's root.
    path: String,
    room: String,
    /// Without comments; line structure kept.
    code: String,
    lines: usize,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    files.sort();
    let sources: Vec<Source> = files.iter().map(|file| source(root, file)).collect();
    assert!(sources.len() > 20, "only {} source files found", sources.len());
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn source(root: &Path, file: &Path) -> Source {
    let relative = file.strip_prefix(root).unwrap();
    let path = relative.to_string_lossy().replace('\\', "/");
    let text = fs::read_to_string(file).unwrap();
    let room = relative.components().nth(1).unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    Source { path, room, code, lines: text.lines().count() }
}

/// First path segments after `crate::` or `mingti::`, also in `use crate::{a, b::c}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for prefix in ["crate::", "mingti::"] {
        for (at, _) in code.match_indices(prefix) {
            // `$crate::` and `othercrate::` are not ours.
            if code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
                continue;
            }
            let rest = &code[at + prefix.len()..];
            match rest.strip_prefix('{') {
                Some(group) => found.extend(heads(group)),
                None => found.extend(head(rest)),
            }
        }
    }
    found
}

fn head(path: &str) -> Option<String> {
    let name: String = path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Heads of the comma-separated paths up to the brace that closes the group.
fn heads(group: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                heads.extend(head(&group[start..at]));
                return heads;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                heads.extend(head(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    heads
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        ![before, after].into_iter().flatten().any(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn imports_flow_one_way() {
    let mut faults = Vec::new();
    for source in sources() {
        let Some(own) = ROOMS.iter().position(|room| *room == source.room) else { continue };
        for import in imports(&source.code) {
            match ROOMS.iter().position(|room| *room == import) {
                Some(other) if other > own => faults.push(format!("{} imports {import}", source.path)),
                _ => {}
            }
        }
    }
    assert!(faults.is_empty(), "a module imports only modules above it: {faults:#?}");
}

#[test]
fn every_file_belongs_to_a_room() {
    for source in sources() {
        let known = ROOMS.contains(&source.room.as_str()) || ["lib", "main"].contains(&source.room.as_str());
        assert!(known, "{} is in no room of the architecture", source.path);
    }
}

#[test]
fn foreign_types_stay_in_their_rooms() {
    let mut faults = Vec::new();
    for source in sources() {
        if ["candle_core", "candle_nn"].iter().any(|name| has_word(&source.code, name))
            && !CANDLE.contains(&source.room.as_str())
        {
            faults.push(format!("{} names candle", source.path));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn unsafe_code_stays_where_it_is_needed() {
    for source in sources().iter().filter(|source| has_word(&source.code, "unsafe")) {
        assert!(UNSAFE.contains(&source.path.as_str()), "{} holds unsafe code", source.path);
    }
}

#[test]
fn the_command_line_calls_the_public_api_only() {
    let library = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    assert!(!has_word(&library, "mod cli"), "cli is compiled into the program, where private items are out of reach");
}

#[test]
fn files_stay_readable() {
    let long: Vec<String> =
        sources().iter().filter(|s| s.lines > LINES).map(|s| format!("{}: {} lines", s.path, s.lines)).collect();
    assert!(long.is_empty(), "split by job: {long:#?}");
}

#[test]
fn no_registry_or_machine_is_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests", "models", ".ci", ".github"] {
        everything(&root.join(folder), &mut files);
    }
    files.extend(["README.md", "CHANGELOG.md", "Cargo.toml"].map(|name| root.join(name)));
    // Written apart, so that this file does not name them either.
    let banned =
        [["pypi", ".org"], ["pythonhosted", ".org"], ["hugging", "face.co"], ["/work", "/"], ["crates", ".io"]]
            .map(|parts| parts.concat());
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for word in &banned {
            assert!(!text.contains(word.as_str()), "{} names {word}", file.display());
        }
    }
}

fn everything(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() { everything(&path, files) } else { files.push(path) }
    }
}

#[test]
fn the_reader_of_imports_sees_groups_and_ignores_other_crates() {
    let code = "use crate::{a::{x, y}, b};\nuse crate::c::d;\nfn f() { crate::e::g(); $crate::h!(); thecrate::i() }\n";
    assert_eq!(imports(code).into_iter().collect::<Vec<_>>(), ["a", "b", "c", "e"]);
}
