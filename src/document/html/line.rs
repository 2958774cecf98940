//! One paragraph as it grows: white space as browsers collapse it, and numbers that stand above the line.

use crate::document::notation::is_wide;

/// Running text of the block that is being read.
#[derive(Debug, Default)]
pub(super) struct Line {
    text: String,
    /// White space was read and not written yet; true when a line end was in it.
    space: Option<bool>,
    /// White space is kept as it stands.
    pub(super) verbatim: bool,
}

impl Line {
    /// Adds text. Soft hyphens and zero-width spaces only say where a line may be broken, and are left out.
    pub(super) fn push(&mut self, text: &str) {
        if self.verbatim {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\x0c' => self.gap(false),
                '\n' | '\r' => self.gap(true),
                '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\0' => {}
                _ => {
                    self.write_space(c);
                    self.text.push(c);
                }
            }
        }
    }

    /// White space between what was and what comes; `line_end` when the source goes on in a new line.
    pub(super) fn gap(&mut self, line_end: bool) {
        self.space = Some(self.space.unwrap_or(false) || line_end);
    }

    fn write_space(&mut self, next: char) {
        let Some(line_end) = self.space.take() else { return };
        let Some(last) = self.text.chars().next_back() else { return };
        // Chinese is wrapped in the source without a space being meant.
        if last != '\n' && !(line_end && is_wide(last) && is_wide(next)) {
            self.text.push(' ');
        }
    }

    /// A line break that is displayed.
    pub(super) fn break_line(&mut self) {
        self.space = None;
        self.text.push('\n');
    }

    /// Ends the line inside preformatted text, unless it has just begun.
    pub(super) fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Where what comes will be written.
    pub(super) fn mark(&self) -> usize {
        self.text.len()
    }

    /// Changes what was written since `mark`, without the white space before it.
    pub(super) fn change(&mut self, mark: usize, change: impl FnOnce(&str) -> String) {
        if let Some(tail) = self.text.get(mark..) {
            let body = tail.trim_start();
            let from = self.text.len() - body.len();
            let body = change(body);
            self.text.truncate(from);
            self.text.push_str(&body);
        }
    }

    /// Takes away what was written since `mark`.
    pub(super) fn cut(&mut self, mark: usize) -> String {
        if self.text.is_char_boundary(mark) && mark <= self.text.len() {
            self.text.split_off(mark)
        } else {
            String::new()
        }
    }

    /// All that was written; the line is empty again.
    pub(super) fn take(&mut self) -> String {
        self.space = None;
        std::mem::take(&mut self.text)
    }
}

/// `text` in raised characters, where all of it has such: `10` and `3` above the line must not read as 103.
pub(in crate::document) fn raised(text: &str) -> String {
    let raise = |c: char| {
        Some(match c {
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4'..='9' => char::from_u32('⁴' as u32 + (c as u32 - '4' as u32))?,
            '+' => '⁺',
            '-' | '−' | '–' => '⁻',
            '=' => '⁼',
            '(' => '⁽',
            ')' => '⁾',
            'n' => 'ⁿ',
            _ => return None,
        })
    };
    text.chars().map(raise).collect::<Option<String>>().unwrap_or_else(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_collapses_and_wrapped_chinese_closes_up() {
        let mut line = Line::default();
        line.push("  主轴\n   温度 ");
        line.push(" is\n high");
        line.break_line();
        line.push(" 停\u{ad}机\u{a0}x ");
        assert_eq!(line.take(), "主轴温度 is high\n停机\u{a0}x");
    }

    #[test]
    fn only_what_can_be_raised_is_raised() {
        assert_eq!([raised("3"), raised("-12"), raised("th"), raised("[1]")], ["³", "⁻¹²", "th", "[1]"]);
    }
}
