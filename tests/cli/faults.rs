//! What goes wrong on real machines: each gives a clear error or the right result, and the other files are indexed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{EMBEDDER, Home, MANUAL, Run};

fn documents(home: &Home) -> u64 {
    Run::of(home.mingti().args(["status", "--json"])).ends(0).object()["documents"].as_u64().unwrap()
}

/// The files of an index, largest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort_by_key(|file| std::cmp::Reverse(fs::metadata(file).unwrap().len()));
    files
}

#[test]
fn odd_files_do_not_stop_the_others() {
    let home = Home::new();
    home.write("good.md", MANUAL);
    home.write("empty.md", "");
    home.write("headings.md", "# 甲\n\n## 乙\n\n## 丙\n");
    home.write("picture.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06\0\0\0");
    home.write("中文 目录/文件 一.md", "# 润滑\n\n每 8 小时加注润滑脂 20 g。\n");
    let run = home.index_docs().fails_naming(&["picture.md"]);
    assert!(!run.stderr.contains("good.md:"), "{}", run.stderr);
    assert_eq!(documents(&home), 4);
    let found = home.search(&["多久加注润滑脂", "--json"]).ends(0).object();
    assert_eq!(found["results"][0]["document"]["path"], "中文 目录/文件 一.md");
    // Headings without body are still found.
    let found = home.search(&["丙", "--mode", "lexical", "--path", "headings.md", "--json"]).ends(0).object();
    assert!(found["results"][0]["text"].as_str().unwrap().contains('丙'));
}

#[test]
fn a_missing_path_is_named_and_the_others_are_indexed() {
    let home = Home::new();
    let good = home.write("good.md", MANUAL);
    Run::of(&mut home.indexing(&[&good, Path::new("no/such/file.md")])).fails_naming(&["no/such/file.md"]);
    home.search(&["冷却"]).ends(0);
}

#[test]
fn a_missing_index_says_how_to_make_one() {
    let home = Home::new();
    for command in [vec!["search", "x"], vec!["status"], vec!["verify"]] {
        let run = Run::of(home.mingti().args(&command)).fails_naming(&["hint"]);
        assert!(run.stdout.is_empty());
    }
    assert!(!home.index().exists(), "reading makes no index");
}

#[test]
fn an_index_folder_with_chinese_characters_and_spaces_works() {
    let home = Home::new();
    let file = home.write("a.md", MANUAL);
    let index = home.path().join("索引 一");
    let run = |args: &[&str]| Run::of(super::support::mingti().arg("--index").arg(&index).args(args)).ends(0);
    run(&["index", "--unit", "sentence", "--extractor", "none", file.to_str().unwrap()]);
    assert!(run(&["search", "ERR-9801"]).stdout.contains("ERR-9801"));
}

#[test]
fn wrong_and_truncated_models_are_told_apart() {
    let home = Home::new();
    let file = home.write("a.md", MANUAL);
    let text = home.write("model.gguf", "this is no model");
    let mut command = home.indexing(&[&file]);
    Run::of(command.arg("--embedder").arg(&text)).fails_naming(&["model.gguf", "GGUF"]);
    let listed = Run::of(home.mingti().args(["models", "list", "--json"])).ends(0).lines();
    let embedder = listed.iter().find(|model| model["id"] == EMBEDDER).unwrap();
    let folder = PathBuf::from(embedder["path"].as_str().unwrap());
    let whole = if folder.is_dir() {
        files(&folder).into_iter().find(|path| path.extension().is_some_and(|e| e == "gguf")).unwrap()
    } else {
        folder
    };
    let bytes = fs::read(whole).unwrap();
    for length in [bytes.len() - 1, bytes.len() / 2, 100, 4, 0] {
        let cut = home.write("cut.gguf", &bytes[..length]);
        Run::of(home.indexing(&[&file]).arg("--embedder").arg(&cut)).fails_naming(&["cut.gguf"]);
        Run::of(home.mingti().args(["models", "import"]).arg(&cut).arg("--models").arg(home.path().join("m")))
            .fails_naming(&["cut.gguf"]);
    }
    Run::of(home.indexing(&[&file]).args(["--embedder", "no-such-model"])).fails_naming(&["no-such-model", "expected"]);
}

#[test]
fn a_truncated_index_is_told_or_harmless() {
    let home = Home::new();
    home.write("a.md", MANUAL);
    home.index_docs().ends(0);
    let right = home.search(&["ERR-9802", "--json"]).ends(0).object();
    for file in files(&home.index()) {
        let whole = fs::read(&file).unwrap();
        for length in [whole.len() / 2, 0] {
            fs::write(&file, &whole[..length]).unwrap();
            let run = home.search(&["ERR-9802", "--json"]);
            match run.status {
                Some(0) => assert_eq!(run.object()["results"], right["results"], "{} cut to {length}", file.display()),
                _ => drop(run.fails_naming(&[])),
            }
            let verify = Run::of(home.mingti().arg("verify"));
            assert!([Some(0), Some(2)].contains(&verify.status), "{verify:?}");
            fs::write(&file, &whole).unwrap();
        }
    }
    home.search(&["ERR-9802"]).ends(0);
}

#[test]
fn a_damaged_vector_file_is_found_by_verify() {
    let home = Home::new();
    home.write("a.md", MANUAL);
    home.index_docs().ends(0);
    Run::of(home.mingti().arg("verify")).ends(0);
    let vectors = files(&home.index())
        .into_iter()
        .find(|file| file.parent().unwrap().file_name().unwrap().to_string_lossy().starts_with("gen-"))
        .unwrap();
    let mut bytes = fs::read(&vectors).unwrap();
    let at = bytes.len() - 200;
    bytes[at] ^= 0x10;
    fs::write(&vectors, bytes).unwrap();
    Run::of(home.mingti().arg("verify")).fails_naming(&[vectors.file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn an_index_of_a_newer_version_is_refused() {
    let home = Home::new();
    home.write("a.md", MANUAL);
    home.index_docs().ends(0);
    let database = home.index().join(mingti::store::DATABASE_FILE);
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.pragma_update(None, "user_version", 9_999).unwrap();
    drop(connection);
    home.search(&["冷却"]).fails_naming(&["newer"]);
    home.index_docs().fails_naming(&["newer"]);
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_named_and_the_others_are_indexed() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("good.md", MANUAL);
    let locked = home.write("locked/a.md", MANUAL).parent().unwrap().to_owned();
    let mode = |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    // The superuser reads everything unless those two rights are taken from it.
    let guard: &[&str] = if fs::read_dir(&locked).is_ok() {
        &["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    } else {
        &["env"]
    };
    let refused = Command::new(guard[0]).args(&guard[1..]).arg("ls").arg(&locked).output();
    if refused.is_ok_and(|output| !output.status.success()) {
        let plain = home.indexing(&[&home.docs()]);
        let mut command = Command::new(guard[0]);
        command.args(&guard[1..]).arg(plain.get_program()).args(plain.get_args()).env("NO_COLOR", "1");
        let run = Run::of(&mut command);
        mode(0o700);
        run.fails_naming(&["locked"]);
        assert_eq!(documents(&home), 1);
    } else {
        mode(0o700);
        eprintln!("NOT TESTED: an unreadable folder; this user reads everything and `setpriv` is not there");
    }
}

/// A disk that is full: a small file system in memory where one may be mounted, and a limit on the size of files.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_costs_nothing_that_was_there() {
    let home = Home::new();
    let small = home.write("a.md", MANUAL);
    home.index_docs().ends(0);
    for number in 0..6 {
        home.write(&format!("big-{number}.md"), super::support::long_manual(number, 60));
    }
    // A file larger than the limit fails with EFBIG, once the signal that comes with it is ignored.
    let plain = home.indexing(&[&home.docs()]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 400; exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(plain.get_args());
    Run::of(limited.env("NO_COLOR", "1")).fails_naming(&[]);
    home.search(&["ERR-9802"]).ends(0);
    home.index_docs().ends(0);
    assert_eq!(documents(&home), 7);

    let disk = home.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "mingti-test"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT TESTED: a full file system; this user may not mount one (the limit on file size was tested)");
        return;
    }
    let on_disk = |paths: &[&Path]| {
        let mut command = super::support::mingti();
        command
            .arg("--index")
            .arg(disk.join("index"))
            .args(["index", "--unit", "sentence", "--extractor", "none"])
            .args(paths);
        Run::of(&mut command)
    };
    let first = on_disk(&[&small]);
    let second = on_disk(&[&home.docs()]);
    let search = Run::of(super::support::mingti().arg("--index").arg(disk.join("index")).args(["search", "ERR-9802"]));
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    first.ends(0);
    second.fails_naming(&["hint"]);
    search.ends(0);
}
