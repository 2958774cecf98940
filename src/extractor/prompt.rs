//! The prompt, as three pieces that lie on top of each other: instructions with worked examples (once a run and
//! language), title, headings and text (once a section), one sentence (once a branch).

use crate::proposition::Passage;

/// Changes whenever any text below changes: it is part of the key of the extraction cache.
pub(super) const VERSION: u32 = 3;

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
        let (instructions, examples) = match language {
            Language::Chinese => (INSTRUCTIONS_ZH, EXAMPLES_ZH),
            Language::English => (INSTRUCTIONS_EN, EXAMPLES_EN),
        };
        let mut prompt = self.system(instructions);
        for example in examples {
            for (i, (sentence, answer)) in example.sentences.iter().enumerate() {
                prompt += self.user_opening();
                if i == 0 {
                    let headings: Vec<String> = example.headings.iter().map(|h| (*h).to_owned()).collect();
                    prompt += &context(language, &Passage::new(example.title, &headings, "", &[]), example.text);
                }
                prompt += &question(language, sentence);
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
    let line = |label: &str, value: &str| if value.is_empty() { String::new() } else { format!("{label}{value}\n") };
    let (title, before, text) = (passage.title, passage.before.trim(), text.trim());
    match language {
        Language::Chinese => {
            let names = line("全称：", &passage.names.join("；"));
            let before = line("上文：\n", before);
            format!("标题：{title}\n章节：{headings}\n{names}{before}正文：\n{text}\n\n")
        }
        Language::English => {
            let names = line("Full names: ", &passage.names.join("; "));
            let before = line("Text before:\n", before);
            format!("Title: {title}\nSection: {headings}\n{names}{before}Text:\n{text}\n\n")
        }
    }
}

fn question(language: Language, sentence: &str) -> String {
    match language {
        Language::Chinese => format!("句子：{sentence}"),
        Language::English => format!("Sentence: {sentence}"),
    }
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

struct Example {
    title: &'static str,
    headings: &'static [&'static str],
    text: &'static str,
    /// A sentence of `text` and the array it becomes.
    sentences: &'static [(&'static str, &'static str)],
}

const INSTRUCTIONS_ZH: &str = "你把一个句子改写成原子命题，只输出一个 JSON 字符串数组。要求：\n\
1. 每条命题只说一个事实，是完整的一句话；并列的谓语分成几条，名词的并列不拆。\n\
2. 单独读也能懂：省略的主语、该设备、其、上述、前款等一律换成正文或标题里的全称；条件写进每一条。\n\
3. 数字、单位、代码、名称照抄原文；不得、应当、可以、必须、未等词保留；不添加句子里没有的事实，不遗漏句子里的事实。";

const EXAMPLES_ZH: &[Example] = &[
    Example {
        title: "KL-200 空压机使用手册",
        headings: &["第三章 保养", "3.2 润滑"],
        text: "KL-200 空压机采用强制润滑。该设备每运行 500 小时必须更换一次润滑油，并清洗油过滤器。油温不得超过 95 ℃；\
               超过时，控制器发出 A-17 报警并停机。",
        sentences: &[
            (
                "该设备每运行 500 小时必须更换一次润滑油，并清洗油过滤器。",
                r#"["KL-200 空压机每运行 500 小时必须更换一次润滑油。", "KL-200 空压机每运行 500 小时必须清洗油过滤器。"]"#,
            ),
            ("油温不得超过 95 ℃；", r#"["KL-200 空压机的油温不得超过 95 ℃。"]"#),
            (
                "超过时，控制器发出 A-17 报警并停机。",
                r#"["KL-200 空压机的油温超过 95 ℃ 时，控制器发出 A-17 报警。", "KL-200 空压机的油温超过 95 ℃ 时，控制器停机。"]"#,
            ),
        ],
    },
    Example {
        title: "仓库消防管理办法",
        headings: &["第二章 监督检查"],
        text: "第九条 仓库违反本办法，有下列情形之一的，由主管部门责令改正，并处以罚款：\n（一）未配备灭火器的，\
               处五百元以上二千元以下的罚款；\n（二）堵塞消防通道的，处二千元以上一万元以下的罚款。\n\
               仓库管理员对前款情形知情不报的，可以给予警告；其提供证据的，不予处罚。",
        sentences: &[
            (
                "（一）未配备灭火器的，处五百元以上二千元以下的罚款；",
                r#"["仓库未配备灭火器的，由主管部门处五百元以上二千元以下的罚款。"]"#,
            ),
            (
                "仓库管理员对前款情形知情不报的，可以给予警告；",
                r#"["仓库管理员对仓库未配备灭火器、堵塞消防通道的情形知情不报的，可以给予警告。"]"#,
            ),
        ],
    },
];

const INSTRUCTIONS_EN: &str = "You rewrite one sentence as atomic propositions and output only a JSON array of strings. Rules:\n\
1. Each proposition states one fact in a complete sentence; split coordinated predicates, keep lists of nouns together.\n\
2. Each can be read alone: replace it, they, this, the device, the former and omitted subjects by the full name from the text \
or title; repeat the condition in each.\n\
3. Copy numbers, units, codes and names exactly; keep must, shall, may, not, never; add no fact that the sentence lacks and drop none.";

const EXAMPLES_EN: &[Example] = &[
    Example {
        title: "KL-200 air compressor manual",
        headings: &["3 Maintenance", "3.2 Lubrication"],
        text: "The KL-200 air compressor is lubricated under pressure. It must have its oil changed every 500 hours, and the \
               oil filter must be cleaned. Do not let the oil exceed 95 °C; if it does, the controller raises alarm A-17 and \
               stops the motor.",
        sentences: &[
            (
                "It must have its oil changed every 500 hours, and the oil filter must be cleaned.",
                r#"["The KL-200 air compressor must have its oil changed every 500 hours.", "The oil filter of the KL-200 air compressor must be cleaned every 500 hours."]"#,
            ),
            (
                "Do not let the oil exceed 95 °C; if it does, the controller raises alarm A-17 and stops the motor.",
                r#"["Do not let the oil of the KL-200 air compressor exceed 95 °C.", "If the oil of the KL-200 air compressor exceeds 95 °C, the controller raises alarm A-17.", "If the oil of the KL-200 air compressor exceeds 95 °C, the controller stops the motor."]"#,
            ),
        ],
    },
    Example {
        title: "Warehouse fire safety rules",
        headings: &["2. INSPECTION", "2.3 Records"],
        text: "2.3.1\tA Keeper must inspect the fire exits daily and record the result. Where a Keeper finds an exit blocked, \
               the Keeper must:\n(a)\tclear it at once; and\n(b)\tnotify the Safety Officer, who may close the warehouse.",
        sentences: &[
            (
                "(a)\tclear it at once; and",
                r#"["Where a Keeper finds a fire exit blocked, the Keeper must clear the fire exit at once."]"#,
            ),
            (
                "(b)\tnotify the Safety Officer, who may close the warehouse.",
                r#"["Where a Keeper finds a fire exit blocked, the Keeper must notify the Safety Officer.", "The Safety Officer may close the warehouse."]"#,
            ),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_examples_are_arrays_over_sentences_of_their_text() {
        for example in EXAMPLES_ZH.iter().chain(EXAMPLES_EN) {
            for (sentence, answer) in example.sentences {
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
