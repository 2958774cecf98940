//! Tokenizers of real language models. The models are fetched once, the way a person does it.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use mingti::model::{GgufFile, ModelStore, Role, tokenizer};

fn open(id: &str) -> GgufFile {
    let store = ModelStore::open(std::env::var_os("MINGTI_MODELS").map(PathBuf::from)).unwrap();
    if !store.is_installed(id) {
        while let Err(e) = store.pull(id, &mut |_| {}, &|| false) {
            assert!(e.is_busy(), "{e}");
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    GgufFile::open(store.find(id, Role::Extractor).unwrap().main).unwrap()
}

fn texts() -> Vec<(String, Vec<u32>)> {
    serde_json::from_str(include_str!("golden/qwen2-tokens.json")).unwrap()
}

#[test]
fn qwen2_tokens_are_those_of_its_makers() {
    let tokenizer = tokenizer::from_gguf(&open("qwen2.5-coder-1.5b-instruct-q4_k_m")).unwrap();
    for (text, expected) in texts() {
        let encoding = tokenizer.encode(text.as_str(), false).unwrap();
        assert_eq!(encoding.get_ids(), expected, "{text:?}");
        assert_eq!(tokenizer.decode(encoding.get_ids(), false).unwrap(), text);
    }
    let marked = tokenizer.encode("<|im_start|>user\nhi<|im_end|>", true).unwrap();
    assert_eq!(marked.get_ids(), [151_644, 872, 198, 6023, 151_645]);
}

#[test]
fn smollm2_tokens_decode_to_their_text() {
    let tokenizer = tokenizer::from_gguf(&open("smollm2-135m-instruct-q4_1")).unwrap();
    for (text, _) in texts() {
        let encoding = tokenizer.encode(text.as_str(), false).unwrap();
        assert_eq!(tokenizer.decode(encoding.get_ids(), false).unwrap(), text);
    }
    let marked = tokenizer.encode("<|im_start|>user\nhi<|im_end|>", true).unwrap();
    assert_eq!(marked.get_ids(), [1, 4093, 198, 6004, 2]);
}
