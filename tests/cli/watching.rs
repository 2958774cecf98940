//! `index --watch` follows a folder while others search.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::support::{Home, Run};

#[test]
fn a_file_that_changes_is_found_by_another_process_until_the_watch_is_stopped() {
    let home = Home::new();
    let docs = home.path().join("docs");
    std::fs::create_dir_all(&docs).unwrap();
    std::fs::write(docs.join("a.md"), "# 手册\n\n主油泵的压力为 25 MPa。\n").unwrap();
    let mut command = home.mingti();
    command.args(["index", "--watch", "--unit", "sentence", "--extractor", "none"]).arg(&docs);
    let mut watch = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let found = |query: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            let mut search = home.mingti();
            search.args(["search", "--mode", "lexical", "--json", query]);
            let run = Run::of(&mut search);
            if run.status == Some(0) && run.object()["results"][0]["text"].as_str().unwrap().contains(query) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        false
    };
    let first = found("主油泵的压力");
    std::fs::write(docs.join("b.md"), "# 附录\n\n滤芯每月更换一次。\n").unwrap();
    let second = found("滤芯每月更换");
    let alive = watch.try_wait().unwrap().is_none();
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(first && second && alive, "{first} {second} {alive}");
}
