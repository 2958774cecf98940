//! The prompt, as three pieces that lie on top of each other: instructions with worked examples (once a run and
//! language), title, headings and text (once a section), one sentence (once a branch).

use std::sync::LazyLock;

use serde::Deserialize;

use crate::proposition::Passage;

/// The texts of one language, from its file in `prompts/`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prompt {
    /// Raised with every change of the file.
    version: u32,
    instructions: String,
    labels: Labels,
    #[serde(rename = "example")]
    examples: Vec<Example>,
}

/// What stands in front of the parts of a section and of a sentence.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labels {
    title: String,
    section: String,
    names: String,
    between_names: String,
    before: String,
    text: String,
    sentence: String,
}

/// A section whose sentences are rewritten to show how.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    title: String,
    headings: Vec<String>,
    text: String,
    #[serde(rename = "sentence")]
    sentences: Vec<Answered>,
}

/// A sentence of an example and the array it becomes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    text: String,
    answer: String,
}

static CHINESE: LazyLock<Prompt> = LazyLock::new(|| parse(include_str!("prompts/zh.toml")));
static ENGLISH: LazyLock<Prompt> = LazyLock::new(|| parse(include_str!("prompts/en.toml")));

/// The files are part of the program; a test reads them.
fn parse(file: &str) -> Prompt {
    toml::from_str(file).unwrap_or_default()
}

/// Versions of the prompts, for the key of the extraction cache.
pub(super) fn version() -> String {
    let (zh, en) = (CHINESE.version, ENGLISH.version);
    if zh == en { zh.to_string() } else { format!("{zh}.{en}") }
}

/// Language of the instructions and examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Language {
    Chinese,
    English,
}

impl Language {
    /// Chinese where Chinese characters carry the text: one says about as much as half a Latin word.
    pub(super) fn of(text: &str) -> Self {
        let (mut han, mut latin) = (0usize, 0usize);
        for c in text.chars() {
            match c {
                '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => han += 1,
                _ if c.is_alphabetic() => latin += 1,
                _ => {}
            }
        }
        if han * 4 >= latin.max(1) { Language::Chinese } else { Language::English }
    }

    fn prompt(self) -> &'static Prompt {
        match self {
            Language::Chinese => &CHINESE,
            Language::English => &ENGLISH,
        }
    }
}

/// The markers that a model was trained to see around the turns of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chat {
    /// `<|im_start|>role … <|im_end|>` (Qwen, SmolLM2).
    ImStart,
    /// `<|start_header_id|>role<|end_header_id|> … <|eot_id|>` (Llama 3).
    HeaderId,
    /// `[INST] … [/INST]` (Mistral).
    Instruct,
    /// No markers known.
    Plain,
}

impl Chat {
    /// Chooses by which markers `is_token` says the vocabulary holds as single tokens.
    pub(super) fn detect(is_token: impl Fn(&str) -> bool) -> Self {
        if is_token("<|im_start|>") {
            Chat::ImStart
        } else if is_token("<|start_header_id|>") {
            Chat::HeaderId
        } else if is_token("[INST]") {
            Chat::Instruct
        } else {
            Chat::Plain
        }
    }

    fn system(self, text: &str) -> String {
        match self {
            Chat::ImStart => format!("<|im_start|>system\n{text}<|im_end|>\n"),
            Chat::HeaderId => {
                format!("<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{text}<|eot_id|>")
            }
            Chat::Instruct => format!("<s>[INST] {text}\n\n"),
            Chat::Plain => format!("{text}\n\n"),
        }
    }

    fn user_opening(self) -> &'static str {
        match self {
            Chat::ImStart => "<|im_start|>user\n",
            Chat::HeaderId => "<|start_header_id|>user<|end_header_id|>\n\n",
            Chat::Instruct | Chat::Plain => "",
        }
    }

    fn assistant_opening(self) -> &'static str {
        match self {
            Chat::ImStart => "<|im_end|>\n<|im_start|>assistant\n",
            Chat::HeaderId => "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
            Chat::Instruct => " [/INST] ",
            Chat::Plain => "\n",
        }
    }

    fn assistant_closing(self) -> &'static str {
        match self {
            Chat::ImStart => "<|im_end|>\n",
            Chat::HeaderId => "<|eot_id|>",
            Chat::Instruct => "</s>[INST] ",
            Chat::Plain => "\n\n",
        }
    }

    /// The instructions and worked examples.
    pub(super) fn instructions(self, language: Language) -> String {
        let texts = language.prompt();
        let mut prompt = self.system(&texts.instructions);
        for example in &texts.examples {
            for (i, Answered { text, answer }) in example.sentences.iter().enumerate() {
                prompt += self.user_opening();
                if i == 0 {
                    prompt +=
                        &context(language, &Passage::new(&example.title, &example.headings, "", &[]), &example.text);
                }
                prompt += &question(language, text);
                prompt += self.assistant_opening();
                prompt += answer;
                prompt += self.assistant_closing();
            }
        }
        prompt
    }

    /// The section that the sentences stand in; `text` is what the model sees of it.
    pub(super) fn section(self, language: Language, passage: &Passage<'_>, text: &str) -> String {
        format!("{}{}", self.user_opening(), context(language, passage, text))
    }

    /// One sentence, up to the point where the model writes on after the array's opening.
    pub(super) fn sentence(self, language: Language, sentence: &str) -> String {
        format!("{}{}", question(language, sentence), self.assistant_opening())
    }
}

/// Title, headings and text, and what the rest of the document lends to the section where it needs it: full names of what it
/// calls by a short one, and the text in front of a back reference.
fn context(language: Language, passage: &Passage<'_>, text: &str) -> String {
    let headings = passage.heading_path.join(" > ");
    let labels = &language.prompt().labels;
    let line = |label: &str, value: &str| if value.is_empty() { String::new() } else { format!("{label}{value}\n") };
    let (title, before, text) = (passage.title, passage.before.trim(), text.trim());
    let names = line(&labels.names, &passage.names.join(&labels.between_names));
    let before = line(&format!("{}\n", labels.before), before);
    let Labels { title: title_label, section, text: text_label, .. } = labels;
    format!("{title_label}{title}\n{section}{headings}\n{names}{before}{text_label}\n{text}\n\n")
}

fn question(language: Language, sentence: &str) -> String {
    format!("{}{sentence}", language.prompt().labels.sentence)
}

/// Straight double quotes as typographic ones, opening and closing in turn within a line.
pub(super) fn curl_quotes(text: &str) -> String {
    let mut open = false;
    text.chars()
        .map(|c| match c {
            '"' => {
                open = !open;
                if open { '\u{201c}' } else { '\u{201d}' }
            }
            '\n' => {
                open = false;
                c
            }
            _ => c,
        })
        .collect()
}

/// Undoes [`curl_quotes`] in what the model wrote: a typographic quote that `source` never uses was a straight one.
pub(super) fn straighten_quotes(statement: &str, source: &str) -> String {
    if !source.contains('"') {
        return statement.to_owned();
    }
    let straight = |c: char| matches!(c, '\u{201c}' | '\u{201d}') && !source.contains(c);
    statement.chars().map(|c| if straight(c) { '"' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn worked_examples_are_arrays_over_sentences_of_their_text() {
        for file in [include_str!("prompts/zh.toml"), include_str!("prompts/en.toml")] {
            toml::from_str::<Prompt>(file).unwrap();
        }
        for example in CHINESE.examples.iter().chain(&ENGLISH.examples) {
            for Answered { text: sentence, answer } in &example.sentences {
                assert!(example.text.contains(sentence), "{sentence}");
                assert!(serde_json::from_str::<Vec<String>>(answer).is_ok_and(|a| !a.is_empty()), "{answer}");
            }
        }
    }

    #[test]
    fn names_and_the_text_in_front_are_shown_only_where_a_section_needs_them() {
        let plain = Passage::new("手册", &[], "", &[]);
        let names = vec!["XH-500 液压冲床".to_owned()];
        let told = Passage { names: &names, before: "冲床停机。", ..plain };
        assert_eq!(context(Language::Chinese, &plain, "该设备复位。"), "标题：手册\n章节：\n正文：\n该设备复位。\n\n");
        assert_eq!(
            context(Language::Chinese, &told, "该设备复位。"),
            "标题：手册\n章节：\n全称：XH-500 液压冲床\n上文：\n冲床停机。\n正文：\n该设备复位。\n\n"
        );
        assert!(
            context(Language::English, &told, "It resets.").contains("Full names: XH-500 液压冲床\nText before:\n")
        );
    }

    #[test]
    fn straight_quotes_come_back_and_typographic_ones_stay() {
        let source = "按 \"Execute\" 或 \"Enable\"。\n\"Stop\"";
        assert_eq!(curl_quotes(source), "按 “Execute” 或 “Enable”。\n“Stop”");
        assert_eq!(straighten_quotes("按 “Enable”。", source), "按 \"Enable\"。");
        assert_eq!(straighten_quotes("按“复位”。", "按“复位”键或 \"A\"。"), "按“复位”。");
    }

    #[test]
    fn language_follows_the_script_that_carries_the_text() {
        assert_eq!(Language::of("按 RESET 键，KL-200 重新启动"), Language::Chinese);
        assert_eq!(Language::of("Press RESET (复位)."), Language::English);
        assert_eq!(Language::of(""), Language::English);
    }
}
