//! Holds every dependency to licences that a product under Apache-2.0 OR MIT may carry.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use serde_json::Value;

/// Permissive licences, as SPDX names them.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Single crates under a weaker form of copyleft: used unchanged, so their terms ask only to name them.
const NAMED: [(&str, &str); 1] = [("option-ext", "MPL-2.0")];

#[test]
fn every_dependency_has_an_allowed_licence() {
    // Without `--offline`: a crate that only other targets need may not have been fetched yet.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", &host()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let faults: Vec<String> = packages.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn fault(package: &Value) -> Option<String> {
    let name = package["name"].as_str().unwrap();
    let Some(licence) = package["license"].as_str() else { return Some(format!("{name}: no licence")) };
    (!(NAMED.contains(&(name, licence)) || holds(licence))).then(|| format!("{name}: {licence}"))
}

/// Evaluates an SPDX expression: `OR` is a choice, `AND` asks for both. The old `/` means `OR`.
fn holds(expression: &str) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    let holds = choice(&words, &mut at);
    assert_eq!(at, words.len(), "not an SPDX expression: {expression}");
    holds
}

fn choice(words: &[&str], at: &mut usize) -> bool {
    let mut holds = both(words, at);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        holds |= both(words, at);
    }
    holds
}

fn both(words: &[&str], at: &mut usize) -> bool {
    let mut holds = one(words, at);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        holds &= one(words, at);
    }
    holds
}

fn one(words: &[&str], at: &mut usize) -> bool {
    let first = words[*at];
    *at += 1;
    if first == "(" {
        let holds = choice(words, at);
        assert_eq!(words.get(*at), Some(&")"));
        *at += 1;
        return holds;
    }
    let mut licence = first.to_owned();
    if words.get(*at) == Some(&"WITH") {
        licence = format!("{first} WITH {}", words[*at + 1]);
        *at += 2;
    }
    ALLOWED.contains(&licence.as_str())
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    assert!(holds("MIT OR GPL-3.0") && holds("MIT/GPL-3.0") && holds("(GPL-3.0 OR MIT) AND Zlib"));
    assert!(!holds("MIT AND GPL-3.0") && !holds("GPL-3.0-only") && !holds("(MIT AND GPL-3.0) OR LGPL-2.1"));
    assert!(holds("Apache-2.0 WITH LLVM-exception") && !holds("Apache-2.0 WITH Other-exception"));
}
