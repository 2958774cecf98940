//! Help is part of the interface: a change to it is seen in review.

use super::support::{Run, mingti};

/// The committed help; written anew when `UPDATE_GOLDEN` is set.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/help.txt");

const COMMANDS: [&[&str]; 20] = [
    &[],
    &["demo"],
    &["index"],
    &["search"],
    &["extract"],
    &["review"],
    &["review", "list"],
    &["review", "show"],
    &["review", "accept"],
    &["review", "edit"],
    &["review", "reject"],
    &["models"],
    &["models", "list"],
    &["models", "pull"],
    &["models", "import"],
    &["models", "verify"],
    &["eval"],
    &["eval", "extract"],
    &["status"],
    &["verify"],
];

#[test]
fn help_is_as_committed() {
    let mut all = String::new();
    for command in COMMANDS {
        let run = Run::of(mingti().args(command).arg("--help")).ends(0);
        assert!(run.stderr.is_empty());
        all += &format!("$ mingti {}\n{}\n", [command, &["--help"]].concat().join(" "), run.stdout);
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &all).unwrap();
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap().replace("\r\n", "\n");
    assert!(golden == all, "help changed; run with UPDATE_GOLDEN=1 and look at the difference:\n{all}");
}

#[test]
fn usage_errors_end_with_2_and_go_to_stderr() {
    for line in
        [vec![], vec!["fly"], vec!["search"], vec!["index"], vec!["search", "a", "--mode", "fast"], vec!["ask", "x"]]
    {
        let run = Run::of(mingti().args(&line)).ends(2);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{line:?}");
    }
}

#[test]
fn the_version_is_told() {
    let run = Run::of(mingti().arg("--version")).ends(0);
    assert_eq!(run.stdout.trim(), concat!("mingti ", env!("CARGO_PKG_VERSION")));
}
