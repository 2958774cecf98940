//! Flag > environment > `mingti.toml` beside the index > default.

use std::path::{Path, PathBuf};

use mingti::ingest::{Effort, IndexOptions, Planner, Tier};
use mingti::model::DeviceChoice;
use serde::Deserialize;

use super::args::{Global, ModeArg, UnitArg};
use super::failure::{Failure, Outcome};
use super::split_args::SplitArg;

/// Name of the settings file; it lies in the folder that holds the index folder.
const FILE: &str = "mingti.toml";

/// Folder of the index if nothing says otherwise.
const DEFAULT_INDEX: &str = ".mingti";

/// The settings file. Every key may be missing; an unknown one is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Folder of the models, relative to the settings file.
    models: Option<PathBuf>,
    /// Where models run.
    pub(crate) device: Option<DeviceChoice>,
    /// Threads.
    pub(crate) jobs: Option<u16>,
    /// `[index]`
    #[serde(default)]
    pub(crate) index: IndexTable,
    /// `[search]`
    #[serde(default)]
    pub(crate) search: SearchTable,
    /// `[review]`
    #[serde(default)]
    pub(crate) review: ReviewTable,
    /// `[cache]`
    #[serde(default)]
    pub(crate) cache: CacheTable,
    /// `[[tier]]`: rules that choose by document; the first that holds decides.
    #[serde(default, rename = "tier")]
    pub(crate) tiers: Vec<Tier>,
}

/// What `index` (and, for the extractor, `extract`) does.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IndexTable {
    /// What is searched.
    pub(crate) unit: Option<UnitArg>,
    /// How much the language model is asked.
    pub(crate) mode: Option<Effort>,
    /// Model that writes the propositions.
    pub(crate) extractor: Option<String>,
    /// Model that turns text into vectors.
    pub(crate) embedder: Option<String>,
    /// How documents are cut.
    pub(crate) split: Option<SplitArg>,
    /// Folder of the model of the splitter.
    pub(crate) split_model: Option<PathBuf>,
}

/// What `search` does.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchTable {
    /// Sections to show.
    pub(crate) sections: Option<usize>,
    /// Propositions to consider.
    pub(crate) top_k: Option<usize>,
    /// How hits are found.
    pub(crate) mode: Option<ModeArg>,
    /// Folder of a model that reads the best sections again, or `none`.
    pub(crate) reranker: Option<String>,
    /// Whether vectors are looked at in the map or read; else the size of the index decides.
    pub(crate) map_vectors: Option<bool>,
}

/// What waits for a person.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewTable {
    /// Confidence below which a statement waits.
    pub(crate) below: Option<f32>,
}

/// What is kept beside the models.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheTable {
    /// GiB of packed weights and prompt prefixes; 0 keeps none.
    pub(crate) disk_gib: Option<u32>,
}

/// What flags, environment and file give for every command.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Folder of the index.
    pub(crate) index: PathBuf,
    /// Folder of the models; the platform's data folder if none.
    pub(crate) models: Option<PathBuf>,
    /// The settings file, or an empty one.
    pub(crate) file: File,
}

impl Settings {
    /// Reads the environment and the settings file.
    pub(crate) fn load(global: &Global) -> Outcome<Self> {
        Self::resolve(global, |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
    }

    fn resolve(global: &Global, environment: impl Fn(&str) -> Option<PathBuf>) -> Outcome<Self> {
        let index =
            global.index.clone().or_else(|| environment("MINGTI_INDEX")).unwrap_or_else(|| DEFAULT_INDEX.into());
        let path = settings_path(&index);
        let file = read(&path)?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let from_file = file.models.as_ref().map(|models| beside.join(models));
        let models = global.models.clone().or_else(|| environment("MINGTI_MODELS")).or(from_file);
        Ok(Self { index, models, file })
    }
}

fn settings_path(index: &Path) -> PathBuf {
    // `Path::parent` of `..` or `.` is lexical and would look in the wrong folder.
    match index.file_name() {
        Some(_) => index.parent().unwrap_or(Path::new("")).join(FILE),
        None => index.join("..").join(FILE),
    }
}

fn read(path: &Path) -> Outcome<File> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(File::default()),
        // The folder of the index may itself not exist yet, or be a file; opening the index says so better.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(File::default()),
        Err(error) => return Err(Failure::file("cannot read the settings", path, &error)),
    };
    let file: File = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Failure::hinted(
            format!("{}, line {line}: {}", path.display(), error.message().trim_end().replace('\n', ", ")),
            "known keys: models, device, jobs, [index] unit, mode, extractor, embedder, [search] sections, top_k, mode, [review] below, \
             [[tier]] glob, front_matter, min_chars, max_chars, unit, mode",
        )
    })?;
    let zero = [
        ("jobs", file.jobs.map(usize::from)),
        ("search.sections", file.search.sections),
        ("search.top_k", file.search.top_k),
    ];
    if let Some((key, _)) = zero.into_iter().find(|(_, value)| *value == Some(0)) {
        return Err(Failure::plain(format!("{}: `{key}`: expected a number of at least 1, found 0", path.display())));
    }
    if let Some(below) = file.review.below.filter(|below| !(0.0..=1.0).contains(below)) {
        let what = format!("{}: `review.below`: expected a number from 0 to 1, found {below}", path.display());
        return Err(Failure::plain(what));
    }
    let rules = IndexOptions { tiers: file.tiers.clone(), ..IndexOptions::new("", Vec::new()) };
    if let Err(error) = Planner::new(&rules, false) {
        return Err(Failure::plain(format!("{}: {error}", path.display())));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn settings(toml: &str, models_flag: Option<&str>, models_env: Option<&str>) -> Outcome<Settings> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), toml).unwrap();
        let global = Global { index: Some(folder.path().join("idx")), models: models_flag.map(PathBuf::from) };
        Settings::resolve(&global, |name| if name == "MINGTI_MODELS" { models_env.map(PathBuf::from) } else { None })
    }

    #[test]
    fn flag_beats_environment_beats_file() {
        let toml = "models = \"/file\"";
        assert_eq!(settings(toml, Some("/flag"), Some("/env")).unwrap().models, Some("/flag".into()));
        assert_eq!(settings(toml, None, Some("/env")).unwrap().models, Some("/env".into()));
        assert_eq!(settings(toml, None, None).unwrap().models, Some("/file".into()));
        assert_eq!(settings("", None, None).unwrap().models, None);
    }

    #[test]
    fn an_unknown_key_names_file_line_and_key() {
        let error = settings("jobs = 2\n[index]\nunits = \"sentence\"\n", None, None).unwrap_err().to_string();
        assert!(error.contains(FILE) && error.contains("line 3") && error.contains("`units`"), "{error}");
        assert!(error.contains("hint: known keys"), "{error}");
    }

    #[test]
    fn wrong_values_are_errors() {
        for toml in [
            "[search]\nmode = \"fast\"",
            "jobs = 0",
            "jobs = -1",
            "not toml",
            "[search]\ntop_k = 0",
            "[review]\nbelow = 2.0",
            "[index]\nmode = \"fast\"",
            "[[tier]]\nunit = \"fixed\"",
            "[[tier]]\nunit = \"word\"",
            "[[tier]]\nglob = \"a[\"",
            "[[tier]]\npath = \"a\"",
            "[tier]\nglob = \"a\"",
        ] {
            assert!(settings(toml, None, None).is_err(), "{toml}");
        }
    }

    #[test]
    fn tiers_are_read_in_order_and_a_faulty_one_is_named() {
        let toml = "[[tier]]\nglob = \"manual/**\"\nmode = \"cheap\"\n\n[[tier]]\nmax_chars = 900\nunit = \"section\"\n\
                    front_matter = { type = \"log\" }\n";
        let tiers = settings(toml, None, None).unwrap().file.tiers;
        assert_eq!((tiers[0].glob.as_deref(), tiers[0].mode), (Some("manual/**"), Some(Effort::Cheap)));
        assert_eq!((tiers[1].max_chars, tiers[1].unit), (Some(900), Some(mingti::proposition::UnitKind::Section)));
        assert_eq!(tiers[1].front_matter["type"], "log");
        let error = settings("[[tier]]\n[[tier]]\nglob = \"a[\"", None, None).unwrap_err().to_string();
        assert!(error.contains(FILE) && error.contains("tier 2") && error.contains("`a[`"), "{error}");
    }

    #[test]
    fn tables_are_read() {
        let file =
            settings("[index]\nunit = \"section\"\n[search]\nsections = 5\nmode = \"dense\"", None, None).unwrap().file;
        assert_eq!(file.index.unit, Some(UnitArg::Section));
        assert_eq!((file.search.sections, file.search.mode), (Some(5), Some(ModeArg::Dense)));
    }
}
