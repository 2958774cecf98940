//! However an index came to hold its documents, it answers as one that was built of them at once.

use std::fs;
use std::path::Path;

use mingti::index::{GraphOptions, VECTOR_FILE, open_generation};
use mingti::ingest::{self, Interrupt};
use mingti::query::{Mode, SearchRequest, Searcher};
use mingti::store::Reader;

use crate::support::{Home, Pairs, Random, answers, folder, same};

#[test]
fn changes_one_after_the_other_give_the_answers_of_an_index_built_at_once() {
    let mut home = Home::new(12, 9);
    home.index("a", 0, GraphOptions::default());
    let mut random = Random(7);
    let mut patched = 0;
    for step in 1..=12 {
        for _ in 0..1 + random.below(2) {
            let m = random.below(home.manuals.len());
            match random.below(5) {
                0 if home.manuals[m].is_empty() => home.manuals[m] = vec![step; 5],
                0 => home.manuals[m].clear(),
                1 => home.manuals[m].push(step),
                2 => _ = home.manuals[m].pop(),
                _ => {
                    if let Some(version) = home.manuals[m].first_mut() {
                        *version = step;
                    }
                }
            }
        }
        home.index("a", 0, GraphOptions::default());
        Searcher::verify(&home.at("a")).unwrap();
        patched += usize::from(open_generation(&folder(&home.at("a"))).unwrap().vectors.is_changed());
        let fresh = format!("fresh {step}");
        home.index(&fresh, usize::MAX, GraphOptions::default());
        same(&answers(&home.at("a")), &answers(&home.at(&fresh)));
    }
    assert!(patched >= 4, "only {patched} of 12 were patched");
    let last = home.at("fresh 12");
    ingest::compact(&home.at("a"), &Pairs, &mut |_| {}, &Interrupt::new()).unwrap();
    let generation = open_generation(&folder(&home.at("a"))).unwrap();
    assert!(!generation.vectors.is_changed());
    same(&answers(&home.at("a")), &answers(&last));
    let size = |index: &Path| fs::metadata(folder(index).join(VECTOR_FILE)).unwrap().len();
    assert_eq!(size(&home.at("a")), size(&last));
    let cached = |index: &Path| Reader::open(index).unwrap().view().counts().unwrap().cached_embeddings;
    assert_eq!(cached(&home.at("a")), cached(&last), "vectors of texts that are gone are gone");
    // Nothing to do is nothing done.
    assert_eq!(ingest::compact(&home.at("a"), &Pairs, &mut |_| {}, &Interrupt::new()).unwrap().generation, None);
}

#[test]
fn one_changed_section_embeds_and_writes_only_what_changed() {
    let mut home = Home::new(20, 10);
    let built = home.index("a", 0, GraphOptions { exact_below: 0, ..GraphOptions::default() });
    let vectors = folder(&home.at("a")).join(VECTOR_FILE);
    let before = fs::read(&vectors).unwrap();
    for step in 1..=10 {
        home.manuals[step][4] = step;
        let summary = home.index("a", 0, GraphOptions::default());
        assert_eq!((summary.changed, summary.sections, summary.units), (1, 1, built.units));
        assert_eq!(summary.embedded, 2, "two of three sentences are new");
        let generation = open_generation(&folder(&home.at("a"))).unwrap();
        assert_eq!((generation.vectors.added(), generation.vectors.dead()), (2 * step, 2 * step));
        assert!(generation.vectors.has_graph());
        assert!(fs::read(folder(&home.at("a")).join(VECTOR_FILE)).unwrap() == before);
    }
    Searcher::verify(&home.at("a")).unwrap();
    // Only one generation is left.
    let kept = fs::read_dir(home.at("a"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("gen-"));
    assert_eq!(kept.count(), 1);
    // The walk passes dead vectors and meets those that came.
    let found = answers(&home.at("a"));
    home.index("fresh", usize::MAX, GraphOptions::default());
    let (mut right, mut all) = (0, 0);
    for ((_, found), (_, expected)) in found.iter().zip(answers(&home.at("fresh"))) {
        right += expected.iter().filter(|(id, _)| found.iter().any(|(other, _)| other == id)).count();
        all += expected.len();
    }
    assert!(right * 100 >= all * 97, "{right} of {all} answers");
}

#[test]
fn a_searcher_that_is_open_goes_on_answering_from_its_generation() {
    let mut home = Home::new(6, 6);
    home.index("a", 0, GraphOptions::default());
    let searcher = Searcher::open(&home.at("a"), Some(Box::new(Pairs))).unwrap();
    let ask = |searcher: &Searcher| {
        let request = SearchRequest {
            query: "主轴 温度".into(),
            sections: 5,
            top_k: 15,
            mode: Mode::Hybrid,
            path: None,
            entities: vec![],
            all_versions: false,
        };
        let results = searcher.search(&request).unwrap().results;
        results.into_iter().map(|result| (result.section.id, result.text)).collect::<Vec<_>>()
    };
    let before = ask(&searcher);
    for step in 1..=3 {
        home.manuals[step % 2] = vec![step; 6];
        home.index("a", 0, GraphOptions::default());
        assert_eq!(ask(&searcher), before);
    }
    assert_ne!(ask(&Searcher::open(&home.at("a"), Some(Box::new(Pairs))).unwrap()), before);
}
