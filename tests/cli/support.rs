//! Running the binary, and documents to run it on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// The embedder of these tests.
pub(crate) const EMBEDDER: &str = "multilingual-e5-small";

/// A command of the built binary that sees no settings of the person who runs the tests.
pub(crate) fn mingti() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mingti"));
    command.env_remove("MINGTI_INDEX").env_remove("MINGTI_LOG").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Fetches the embedder once.
pub(crate) fn embedder() {
    static READY: OnceLock<()> = OnceLock::new();
    READY.get_or_init(|| {
        let run = Run::of(mingti().args(["models", "pull", EMBEDDER]));
        assert_eq!(run.status, Some(0), "the tests need the embedder: {}", run.stderr);
    });
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// `None` when a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let run = Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!run.stderr.contains("panicked"), "{command:?}: {}", run.stderr);
        run
    }

    /// Asserts the exit status and gives the run back.
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts a failure that says what is wrong: a line `error: …` that holds every word.
    pub(crate) fn fails_naming(self, words: &[&str]) -> Self {
        let run = self.ends(2);
        assert!(run.stderr.contains("error: "), "{}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "`{word}` is not named: {}", run.stderr);
        }
        run
    }

    /// Standard output as JSON Lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }

    /// Standard output as one JSON object.
    pub(crate) fn object(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{}", self.stdout);
        lines.remove(0)
    }
}

/// A folder with documents and an index.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        embedder();
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn docs(&self) -> PathBuf {
        self.path().join("docs")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.path().join("index")
    }

    /// Writes a document and gives its place.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.docs().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The binary with this index.
    pub(crate) fn mingti(&self) -> Command {
        let mut command = mingti();
        command.arg("--index").arg(self.index());
        command
    }

    /// Indexes without a language model.
    pub(crate) fn indexing(&self, paths: &[&Path]) -> Command {
        let mut command = self.mingti();
        command.args(["index", "--unit", "sentence", "--extractor", "none"]).args(paths);
        command
    }

    pub(crate) fn index_docs(&self) -> Run {
        Run::of(&mut self.indexing(&[&self.docs()]))
    }

    pub(crate) fn search(&self, args: &[&str]) -> Run {
        Run::of(self.mingti().arg("search").args(args))
    }
}

/// The smallest manual with something to find.
pub(crate) const MANUAL: &str = "# 手册\n\n## 1 冷却\n\n冷却液温度不得高于 60 ℃。每 3 个月更换一次滤芯。\n\n## 2 报警\n\n\
    ### ERR-9801 主轴过热\n\n主轴温度高于 75 ℃ 时发出 ERR-9801。请检查冷却泵。\n\n\
    ### ERR-9802 油压过低\n\n油压低于 2 MPa 时发出 ERR-9802。请补充液压油。\n";

/// A reproducible document of `sections` sections, Chinese and English in turn.
pub(crate) fn long_manual(seed: u64, sections: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let parts = ["主油泵", "蓄能器", "冷却器", "主轴", "编码器", "润滑泵"];
    let english = ["main pump", "accumulator", "cooler", "spindle", "encoder", "lubrication pump"];
    let mut text = format!("# 设备 {seed} 手册\n\n");
    for section in 1..=sections {
        let part = next(6) as usize;
        text += &format!("## {section} {}\n\n", parts[part]);
        for _ in 0..4 {
            let (a, b) = (next(90) + 10, next(5000));
            text += &match next(3) {
                0 => format!("{}的压力低于 {a} MPa 时发出报警 {b}。", parts[part]),
                1 => format!("每 {a} 小时检查一次{}，代码为 E-{b}。", parts[part]),
                _ => format!("The {} stops after {a} seconds with alarm {b}. ", english[part]),
            };
        }
        text += "\n\n";
    }
    text
}
