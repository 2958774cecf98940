//! Heads against the outputs of the reference implementation; see `tests/data/heads/make_heads.py`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use super::*;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/heads").join(name)
}

fn golden(name: &str) -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(folder(name).join("golden.json")).unwrap()).unwrap()
}

fn close(found: &[f32], expected: &Value, what: &Value) {
    let expected: Vec<f32> = serde_json::from_value(expected.clone()).unwrap();
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-4, "{found:?}, expected {expected:?} for {what}");
    }
}

#[test]
fn heads_for_pairs_agree_with_the_reference() {
    for name in ["nsp", "cross_segment", "rerank"] {
        let model = Classifier::load(&folder(name), Precision::Full).unwrap();
        for case in golden(name) {
            let ids: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
            let text = |side: &str| model.tokens(case[side].as_str().unwrap()).unwrap();
            let (left, right) = (text("left"), text("right"));
            let (left, right) = if case["truncated"] == true {
                // The reference cut the longer text; its tokens say where.
                let between = &model.marks.between;
                let at = ids.windows(between.len()).position(|window| window == between).unwrap();
                (ids[1..at].to_vec(), ids[at + between.len()..ids.len() - 1].to_vec())
            } else {
                (left, right)
            };
            let whole = [&model.marks.first, &left, &model.marks.between, &right, &model.marks.last].map(Vec::as_slice);
            assert_eq!(whole.concat(), ids, "{case}");
            let logits = model.pair_logits(&[Pair { left: &left, right: &right }]).unwrap();
            close(&logits[0], &case["logits"], &case);
        }
    }
}

#[test]
fn pairs_of_different_lengths_in_one_batch_score_as_alone() {
    let model = Classifier::load(&folder("rerank"), Precision::Full).unwrap();
    let passages = ["检查冷却水温度。", "The pump is stopping.", "a", ""];
    let together = model.relevance("主轴停机。", &passages).unwrap();
    for (passage, score) in passages.iter().zip(together) {
        let alone = model.relevance("主轴停机。", &[passage]).unwrap()[0];
        assert!((alone - score).abs() < 1e-5 && (0.0..=1.0).contains(&score));
    }
}

#[test]
fn labels_of_sentences_agree_with_the_reference() {
    let model = Classifier::load(&folder("document_segmentation"), Precision::Full).unwrap();
    for case in golden("document_segmentation") {
        let sentences: Vec<String> = serde_json::from_value(case["sentences"].clone()).unwrap();
        let tokens: Vec<Vec<u32>> = sentences.iter().map(|sentence| model.tokens(sentence).unwrap()).collect();
        let ids: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
        let end = model.sentence_end.unwrap();
        let count = ids.iter().filter(|id| **id == end).count();
        let used: usize = 1 + tokens[..count].iter().map(|t| t.len() + 1).sum::<usize>();
        let window = Window { sentences: tokens[..count].iter().map(Vec::as_slice).collect(), rest: &ids[used..] };
        let logits = model.sentence_logits(&window).unwrap();
        let ends: Vec<usize> = serde_json::from_value(case["ends"].clone()).unwrap();
        assert_eq!(logits.len(), ends.len(), "{case}");
        for (found, end) in logits.iter().zip(ends) {
            close(found, &case["logits"][end], &case);
        }
    }
}

#[test]
fn eight_bits_come_close_and_wrong_questions_are_errors() {
    let full = Classifier::load(&folder("rerank"), Precision::Full).unwrap();
    let eight = Classifier::load(&folder("rerank"), Precision::Eight).unwrap();
    let passages = ["检查冷却水温度。", "The pump is stopping."];
    let [a, b] = [&full, &eight].map(|model| model.relevance("the belt is not checked", &passages).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 0.1), "{a:?} {b:?}");
    let error = full.window(&Window { sentences: vec![], rest: &[] }).unwrap_err().to_string();
    assert!(error.contains("sequences of sentences") && error.contains("hint:"), "{error}");
    let sequence = Classifier::load(&folder("document_segmentation"), Precision::Full).unwrap();
    assert!(sequence.pairs(&[Pair { left: &[1], right: &[2] }]).is_err());
    let long = vec![5; 100];
    assert!(full.pair_logits(&[Pair { left: &long, right: &long }]).unwrap_err().to_string().contains("at most"));
    assert!(Classifier::load(&folder("none"), Precision::Full).unwrap_err().to_string().contains("none"));
}

#[test]
fn a_model_is_known_by_its_files_wherever_they_are() {
    let from = &folder("nsp");
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.path().join(path.file_name().unwrap())).unwrap();
    }
    assert_eq!(Classifier::fingerprint(from).unwrap(), Classifier::fingerprint(to.path()).unwrap());
    let weights = to.path().join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&weights, bytes).unwrap();
    assert_ne!(Classifier::fingerprint(from).unwrap(), Classifier::fingerprint(to.path()).unwrap());
}
