//! Automatic numbering as it is displayed (ISO/IEC 29500-1, 17.9): definitions, instances, overrides and counters.

use std::collections::{HashMap, HashSet};

use super::numerals;
use super::styles::Resolved;
use crate::document::xml::{Element, Space, is_on};

/// Levels of a list.
const LEVELS: usize = 9;

/// Characters of a level's text. It is written for every paragraph, so a long one would grow without bound.
const LONGEST: usize = 255;

/// One level of a definition.
#[derive(Debug, Clone)]
struct Level {
    start: i64,
    format: String,
    /// Pattern of the format `custom`.
    pattern: Option<String>,
    /// Such as `第%1条`.
    text: String,
    /// All numbers in it are decimal.
    legal: bool,
    /// The level, from 1, whose numbers start this one again; 0 for none.
    restart: Option<usize>,
    suffix: &'static str,
    /// The paragraph style that stands for this level.
    style: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Definition {
    levels: [Option<Level>; LEVELS],
    /// The numbering style that has the levels instead.
    link: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Instance {
    definition: String,
    levels: [Option<Level>; LEVELS],
    starts: [Option<i64>; LEVELS],
}

/// A number as it is displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    /// `第三条`; empty for a bullet.
    pub(super) text: String,
    /// What stands between it and the text.
    pub(super) suffix: &'static str,
    /// Level from 0.
    pub(super) level: usize,
    /// A mark of a list (`1.`, `（一）`, a bullet), not the number of an article or section.
    pub(super) is_item: bool,
}

/// The numbering of a document, with its counters.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Definition>,
    instances: HashMap<String, Instance>,
    /// Numbering style to the definition that it is kept in.
    styles: HashMap<String, String>,
    counters: HashMap<String, [Option<i64>; LEVELS]>,
    /// Instances and levels whose start has been set.
    started: HashSet<(String, usize)>,
}

impl Numbering {
    /// Reads `w:numbering`.
    pub(super) fn read(root: Element<'_>) -> Self {
        let mut out = Self::default();
        for element in root.children().filter(|e| e.space() == Space::Word) {
            match element.name() {
                "abstractNum" => out.definition(element),
                "num" => out.instance(element),
                _ => {}
            }
        }
        out
    }

    fn definition(&mut self, element: Element<'_>) {
        let Some(id) = element.attribute(Space::Word, "abstractNumId") else { return };
        let mut definition = Definition { link: value(element, "numStyleLink"), ..Definition::default() };
        for level in element.all(Space::Word, "lvl") {
            if let Some(slot) = index(level).and_then(|at| definition.levels.get_mut(at)) {
                *slot = Some(Level::read(level));
            }
        }
        if let Some(style) = value(element, "styleLink") {
            self.styles.insert(style, id.to_string());
        }
        self.definitions.insert(id.to_string(), definition);
    }

    fn instance(&mut self, element: Element<'_>) {
        let (Some(id), Some(definition)) = (element.attribute(Space::Word, "numId"), value(element, "abstractNumId"))
        else {
            return;
        };
        let mut instance = Instance { definition, ..Instance::default() };
        for change in element.all(Space::Word, "lvlOverride") {
            let Some(at) = index(change).filter(|&at| at < LEVELS) else { continue };
            if let (Some(slot), Some(level)) = (instance.levels.get_mut(at), change.child(Space::Word, "lvl")) {
                *slot = Some(Level::read(level));
            }
            if let Some(slot) = instance.starts.get_mut(at) {
                *slot = value(change, "startOverride").and_then(|start| start.parse().ok());
            }
        }
        self.instances.insert(id.to_string(), instance);
    }

    /// The numbering and level of a paragraph: its own, else that of its style.
    pub(super) fn place(&self, own: Option<Element<'_>>, style: &Resolved) -> Option<(String, usize)> {
        let own_num = own.and_then(|own| value(own, "numId"));
        let own_level = own.and_then(|own| value(own, "ilvl")?.parse::<usize>().ok());
        let from_style = || style.num.clone().map(|num| (self.level_of_style(&num, style), num));
        let (num, level) = match own_num {
            Some(num) => {
                let same = || from_style().filter(|(_, of_style)| *of_style == num).map(|(level, _)| level);
                let level = own_level.or_else(same).unwrap_or(0);
                (num, level)
            }
            None => from_style().map(|(level, num)| (num, own_level.unwrap_or(level)))?,
        };
        (num != "0" && level < LEVELS).then_some((num, level))
    }

    /// The level that is bound to the style, or to the nearest style that it is based on; else the one it names.
    fn level_of_style(&self, num: &str, style: &Resolved) -> usize {
        let levels = self.instances.get(num).and_then(|i| self.definition_of(&i.definition)).map(|(_, d)| &d.levels);
        let bound = |id: &String| {
            levels?.iter().position(|level| level.as_ref().is_some_and(|level| level.style.as_ref() == Some(id)))
        };
        style.chain.iter().find_map(bound).or(style.level).unwrap_or(0)
    }

    /// The definition with the levels: `id` itself, or the one that its numbering style is kept in.
    fn definition_of<'s>(&'s self, id: &'s str) -> Option<(&'s str, &'s Definition)> {
        let definition = self.definitions.get(id)?;
        let linked = definition.link.as_ref().and_then(|style| self.styles.get(style));
        match linked.and_then(|id| Some((id, self.definitions.get(id)?))) {
            Some((id, linked)) => Some((id, linked)),
            None => Some((id, definition)),
        }
    }

    /// Counts a paragraph at `level` of `num` and says its number.
    pub(super) fn next(&mut self, num: &str, level: usize) -> Option<Number> {
        let instance = self.instances.get(num)?.clone();
        let (id, definition) = self.definition_of(&instance.definition)?;
        let id = id.to_string();
        let of = |at: usize| instance.levels.get(at)?.as_ref().or(definition.levels.get(at)?.as_ref());
        let start = |at: usize| instance.starts.get(at).copied().flatten().or(of(at).map(|l| l.start)).unwrap_or(1);
        let this = of(level)?;
        let mut counters = self.counters.get(&id).copied().unwrap_or_default();
        let begins = instance.starts.get(level).copied().flatten().is_some()
            && !self.started.contains(&(num.to_string(), level));
        let slot = counters.get_mut(level)?;
        *slot = Some(match *slot {
            Some(count) if !begins => count.saturating_add(1),
            _ => start(level),
        });
        // A level that is left out counts as begun: after 1.1 without a 1 before it comes 2.
        for (upper, slot) in counters.iter_mut().enumerate().take(level) {
            *slot = slot.or(Some(start(upper)));
        }
        for (deeper, slot) in counters.iter_mut().enumerate().skip(level + 1) {
            let stays = of(deeper).and_then(|l| l.restart).is_some_and(|restart| restart == 0 || level >= restart);
            if !stays {
                *slot = None;
            }
        }
        let shown = |at: usize| {
            let count = counters.get(at).copied().flatten().unwrap_or_else(|| start(at));
            let level = of(at)?;
            let legal = this.legal && !matches!(level.format.as_str(), "none" | "bullet");
            let format = if legal { "decimal" } else { level.format.as_str() };
            Some(numerals::write(format, level.pattern.as_deref(), count))
        };
        let text = if this.format == "bullet" { String::new() } else { filled(&this.text, shown) };
        let (suffix, is_item) = (this.suffix, this.format == "bullet" || is_mark(&this.text));
        let is_shown = this.format == "bullet" || !text.trim().is_empty();
        self.counters.insert(id, counters);
        self.started.insert((num.to_string(), level));
        is_shown.then_some(Number { text, suffix, level, is_item })
    }
}

impl Level {
    fn read(element: Element<'_>) -> Self {
        let format = element.child(Space::Word, "numFmt");
        let attribute = |name| format.and_then(|f| f.attribute(Space::Word, name)).map(str::to_string);
        Self {
            start: value(element, "start").and_then(|start| start.parse().ok()).unwrap_or(0),
            format: attribute("val").unwrap_or_else(|| "decimal".to_string()),
            pattern: attribute("format"),
            text: value(element, "lvlText").unwrap_or_default().chars().take(LONGEST).collect(),
            legal: element.child(Space::Word, "isLgl").is_some_and(|e| is_on(e.attribute(Space::Word, "val"))),
            restart: value(element, "lvlRestart").and_then(|restart| restart.parse().ok()),
            suffix: if value(element, "suff").as_deref() == Some("nothing") { "" } else { " " },
            style: value(element, "pStyle"),
        }
    }
}

fn value(element: Element<'_>, name: &str) -> Option<String> {
    Some(element.child(Space::Word, name)?.attribute(Space::Word, "val")?.to_string())
}

fn index(element: Element<'_>) -> Option<usize> {
    element.attribute(Space::Word, "ilvl")?.parse().ok()
}

/// `text` with the numbers of the levels in the place of `%1` to `%9`.
fn filled(text: &str, number: impl Fn(usize) -> Option<String>) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let level = chars.peek().and_then(|next| next.to_digit(10)).filter(|digit| c == '%' && *digit > 0);
        match level {
            Some(level) => {
                chars.next();
                out.push_str(&number(level as usize - 1).unwrap_or_default());
            }
            None => out.push(c),
        }
    }
    out
}

/// True for a level text that is one number with brackets or a stop, as lists have, and not words or several numbers.
fn is_mark(text: &str) -> bool {
    let rest = text.replace(['(', ')', '（', '）', '[', ']', '【', '】', '〔', '〕'], "");
    let rest = rest.trim_end_matches(['.', '．', '、', '。', ',', ':', '：', '-']).trim();
    let is_number = rest.len() == 2 && rest.starts_with('%');
    is_number || !text.trim().is_empty() && !text.contains(char::is_alphanumeric)
}

#[cfg(test)]
#[path = "numbering_tests.rs"]
mod tests;
