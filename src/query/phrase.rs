//! Words in quotation marks: whoever quotes a name of an alarm or a clause means exactly these words.

use unicode_normalization::UnicodeNormalization;

/// Opening and closing marks.
const QUOTES: [(char, char); 5] = [('“', '”'), ('"', '"'), ('「', '」'), ('『', '』'), ('《', '》')];
/// Letters of the shortest phrase that says more than its terms.
const SHORTEST: usize = 3;

/// The phrases that stand in quotation marks in `query`, folded.
pub(super) fn quoted(query: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = query;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| QUOTES.iter().any(|(open, _)| open == c)) {
        rest = &rest[at + open.len_utf8()..];
        let close = QUOTES.iter().find(|(other, _)| *other == open).map_or(open, |(_, close)| *close);
        let Some(end) = rest.find(close) else { continue };
        let phrase = folded(&rest[..end]);
        if phrase.chars().count() >= SHORTEST {
            found.push(phrase);
        }
        rest = &rest[end + close.len_utf8()..];
    }
    found
}

/// The share of `phrases` that `text` holds; 0 without phrases.
pub(super) fn share(phrases: &[String], text: &str) -> f32 {
    if phrases.is_empty() {
        return 0.0;
    }
    let text = folded(text);
    phrases.iter().filter(|phrase| text.contains(phrase.as_str())).count() as f32 / phrases.len() as f32
}

/// Letters and digits alone, of one case and one width: punctuation and spaces are set differently from text to text.
fn folded(text: &str) -> String {
    text.nfkc().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_whatever_their_marks_and_punctuation() {
        let query = "出现“功率级：温度 传感器”或 \"Over Travel\" 的报警，「Ａ１２」《》怎么办？ 5\" 的管";
        let phrases = quoted(query);
        assert_eq!(phrases, ["功率级温度传感器", "overtravel", "a12"]);
        assert_eq!(share(&phrases[..2], "## 9107：功率级: 温度传感器：超出关闭限制"), 0.5);
        assert_eq!(share(&[], "x"), 0.0);
        assert!(quoted("没有引号").is_empty() && quoted("“没有结束").is_empty() && quoted("\"\"\"").is_empty());
    }
}
