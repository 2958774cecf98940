//! The words of a document, which tell a hyphen that belongs to a word from one that only breaks it over two lines.

use std::collections::HashSet;

/// Words in small letters, with their hyphens.
#[derive(Debug, Default)]
pub(super) struct Vocabulary(HashSet<String>);

impl Vocabulary {
    /// Takes up the words of a stretch of a line. The last one may be half a word, which does no harm.
    pub(super) fn learn(&mut self, text: &str) {
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '-') {
            let word = word.trim_matches('-');
            if word.len() > 1 && word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') {
                self.0.insert(word.to_ascii_lowercase());
            }
        }
    }

    /// True when `left-` at the end of a line and `right` on the next are one word without a hyphen.
    pub(super) fn is_broken_word(&self, left: &str, right: &str) -> bool {
        let knows = |word: &str| self.0.contains(word);
        let (left, right) = (left.to_ascii_lowercase(), right.to_ascii_lowercase());
        if knows(&format!("{left}{right}")) {
            return true;
        }
        // Two whole words are a compound; what is left of a broken word seldom is one.
        !(knows(&format!("{left}-{right}")) || knows(&left) && knows(&right) && left.len() > 2 && right.len() > 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_keep_their_hyphen() {
        let mut words = Vocabulary::default();
        words.learn("the chat was optimized; a well-known installation");
        assert!(words.is_broken_word("instal", "lation") && words.is_broken_word("opti", "mized"));
        assert!(!words.is_broken_word("chat", "optimized") && !words.is_broken_word("well", "known"));
    }
}
