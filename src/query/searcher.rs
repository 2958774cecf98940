//! Answers questions from one generation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::fuse::{Evidence, Explanation, Ranking, Scale, explain, score};
use super::highlight::merge;
use super::order::best;
use super::phrase::share;
use super::rerank::{RERANKED, Reranker, rerank};
use super::support::Question;
use super::versions::{newest, older_versions};
use super::{
    DocumentRef, Mode, PropositionHit, QueryEmbedder, SearchRequest, SearchResponse, SectionRef, SectionResult,
};
use crate::document::{Format, PathPattern, Span};
use crate::error::{Error, Kind, Result};
use crate::index::{FieldWeights, Generation, LexicalFilter, LexicalIndex, VectorIndex, open_generation};
use crate::proposition::{EntityPlaces, UnitKind, entities, entity_key, is_contents_list};
use crate::store::{DocumentRow, Reader, SectionRow, UnitRow, generation_dir};

/// A writer can replace the generation between our reading its name and opening its files; more often than this in a
/// row it cannot.
const OPEN_ATTEMPTS: usize = 5;
/// Ranks beyond twice those that are wanted among which versions of a passage are looked for.
const VERSIONS: usize = 8;

/// One generation of an index, opened for questions. It never changes while it is held.
pub struct Searcher {
    reader: Reader,
    vectors: VectorIndex,
    lexical: LexicalIndex,
    embedder: Option<Box<dyn QueryEmbedder + Send>>,
    reranker: Option<Box<dyn Reranker + Send>>,
    ranking: Ranking,
    weights: FieldWeights,
    generation: u64,
    explains: bool,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searcher").field("dir", &self.reader.dir()).field("generation", &self.generation).finish()
    }
}

/// True when every range lies inside the section.
fn within(ranges: &[Span], section: Span) -> bool {
    ranges.iter().all(|range| !range.is_empty() && section.contains(*range))
}

/// A section that may become a result.
pub(super) struct Candidate {
    pub(super) section: i64,
    pub(super) evidence: Evidence,
    pub(super) score: f32,
    /// What the reranker says; none without one.
    pub(super) relevance: Option<f32>,
    /// Sections of older versions that it stands for.
    pub(super) older: Vec<i64>,
}

/// The units that a search is restricted to.
struct Carriers {
    units: HashSet<i64>,
    sections: Arc<HashSet<i64>>,
}

/// What one question is asked with.
struct Asked<'a> {
    request: &'a SearchRequest,
    /// The units that carry the entities asked for; none when none are.
    carriers: Option<Carriers>,
    /// True when nothing is asked: all that carry the entities are wanted.
    listing: bool,
    question: Question,
    vector: Option<Vec<f32>>,
    scale: Scale,
    /// Cosines of the dense hits, by vector number.
    hits: HashMap<u32, f32>,
}

impl Asked<'_> {
    /// True for a unit that the search is not restricted from.
    fn wants(&self, unit: i64) -> bool {
        self.carriers.as_ref().is_none_or(|carriers| carriers.units.contains(&unit))
    }
}

impl Searcher {
    /// Opens the published generation of the index in `dir`. Without an embedder only [`Mode::Lexical`] can be asked
    /// for; an embedder other than the one that filled the index is an error.
    pub fn open(dir: &Path, embedder: Option<Box<dyn QueryEmbedder + Send>>) -> Result<Self> {
        let mut attempt = 1;
        let (reader, vectors, lexical) = loop {
            let reader = Reader::open(dir)?;
            let number = reader.require_generation()?.number;
            match open_generation(&generation_dir(dir, number)) {
                Ok(Generation { vectors, lexical }) => break (reader, vectors, lexical),
                Err(error) if error.is_missing() && attempt < OPEN_ATTEMPTS => attempt += 1,
                Err(error) if error.is_missing() => {
                    return Err(Error::new(Kind::Corrupt, "the files of the index are missing")
                        .at(&generation_dir(dir, number))
                        .because(error)
                        .hint("run `mingti index` again"));
                }
                Err(error) => return Err(error),
            }
        };
        let row = reader.require_generation()?;
        let generation = row.number;
        if vectors.len() != row.vectors {
            return Err(Error::new(Kind::Corrupt, "the vector index belongs to another generation")
                .at(&generation_dir(dir, generation))
                .expected(format!("{} vectors", row.vectors))
                .found(vectors.len().to_string())
                .hint("run `mingti index` again"));
        }
        let (ranking, weights) = (Ranking::default(), FieldWeights::default());
        let searcher = Self {
            reader,
            vectors,
            lexical,
            embedder: None,
            reranker: None,
            ranking,
            weights,
            generation,
            explains: false,
        };
        match embedder {
            Some(embedder) => searcher.with_embedder(embedder),
            None => Ok(searcher),
        }
    }

    /// Takes the embedder of the index, which may be loaded while the index is opened. Another one than filled it is an error.
    pub fn with_embedder(mut self, embedder: Box<dyn QueryEmbedder + Send>) -> Result<Self> {
        let row = self.reader.require_generation()?;
        if !self.vectors.is_empty() && embedder.fingerprint() != row.embedder {
            return Err(Error::new(Kind::Usage, "the index was filled with another embedder")
                .expected(row.embedder_name.clone())
                .found(embedder.fingerprint())
                .hint("name that embedder with `--embedder`, or index again"));
        }
        self.embedder = Some(embedder);
        Ok(self)
    }

    /// Has the best sections of each question read again by a model that sees both.
    pub fn with_reranker(self, reranker: Box<dyn Reranker + Send>) -> Self {
        Self { reranker: Some(reranker), ..self }
    }

    /// Looks at vectors in the map (`true`) or reads them; else the size of the index decides. See
    /// [`VectorIndex::set_read`](crate::index::VectorIndex::set_read).
    pub fn map_vectors(mut self, is_mapped: bool) -> Self {
        self.vectors.set_read(!is_mapped);
        self
    }

    /// Ranks in another way than the default.
    pub fn with_ranking(mut self, ranking: Ranking, weights: FieldWeights) -> Self {
        (self.ranking, self.weights) = (ranking, weights);
        self
    }

    /// Says with each result how it came by its score.
    pub fn with_explanations(self) -> Self {
        Self { explains: true, ..self }
    }

    /// Number of the generation that is searched.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The sections that answer best. A question without a letter or digit finds nothing but, if entities are asked for, the
    /// units that carry them.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let started = Instant::now();
        let results = self.results(request)?;
        Ok(SearchResponse {
            version: 1,
            qid: None,
            query: request.query.clone(),
            took_ms: (started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            generation: self.generation,
            results,
        })
    }

    fn results(&self, request: &SearchRequest) -> Result<Vec<SectionResult>> {
        let documents = self.wanted_documents(request.path.as_deref())?;
        let carriers = self.carriers(&request.entities, documents.as_deref())?;
        let empty = !request.query.chars().any(char::is_alphanumeric);
        if request.sections == 0
            || documents.as_ref().is_some_and(|documents| documents.is_empty())
            || carriers.as_ref().is_some_and(|carriers| carriers.units.is_empty())
            || (empty && carriers.is_none())
        {
            return Ok(Vec::new());
        }
        let vector = match request.mode {
            Mode::Lexical => None,
            _ if empty => None,
            _ if self.vectors.is_empty() => None,
            _ => Some(self.embed(&request.query)?),
        };
        let question = Question::new(&request.query, &self.lexical)?;
        let background = vector.as_deref().and_then(|vector| self.vectors.background(vector));
        let scale = Scale {
            background: background.unwrap_or(0.0),
            lexical_weight: if question.names_code { self.ranking.lexical_for_codes } else { self.ranking.lexical },
            best_bm25: 0.0,
            full_bm25: question.full_bm25(),
        };
        let mut asked = Asked { request, carriers, listing: empty, question, vector, scale, hits: HashMap::new() };
        let candidates = match &asked.carriers {
            Some(carriers) if asked.listing => self.listed(request, carriers)?,
            _ => {
                let mut candidates = self.candidates(&mut asked, documents.as_ref())?;
                for candidate in &mut candidates {
                    candidate.score = score(&self.ranking, request.mode, &asked.scale, &candidate.evidence);
                }
                let view = self.reader.view();
                let looked_at = if request.all_versions { request.sections } else { 2 * request.sections + VERSIONS };
                let mut candidates = match &self.reranker {
                    Some(reranker) => {
                        let candidates = best(&view, candidates, looked_at.max(RERANKED))?;
                        rerank(&view, reranker.as_ref(), &request.query, candidates)?
                    }
                    None => best(&view, candidates, looked_at)?,
                };
                if request.all_versions {
                    candidates.truncate(request.sections);
                    candidates
                } else {
                    newest(&view, candidates, request.sections)?
                }
            }
        };
        let taken: HashSet<i64> = candidates.iter().map(|candidate| candidate.section).collect();
        let mut results = Vec::with_capacity(candidates.len());
        let mut ceiling = 1.0f32;
        for (at, candidate) in candidates.iter().enumerate() {
            ceiling = ceiling.min(candidate.score.clamp(0.0, 1.0));
            results.push(self.result(&asked, candidate, at + 1, ceiling, &taken)?);
        }
        Ok(results)
    }

    /// Rows of the documents that a glob leaves, or none when there is no glob.
    fn wanted_documents(&self, glob: Option<&str>) -> Result<Option<Arc<HashSet<i64>>>> {
        let Some(glob) = glob else { return Ok(None) };
        let pattern = PathPattern::new(glob)?;
        let documents = self.reader.view().documents()?;
        let wanted = documents.iter().filter(|document| pattern.matches(&document.path)).map(|document| document.row);
        Ok(Some(Arc::new(wanted.collect())))
    }

    /// The units of wanted documents that carry all of `names`, or none when no entity is asked for.
    fn carriers(&self, names: &[String], documents: Option<&HashSet<i64>>) -> Result<Option<Carriers>> {
        if names.is_empty() {
            return Ok(None);
        }
        let view = self.reader.view();
        let mut found = view.units_with_entities(names)?;
        if let Some(documents) = documents {
            let mut wanted: HashMap<i64, bool> = HashMap::new();
            for (_, section) in &found {
                if !wanted.contains_key(section) {
                    wanted.insert(*section, documents.contains(&view.section(*section)?.document));
                }
            }
            found.retain(|(_, section)| wanted[section]);
        }
        let sections = found.iter().map(|(_, section)| *section).collect();
        Ok(Some(Carriers { units: found.into_iter().map(|(unit, _)| unit).collect(), sections: Arc::new(sections) }))
    }

    /// The sections of `carriers`, best first: those with an entity in their headings, then by the number of units that carry
    /// the entities.
    fn listed(&self, request: &SearchRequest, carriers: &Carriers) -> Result<Vec<Candidate>> {
        let view = self.reader.view();
        let keys: HashSet<String> = request.entities.iter().map(|name| entity_key(name)).collect();
        let mut sections = Vec::with_capacity(carriers.sections.len());
        for &row in carriers.sections.iter() {
            let section = view.section(row)?;
            let count = view.units(row)?.iter().filter(|unit| carriers.units.contains(&unit.row)).count();
            let named = section.heading_path.iter().flat_map(|heading| entities(heading));
            let named = named.map(|name| entity_key(&name)).any(|key| keys.contains(&key));
            sections.push((named, count, view.document(section.document)?.path, section.ordinal, row));
        }
        sections.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| (&a.2, a.3).cmp(&(&b.2, b.3))));
        let most = sections.iter().map(|section| section.1).max().unwrap_or(0);
        let weight = |named: bool, count: usize| (count + if named { most } else { 0 }) as f32;
        let best = sections.first().map_or(1.0, |first| weight(first.0, first.1)).max(1.0);
        let candidates = sections.into_iter().take(request.sections).map(|(named, count, _, _, section)| Candidate {
            section,
            evidence: Evidence::default(),
            score: weight(named, count) / best,
            relevance: None,
            older: Vec::new(),
        });
        Ok(candidates.collect())
    }

    fn embed(&self, query: &str) -> Result<Vec<f32>> {
        match &self.embedder {
            Some(embedder) => embedder.embed_query(query),
            None => Err(Error::new(Kind::Usage, "this search needs an embedder")
                .hint("ask with `--mode lexical`, or fetch the embedder with `mingti models pull`")),
        }
    }

    /// Every section that one of the two indexes names, with what both know about it.
    fn candidates(&self, asked: &mut Asked<'_>, documents: Option<&Arc<HashSet<i64>>>) -> Result<Vec<Candidate>> {
        let mut found: BTreeMap<i64, Evidence> = BTreeMap::new();
        if let Some(vector) = &asked.vector {
            let vectors = &self.vectors;
            let carriers = asked.carriers.as_ref();
            let keep = |number: u32| {
                vectors.pointer(number).is_some_and(|pointer| {
                    documents.is_none_or(|wanted| wanted.contains(&pointer.document))
                        && carriers.is_none_or(|carriers| carriers.units.contains(&pointer.unit))
                })
            };
            let restricted = documents.is_some() || carriers.is_some();
            let filter: Option<&(dyn Fn(u32) -> bool + Sync)> = if restricted { Some(&keep) } else { None };
            // Asking for fewer units than sections would leave ranks empty.
            let k = asked.request.top_k.max(asked.request.sections);
            for hit in self.vectors.search(vector, k, self.ranking.ef, filter)? {
                let Some(pointer) = self.vectors.pointer(hit.number) else { continue };
                let evidence = found.entry(pointer.section).or_default();
                evidence.hits += 1;
                evidence.cosine = Some(evidence.cosine.map_or(hit.score, |cosine| cosine.max(hit.score)));
                asked.hits.insert(hit.number, hit.score);
            }
        }
        if asked.request.mode != Mode::Dense {
            let filter = match &asked.carriers {
                Some(carriers) => Some(LexicalFilter::Sections(Arc::clone(&carriers.sections))),
                None => documents.cloned().map(LexicalFilter::Documents),
            };
            let pool = self.ranking.lexical_pool.max(asked.request.sections);
            let hits = self.lexical.search(&asked.question.terms, &self.weights, pool, filter)?;
            asked.scale.best_bm25 = hits.first().map_or(0.0, |hit| hit.score);
            for hit in hits {
                found.entry(hit.section).or_default().bm25 = hit.score;
            }
        }
        let candidates = found.into_iter().map(|(section, mut evidence)| -> Result<Candidate> {
            if evidence.cosine.is_none()
                && let Some(vector) = &asked.vector
            {
                let numbers = self.vectors.section_vectors(section).into_iter();
                let wanted = numbers
                    .filter(|&number| self.vectors.pointer(number).is_some_and(|pointer| asked.wants(pointer.unit)));
                for number in wanted {
                    let cosine = self.vectors.score(vector, number)?;
                    evidence.cosine = evidence.cosine.into_iter().chain(cosine).reduce(f32::max);
                }
            }
            if !asked.question.phrases.is_empty() {
                let row = self.reader.view().section(section)?;
                let text = format!("{}\n{}", row.heading_path.join("\n"), row.text);
                evidence.phrases = share(&asked.question.phrases, &text);
            }
            Ok(Candidate { section, evidence, score: 0.0, relevance: None, older: Vec::new() })
        });
        candidates.collect()
    }

    fn result(
        &self,
        asked: &Asked<'_>,
        candidate: &Candidate,
        rank: usize,
        score: f32,
        taken: &HashSet<i64>,
    ) -> Result<SectionResult> {
        let view = self.reader.view();
        let section = view.section(candidate.section)?;
        let document = view.document(section.document)?;
        view.check_section(&document.path, &section)?;
        let format = if document.format == "markdown" { Format::Markdown } else { Format::PlainText };
        let page = document.page_of(section.span.start)?;
        let propositions = self.propositions(asked, candidate, &section)?;
        let (text, text_range) = self.expanded(&document.path, &section, taken)?;
        let mut highlights = Vec::new();
        let best = propositions.first().map_or(0.0, |(_, score)| *score);
        for (unit, _) in propositions.iter().filter(|(_, score)| *score >= self.ranking.highlight * best) {
            match unit.unit.kind {
                UnitKind::Proposition => highlights.extend(&unit.unit.evidence),
                UnitKind::Sentence if !is_contents_list(&unit.unit.statement) => highlights.extend(&unit.unit.evidence),
                // The whole window is not what a reader looks for.
                _ => highlights.extend(asked.question.best_sentences(&section.text, section.span.start, format)),
            }
        }
        let places = EntityPlaces::new(&section.text, section.span.start);
        if let Some((unit, _)) = propositions.iter().find(|(u, _)| !within(&u.unit.evidence, section.span)) {
            return Err(Error::new(
                Kind::Corrupt,
                format!("the evidence of unit {} lies outside its section", unit.id),
            )
            .place(&document.path)
            .hint("`mingti index` the document again"));
        }
        let highlights = merge(highlights, text_range);
        let shown = document.page_of(highlights.first().map_or(text_range.start, |first| first.start))?;
        Ok(SectionResult {
            rank,
            score,
            page: shown,
            document: DocumentRef { id: document.id, path: document.path, title: document.title },
            highlights,
            older_versions: older_versions(&view, &candidate.older)?,
            explanation: (self.explains && !asked.listing).then(|| Explanation {
                relevance: candidate.relevance,
                ..explain(&self.ranking, asked.request.mode, &asked.scale, &candidate.evidence)
            }),
            text,
            text_range,
            propositions: propositions
                .into_iter()
                .map(|(row, score)| PropositionHit {
                    id: row.id,
                    statement: row.unit.statement,
                    score,
                    unit: row.unit.kind,
                    confidence: row.unit.confidence,
                    entity_ranges: places.of(&row.unit.entities, &row.unit.evidence, &row.unit.antecedents),
                    evidence: row.unit.evidence,
                    entities: row.unit.entities,
                })
                .collect(),
            section: SectionRef { id: section.id, heading_path: section.heading_path, char_range: section.span, page },
        })
    }

    /// The units that speak for a section, best first: those among the dense hits, or, for a section that came by its
    /// terms alone, the ones that share most with the question.
    fn propositions(
        &self,
        asked: &Asked<'_>,
        candidate: &Candidate,
        section: &SectionRow,
    ) -> Result<Vec<(UnitRow, f32)>> {
        let mut units = self.reader.view().units(section.row)?;
        units.retain(|unit| unit.unit.is_searchable() && asked.wants(unit.row));
        if asked.listing {
            units.sort_by(|a, b| b.unit.confidence.total_cmp(&a.unit.confidence).then(a.ordinal.cmp(&b.ordinal)));
            units.truncate(self.ranking.propositions.max(asked.request.top_k));
            return Ok(units
                .into_iter()
                .map(|unit| {
                    let confidence = unit.unit.confidence;
                    (unit, confidence)
                })
                .collect());
        }
        let numbers = self.vectors.section_vectors(candidate.section);
        let mut cosines: HashMap<i64, (u32, f32)> = HashMap::new();
        for number in numbers {
            if let Some(vector) = &asked.vector
                && let Some(pointer) = self.vectors.pointer(number)
                && let Some(cosine) = self.vectors.score(vector, number)?
            {
                cosines.insert(pointer.unit, (number, cosine));
            }
        }
        let mut scored: Vec<(UnitRow, f32, bool)> = units
            .into_iter()
            .map(|unit| {
                let (hit, dense) = cosines
                    .get(&unit.row)
                    .map_or((false, None), |&(number, cosine)| (asked.hits.contains_key(&number), Some(cosine)));
                let overlap = asked.question.overlap(&unit.unit.statement);
                let score = match (asked.request.mode, dense) {
                    (Mode::Lexical, _) | (_, None) => overlap,
                    (Mode::Dense, Some(cosine)) => asked.scale.dense(cosine),
                    (Mode::Hybrid, Some(cosine)) => {
                        let lexical = asked.scale.lexical_weight;
                        (1.0 - lexical) * asked.scale.dense(cosine) + lexical * overlap
                    }
                };
                (unit, score.clamp(0.0, 1.0), hit)
            })
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.ordinal.cmp(&b.0.ordinal)));
        let best = scored.first().map_or(0.0, |scored| scored.1);
        let kept = scored
            .into_iter()
            .enumerate()
            .filter(|(at, (_, score, hit))| *at == 0 || *hit || *score >= 0.9 * best && best > 0.0 && *at < 2)
            .take(self.ranking.propositions)
            .map(|(_, (unit, score, _))| (unit, score));
        Ok(kept.collect())
    }

    /// The text to show. A very short section takes in its neighbours under the same headings, unless they are results
    /// themselves.
    fn expanded(&self, path: &str, section: &SectionRow, taken: &HashSet<i64>) -> Result<(String, Span)> {
        let (mut text, mut range) = (section.text.clone(), section.span);
        let view = self.reader.view();
        let fits = |found: &Option<SectionRow>| {
            found
                .as_ref()
                .is_some_and(|other| other.heading_path == section.heading_path && !taken.contains(&other.row))
        };
        if range.len() < self.ranking.expand_below {
            let next = view.section_at(section.document, section.ordinal + 1)?;
            if fits(&next)
                && let Some(next) = next
            {
                view.check_section(path, &next)?;
                text.push_str(&next.text);
                range = Span::new(range.start, next.span.end);
            }
        }
        if range.len() < self.ranking.expand_below && section.ordinal > 0 {
            let before = view.section_at(section.document, section.ordinal - 1)?;
            if fits(&before)
                && let Some(before) = before
            {
                view.check_section(path, &before)?;
                text.insert_str(0, &before.text);
                range = Span::new(before.span.start, range.end);
            }
        }
        Ok((text, range))
    }

    /// Checks the whole generation: every byte of its files, every link, and that every vector and every lexical
    /// section points to a row that belongs to it. Returns the first fault.
    pub fn verify(dir: &Path) -> Result<()> {
        let reader = Reader::open(dir)?;
        let generation = reader.require_generation()?.number;
        reader.integrity()?;
        let folder = generation_dir(dir, generation);
        crate::index::verify_generation(&folder)?;
        let Generation { vectors, lexical } = open_generation(&folder)?;
        let mut number = 0usize;
        let corrupt = |what: String| Error::new(Kind::Corrupt, what).at(&folder).hint("run `mingti index` again");
        let mut sections = 0usize;
        let documents: HashMap<i64, DocumentRow> =
            reader.view().documents()?.into_iter().map(|document| (document.row, document)).collect();
        reader.view().for_each_section(|document, section| {
            let known = documents.contains_key(&document.row) && section.document == document.row;
            let at = vectors.section_vectors(section.row);
            sections += 1;
            if !known {
                return Err(corrupt(format!("section {} belongs to no document", section.id)));
            }
            reader.view().check_section(&document.path, section)?;
            let units = reader.view().units(section.row)?;
            let mut expected = units.iter().filter(|unit| unit.unit.is_searchable());
            for vector in at {
                let pointer = vectors.pointer(vector);
                let fits = expected.next().is_some_and(|unit| {
                    pointer.is_some_and(|pointer| {
                        (pointer.unit, pointer.section, pointer.document) == (unit.row, section.row, document.row)
                    })
                });
                if !fits {
                    return Err(corrupt(format!("vector {vector} does not belong to section {}", section.id)));
                }
                number += 1;
            }
            match expected.next() {
                None => Ok(()),
                Some(unit) => Err(corrupt(format!("unit {} has no vector", unit.id))),
            }
        })?;
        if number != vectors.len() || sections != lexical.len() {
            return Err(corrupt(format!(
                "{} vectors for {number} units and {} lexical entries for {sections} sections",
                vectors.len(),
                lexical.len()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
