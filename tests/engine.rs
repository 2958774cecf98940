//! The extraction engine on a real model: what it writes does not depend on how the work is laid out.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use mingti::extractor::{Extractor, Limits, LlamaExtractor};
use mingti::model::{ModelStore, Role};
use mingti::proposition::{Passage, Sentence, SentenceYield, sentences};

const TEXTS: [&str; 3] = [
    "KL-200 空压机每运行 500 小时必须更换一次润滑油，并清洗油过滤器。油温超过 95 ℃ 时，控制器发出 A-17 报警并停机。",
    "The cooler is mounted on the return line. It must be cleaned every 3 months, and its inlet valve must be closed first.",
    "主泵停止后，操作人员应当关闭进油阀。未经批准，任何人不得打开安全罩。",
];

fn extractor(limits: Limits) -> LlamaExtractor {
    let id = "smollm2-135m-instruct-q4_1";
    let store = ModelStore::open(std::env::var_os("MINGTI_MODELS").map(PathBuf::from)).unwrap();
    if !store.is_installed(id) {
        while let Err(e) = store.pull(id, &mut |_| {}, &|| false) {
            assert!(e.is_busy(), "{e}");
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    let files = store.find(id, Role::Extractor).unwrap();
    LlamaExtractor::load(&files.main, &files.checksum).unwrap().with_limits(limits)
}

fn yields(limits: Limits, threads: usize) -> Vec<Vec<Option<SentenceYield>>> {
    let split: Vec<Vec<Sentence>> =
        TEXTS.iter().map(|text| sentences(text, mingti::document::Format::Markdown)).collect();
    let passages: Vec<Passage<'_>> =
        TEXTS.iter().zip(&split).map(|(text, sentences)| Passage::new("手册", &[], text, sentences)).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| extractor(limits).extract(&passages, &|| false).unwrap())
}

#[test]
fn text_and_probabilities_do_not_depend_on_batch_threads_or_copying() {
    let plain = Limits { batch: 1, guesses: 0, ..Limits::default() };
    let expected = yields(plain, 1);
    let written: usize = expected.iter().flatten().flatten().map(|s| s.propositions.len()).sum();
    assert!(written >= 4, "{expected:?}");
    for (batch, guesses, threads) in [(1, 12, 2), (8, 0, 2), (32, 12, 1), (3, 60, 2)] {
        let got = yields(Limits { batch, guesses, ..plain }, threads);
        assert_eq!(got, expected, "batch {batch}, {guesses} rows of guesses, {threads} threads");
    }
}
