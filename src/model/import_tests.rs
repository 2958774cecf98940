//! Importing small made-up models.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use candle_core::quantized::GgmlDType;

use super::*;
use crate::model::{GgufWriter, MetaValue, Role};

fn tiny_gguf(architecture: &str) -> Vec<u8> {
    let mut writer = GgufWriter::new();
    writer.meta("general.architecture", MetaValue::Str(architecture.into()));
    writer.meta("tokenizer.ggml.model", MetaValue::Str("gpt2".into()));
    writer.meta("tokenizer.ggml.tokens", MetaValue::StrArray(vec!["a".into(), "b".into(), "ab".into()]));
    writer.meta("tokenizer.ggml.merges", MetaValue::StrArray(vec!["a b".into()]));
    writer.tensor("x", GgmlDType::F32, &[8], vec![0; 32]).unwrap();
    let mut bytes = Vec::new();
    writer.write(&mut bytes).unwrap();
    bytes
}

struct World {
    dir: tempfile::TempDir,
    store: ModelStore,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = ModelStore::open(Some(dir.path().join("models"))).unwrap();
        Self { dir, store }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn import(&self, path: &Path, id: Option<&str>) -> Result<ModelInfo> {
        self.store.import(path, id, &|| false)
    }
}

#[test]
fn an_imported_file_is_found_by_its_id() {
    let world = World::new();
    let path = world.file("My Model (Q4).gguf", &tiny_gguf("qwen2"));
    let info = world.import(&path, None).unwrap();
    assert_eq!((info.id.as_str(), info.role, info.installed), ("my-model--q4", Role::Extractor, true));
    fs::remove_file(&path).unwrap();
    let files = world.store.find("my-model--q4", Role::Extractor).unwrap();
    assert_eq!(files.checksum, info.checksum);
    assert!(files.main.is_file() && files.is_gguf());
    assert!(world.store.list().unwrap().iter().any(|model| model.id == "my-model--q4"));
    assert!(world.store.verify(None, &|| false).unwrap().iter().all(|report| report.ok));
    let message = world.store.find("my-model--q4", Role::Embedder).unwrap_err().to_string();
    assert!(message.contains("cannot serve as embedder"), "{message}");
}

#[test]
fn a_file_can_be_used_where_it_lies() {
    let world = World::new();
    let path = world.file("m.gguf", &tiny_gguf("llama"));
    let first = world.store.find(path.to_str().unwrap(), Role::Extractor).unwrap();
    let again = world.store.find(path.to_str().unwrap(), Role::Extractor).unwrap();
    assert_eq!(first, again);
    assert_eq!(first.checksum.len(), 64);
}

#[test]
fn what_cannot_run_is_refused() {
    let world = World::new();
    let message = world.import(&world.file("m.gguf", &tiny_gguf("mamba")), None).unwrap_err().to_string();
    assert!(message.contains("unsupported model architecture") && message.contains("`mamba`"), "{message}");
    let whole = tiny_gguf("llama");
    let error = world.import(&world.file("cut.gguf", &whole[..whole.len() - 1]), None).unwrap_err();
    assert!(error.is_corrupt(), "{error}");
    assert!(world.import(&world.file("z.gguf", b"PK"), None).is_err());
    assert!(world.import(&world.dir.path().join("nothing"), None).unwrap_err().is_missing());
    fs::create_dir(world.dir.path().join("empty")).unwrap();
    assert!(world.import(&world.dir.path().join("empty"), None).is_err());
    assert!(world.store.installed_ids().unwrap().is_empty());
}

#[test]
fn an_id_is_not_taken_over_by_other_weights() {
    let world = World::new();
    let a = world.file("a.gguf", &tiny_gguf("llama"));
    let b = world.file("b.gguf", &tiny_gguf("qwen2"));
    world.import(&a, Some("mine")).unwrap();
    world.import(&a, Some("mine")).unwrap();
    let message = world.import(&b, Some("mine")).unwrap_err().to_string();
    assert!(message.contains("other weights") && message.contains("--id"), "{message}");
    let message = world.import(&b, Some("multilingual-e5-small")).unwrap_err().to_string();
    assert!(message.contains("other weights"), "{message}");
    assert!(world.import(&a, Some("../up")).is_err());
}

#[test]
fn a_missing_model_comes_with_the_way_to_get_it() {
    let world = World::new();
    let message = world.store.find("multilingual-e5-small", Role::Embedder).unwrap_err().to_string();
    assert!(message.contains("mingti models pull multilingual-e5-small"), "{message}");
    let error = world.store.find("nonesuch", Role::Embedder).unwrap_err();
    assert!(error.is_missing());
    assert!(error.to_string().contains("all-minilm-l6-v2"), "{error}");
}

#[test]
fn a_record_cannot_point_out_of_its_folder() {
    let world = World::new();
    world.import(&world.file("m.gguf", &tiny_gguf("llama")), Some("m")).unwrap();
    let record = world.store.folder("m").join("model.json");
    let text = fs::read_to_string(&record).unwrap().replace("\"name\": \"m.gguf\"", "\"name\": \"../../m.gguf\"");
    fs::write(&record, text).unwrap();
    assert!(world.store.find("m", Role::Extractor).unwrap_err().is_corrupt());
}
