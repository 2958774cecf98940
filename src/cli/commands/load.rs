//! Finding and loading what a command needs: the models by flag or setting, the index with the embedder it was built with.

use std::path::Path;
use std::sync::Arc;

use mingti::embedder::{Classifier, Embedder, Precision};
use mingti::extractor::LlamaExtractor;
use mingti::model::{DeviceChoice, DiskCache, Manifest, ModelStore, Role};
use mingti::proposition::UnitKind;
use mingti::query::{Mode, Searcher};
use mingti::section::{SplitKind, Splitting};
use mingti::store::Reader;

use crate::cli::args::UnitArg;
use crate::cli::failure::{Failure, Outcome};
use crate::cli::settings::Settings;
use crate::cli::split_args::SplitArgs;

/// The name that stands for no language model.
pub(crate) const NO_EXTRACTOR: &str = "none";

/// Loads models for one command.
pub(crate) struct Loader<'s> {
    settings: &'s Settings,
    device: DeviceChoice,
    /// The folder of models.
    pub(crate) store: ModelStore,
}

impl<'s> Loader<'s> {
    /// Opens the folder of models and sets the number of threads.
    pub(crate) fn new(settings: &'s Settings, device: Option<DeviceChoice>, jobs: Option<u16>) -> Outcome<Self> {
        if let Some(jobs) = jobs.or(settings.file.jobs) {
            // Fails only when the pool is there already, which is no reason not to work.
            rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global().ok();
        }
        let device = device.or(settings.file.device).unwrap_or_default();
        Ok(Self { settings, device, store: ModelStore::open(settings.models.clone())? })
    }

    /// The model that writes propositions; `None` when the choice is `none`.
    pub(crate) fn extractor(&self, choice: Option<&str>) -> Outcome<Option<LlamaExtractor>> {
        let choice = match choice {
            Some(NO_EXTRACTOR) => return Ok(None),
            Some(address) if address.starts_with("http://") || address.starts_with("https://") => {
                return Err(Failure::hinted(
                    format!("--extractor {address}: this version does not ask models over the network"),
                    "name a model of `mingti models list`, a GGUF file, or `none`",
                ));
            }
            Some(choice) => choice,
            None => &Manifest::builtin()?.defaults.extractor,
        };
        let files = self.store.find(choice, Role::Extractor)?;
        let cache = disk_cache(self.settings, &self.store);
        Ok(Some(LlamaExtractor::load_on(&files.main, &files.checksum, self.device, cache)?))
    }

    /// The splitter that flags and settings name, with its model.
    pub(crate) fn splitting(&self, args: &SplitArgs, overlap: usize, embedder: Option<&str>) -> Outcome<Splitting> {
        let table = &self.settings.file.index;
        let options = args.options(table.split, overlap);
        let folder = args.split_model.as_ref().or(table.split_model.as_ref());
        if options.kind == SplitKind::Semantic {
            let embedder = self.embedder(embedder.or(table.embedder.as_deref()))?;
            let model = embedder.fingerprint().to_owned();
            return Ok(Splitting::semantic(options, Arc::new(embedder), model));
        }
        match folder.filter(|_| options.kind.needs_model()) {
            Some(folder) => {
                let model = Classifier::load(folder, Precision::Full)?;
                Ok(Splitting::by_model(options, Arc::new(model), Classifier::fingerprint(folder)?))
            }
            None => Ok(Splitting::new(options)?),
        }
    }

    /// The model that turns text into vectors.
    pub(crate) fn embedder(&self, choice: Option<&str>) -> mingti::Result<Embedder> {
        let choice = match choice {
            Some(choice) => choice,
            None => &Manifest::builtin()?.defaults.embedder,
        };
        // A path is kept whole with the index: a search may start in another folder.
        let whole = match Path::new(choice).canonicalize() {
            Ok(path) if !self.store.is_installed(choice) => path.to_string_lossy().into_owned(),
            _ => choice.to_owned(),
        };
        let cache = disk_cache(self.settings, &self.store);
        Embedder::load_on(&self.store.find(&whole, Role::Embedder)?, self.device, Some(&cache))
    }

    /// The index of the settings, ready to search, with the embedder that it was built with.
    pub(crate) fn searcher(&self, mode: Mode) -> Outcome<Searcher> {
        let index = &self.settings.index;
        if mode == Mode::Lexical {
            return Ok(Searcher::open(index, None)?);
        }
        let reader = Reader::open(index)?;
        let name = reader.require_generation()?.embedder_name.clone();
        drop(reader);
        // A question waits for both.
        let (opened, embedder) = std::thread::scope(|scope| {
            let opening = scope.spawn(|| Searcher::open(index, None));
            let embedder = self.embedder(Some(&name));
            (opening.join(), embedder)
        });
        let opened = opened.map_err(|_| Failure::plain("the index could not be opened"))??;
        let opened = opened.with_embedder(Box::new(embedder?))?;
        Ok(match self.settings.file.search.map_vectors {
            Some(is_mapped) => opened.map_vectors(is_mapped),
            None => opened,
        })
    }
}

/// Where packed weights and prompt prefixes are kept.
pub(crate) fn disk_cache(settings: &Settings, store: &ModelStore) -> DiskCache {
    let limit = settings.file.cache.disk_gib.map_or(DiskCache::DEFAULT_LIMIT, |gib| u64::from(gib) << 30);
    DiskCache { folder: store.caches(), limit }
}

/// The index in `folder`, searched with `embedder`.
pub(crate) fn searcher(folder: &Path, embedder: Embedder) -> Outcome<Searcher> {
    Ok(Searcher::open(folder, Some(Box::new(embedder)))?)
}

/// The library's word for what is searched.
pub(crate) fn unit_kind(unit: UnitArg) -> UnitKind {
    match unit {
        UnitArg::Proposition => UnitKind::Proposition,
        UnitArg::Sentence => UnitKind::Sentence,
        UnitArg::Section => UnitKind::Section,
        UnitArg::Fixed => UnitKind::Fixed,
    }
}
