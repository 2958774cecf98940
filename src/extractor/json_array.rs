//! The grammar that holds the output: a JSON array of strings (RFC 8259), one line, nothing around it.
//!
//! The decoder may only write a token whose bytes the grammar accepts, so that the output always parses. It starts
//! inside the first string, because `["` belongs to the prompt.

/// Where in the array the output stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    InString,
    /// After a backslash.
    Escape,
    /// Inside `\uXXXX`, with so many digits to come.
    Hex(u8),
    /// After the closing quote.
    AfterString,
    /// After a comma; one space may follow.
    AfterComma,
    /// After that space.
    AfterSpace,
    /// After the closing bracket.
    Done,
}

/// What must hold for the next byte. Small and copied to try a token out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    place: Place,
    /// Bytes of a UTF-8 sequence still to come.
    continuation: u8,
    /// Whether the open string has a character.
    filled: bool,
    /// Strings closed.
    closed: usize,
}

impl State {
    /// The state after `byte`, or `None` where the grammar has no such byte.
    fn step(mut self, byte: u8, most: usize) -> Option<State> {
        if self.continuation > 0 {
            if byte & 0xc0 != 0x80 {
                return None;
            }
            self.continuation -= 1;
            return Some(self);
        }
        self.place = match (self.place, byte) {
            (Place::InString, b'"') if self.filled => {
                self.closed += 1;
                Place::AfterString
            }
            (Place::InString, b'"' | 0..0x20 | 0x7f) => return None,
            (Place::InString, b'\\') => Place::Escape,
            (Place::InString, _) => {
                self.continuation = match byte {
                    0x20..0x80 => 0,
                    0xc2..=0xdf => 1,
                    0xe0..=0xef => 2,
                    0xf0..=0xf4 => 3,
                    _ => return None,
                };
                self.filled |= byte != b' ';
                Place::InString
            }
            (Place::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.filled = true;
                Place::InString
            }
            (Place::Escape, b'u') => Place::Hex(4),
            (Place::Hex(left), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.filled = true;
                if left > 1 { Place::Hex(left - 1) } else { Place::InString }
            }
            (Place::AfterString, b',') if self.closed < most => Place::AfterComma,
            (Place::AfterString, b']') => Place::Done,
            (Place::AfterComma, b' ') => Place::AfterSpace,
            (Place::AfterComma | Place::AfterSpace, b'"') => {
                self.filled = false;
                Place::InString
            }
            _ => return None,
        };
        Some(self)
    }
}

/// An array being written.
#[derive(Debug, Clone)]
pub(super) struct JsonArray {
    state: State,
    /// Most strings.
    most: usize,
    /// Everything written, with the `["` of the prompt.
    text: Vec<u8>,
    /// Length of `text` after the last closed string.
    complete: usize,
}

impl JsonArray {
    /// What the prompt ends with.
    pub(super) const OPENING: &'static str = "[\"";

    /// An array of at most `most` strings, inside its first one.
    pub(super) fn new(most: usize) -> Self {
        let text = Self::OPENING.as_bytes().to_vec();
        let state = State { place: Place::InString, continuation: 0, filled: false, closed: 0 };
        Self { state, most, text, complete: 1 }
    }

    fn try_token(&self, token: &[u8]) -> Option<State> {
        token.iter().try_fold(self.state, |state, byte| state.step(*byte, self.most))
    }

    /// Whether `token` may come next. An empty token never may.
    pub(super) fn accepts(&self, token: &[u8]) -> bool {
        !token.is_empty() && self.try_token(token).is_some()
    }

    /// Writes a token that the grammar accepts; returns how many strings it closed.
    pub(super) fn write(&mut self, token: &[u8]) -> usize {
        let before = self.state.closed;
        for &byte in token {
            let Some(next) = self.state.step(byte, self.most) else { break };
            let closes = next.closed > self.state.closed;
            self.state = next;
            self.text.push(byte);
            if closes {
                self.complete = self.text.len();
            }
        }
        self.state.closed - before
    }

    /// True after the closing bracket.
    pub(super) fn is_done(&self) -> bool {
        self.state.place == Place::Done
    }

    /// What was written, with the `["` of the prompt.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// The strings that were closed, unescaped. Those that no JSON parser takes (a lone surrogate) are empty.
    pub(super) fn strings(&self) -> Vec<String> {
        let mut closed = self.text[..self.complete].to_vec();
        closed.push(b']');
        serde_json::from_slice::<Vec<String>>(&closed).unwrap_or_else(|_| vec![String::new(); self.state.closed])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_tokens_are_tried_the_complete_part_parses() {
        let pieces: Vec<&[u8]> = vec![
            b"a",
            "阀".as_bytes(),
            &[0xe9, 0x98],
            &[0x80],
            b"\"",
            b"\\",
            b"u00e9",
            b"\", \"",
            b"\"]",
            b"]",
            b",",
            b" ",
            b"\n",
            b"\\\"",
            &[0xff],
            b"n",
            b"[",
            b"{\"x\":1}",
            "。\"".as_bytes(),
        ];
        let mut state = 42u64;
        for _ in 0..2000 {
            let mut array = JsonArray::new(3);
            let mut closed = 0;
            for _ in 0..30 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let piece = pieces[state as usize % pieces.len()];
                if array.accepts(piece) {
                    closed += array.write(piece);
                }
                assert_eq!(array.strings().len(), closed);
                assert!(closed <= 3);
                if array.is_done() {
                    assert!(serde_json::from_str::<Vec<String>>(&array.text()).is_ok_and(|s| s.len() == closed));
                    break;
                }
            }
        }
    }

    /// Writes `bytes` one at a time as far as the grammar takes them.
    fn forced(bytes: &[u8]) -> JsonArray {
        let mut array = JsonArray::new(8);
        for byte in bytes {
            if array.accepts(&[*byte]) {
                array.write(&[*byte]);
            }
        }
        array
    }

    #[test]
    fn an_array_cut_at_any_byte_keeps_exactly_its_closed_strings() {
        let whole = "油温 \\\"95\\\" ℃。\", \"第二\\u3002\", \"c\"]".as_bytes();
        for cut in 0..=whole.len() {
            let array = forced(&whole[..cut]);
            let strings = array.strings();
            let all = ["油温 \"95\" ℃。", "第二。", "c"];
            assert_eq!(strings, all[..strings.len()]);
            let quotes = whole[..cut].windows(2).filter(|w| w[1] == b'"' && w[0] != b'\\').count();
            assert_eq!(strings.len(), quotes.div_ceil(2), "{cut}");
        }
    }

    #[test]
    fn hostile_output_gives_no_more_strings_than_allowed_and_none_with_raw_control_characters() {
        let repeated = "主轴停止。\", \"".repeat(5_000);
        for output in
            ["{\"a\":", "[\"", "[[[[", "\u{0}\u{1b}[2J\n\",\"", "Насос.\", \"ポンプ。\"]", "", "\"]\"]", &repeated]
        {
            let array = forced(output.as_bytes());
            let strings = array.strings();
            assert!(strings.len() <= 8, "{output:.40}");
            assert!(strings.iter().all(|s| !s.is_empty() && !s.chars().any(char::is_control)), "{strings:?}");
        }
        assert_eq!(forced(repeated.as_bytes()).strings().len(), 8);
    }

    #[test]
    fn an_open_string_is_dropped_and_closed_ones_are_kept() {
        let mut array = JsonArray::new(8);
        assert_eq!(array.write("油温\\n不得超过 95 ℃。\", \"第二".as_bytes()), 1);
        assert_eq!(array.strings(), ["油温\n不得超过 95 ℃。"]);
        assert!(!array.is_done());
    }

    #[test]
    fn empty_strings_control_characters_and_text_after_the_end_are_refused() {
        let mut array = JsonArray::new(1);
        assert!(!array.accepts(b"\"") && !array.accepts(b"a\nb") && !array.accepts(b""));
        array.write(b"a\"");
        assert!(!array.accepts(b", \"b") && array.accepts(b"]") && !array.accepts(b"]]"));
        array.write(b"]");
        assert!(array.is_done() && !array.accepts(b" "));
    }
}
