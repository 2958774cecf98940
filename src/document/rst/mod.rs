//! Reads reStructuredText (docutils 0.21 and the directives of Sphinx) as [`super::notation::Notation`] text.
//!
//! Its marks differ enough from Markdown's that nothing downstream would see headings, tables or code in the raw text. The
//! file alone is read: what it includes or lists of other files is named and not followed.

mod directive;
mod inline;
mod out;
mod parse;
mod simple;
mod table;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::budget::Budget;
use super::notation::{Extracted, is_wide};
use crate::error::Result;
use inline::Inline;
use out::Out;
use parse::Parser;

/// Columns of a tabulator, as docutils has it.
const TAB: usize = 8;

/// Reads a file.
///
/// # Errors
/// The time is up, or tables and nesting cost more than the budget.
pub(crate) fn read(text: &str, budget: &mut Budget) -> Result<Extracted> {
    let lines: Vec<String> = text.replace("\r\n", "\n").split(['\n', '\r']).map(expand).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let wide = text.chars().filter(|c| is_wide(*c)).count();
    let letters = text.chars().filter(|c| c.is_ascii_alphabetic()).count();
    let inline = definitions(&lines);
    let mut parser = Parser::new(Out::new(wide * 4 > letters), inline, budget);
    parser.document(&lines)?;
    Ok(parser.finish())
}

/// The line with spaces instead of tabulators.
fn expand(line: &str) -> String {
    if !line.contains(['\t', '\x0b', '\x0c']) {
        return line.to_string();
    }
    let mut out = String::with_capacity(line.len() + TAB);
    let mut column = 0;
    for c in line.chars() {
        match c {
            '\t' => {
                let next = (column / TAB + 1) * TAB;
                out.extend(std::iter::repeat_n(' ', next - column));
                column = next;
            }
            '\x0b' | '\x0c' => {
                out.push(' ');
                column += 1;
            }
            _ => {
                out.push(c);
                column += 1;
            }
        }
    }
    out
}

/// Substitutions and the names of links, which may be defined behind where they are used.
fn definitions(lines: &[&str]) -> Inline {
    let mut substitutions = HashMap::new();
    let mut targets = HashSet::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix(".. ") else { continue };
        let rest = rest.trim_start();
        if let Some(target) = rest.strip_prefix('_') {
            let name = target.split(':').next().unwrap_or_default();
            targets.insert(name.trim_matches('`').to_lowercase());
            continue;
        }
        let Some((name, definition)) = rest.strip_prefix('|').and_then(|rest| rest.split_once('|')) else { continue };
        let Some((kind, first)) = definition.trim_start().split_once("::") else { continue };
        let indent = line.len() - line.trim_start().len();
        let more = lines[at + 1..].iter().take_while(|next| next.len() - next.trim_start().len() > indent).take(64);
        let value = match kind.trim() {
            "replace" => {
                let mut value = first.trim().to_string();
                for line in more {
                    value.push('\n');
                    value.push_str(line.trim());
                }
                super::notation::one_line(&value)
            }
            "image" => {
                more.filter_map(|line| line.trim().strip_prefix(":alt:")).next().unwrap_or_default().trim().to_string()
            }
            "unicode" => first.split_whitespace().take_while(|word| *word != "..").map(code_point).collect(),
            _ => continue,
        };
        substitutions.insert(name.trim().to_lowercase(), value);
    }
    Inline::new(substitutions, targets)
}

/// The character that `U+00A9`, `0xA9` or `&#xA9;` stands for; other words stand for themselves.
fn code_point(word: &str) -> String {
    let digits = ["U+", "u+", "0x", "\\u", "\\x", "&#x"].iter().find_map(|prefix| word.strip_prefix(prefix));
    let number = digits.and_then(|digits| u32::from_str_radix(digits.trim_end_matches(';'), 16).ok());
    number.and_then(char::from_u32).map_or_else(|| word.to_string(), String::from)
}
