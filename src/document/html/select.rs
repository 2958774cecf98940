//! What of a page is its text: hidden parts, the frame around the main text, and tables that only arrange it.
//!
//! Nothing is guessed from how text looks. The main text is what `<main>`, else `<article>`, marks as such; around it only
//! elements that say themselves that they are navigation, asides, headers or footers are left out, and every omission is
//! named. Which tables arrange and which hold data follows the tests that screen readers use.

use std::collections::HashSet;

use super::name::{heading_level, is_cell, is_dropped};
use super::tree::{Id, Tree};
use crate::document::budget::Budget;
use crate::document::markup;
use crate::document::notation::Skipped;
use crate::error::Result;

/// Cells with more characters than this make a table of one row an arrangement.
const SHORT: usize = 120;
/// Share of the characters of a list of links that are links.
const MOSTLY_LINKS: f64 = 0.8;

/// Which elements are left out, and which tables are none.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) left_out: HashSet<Id>,
    pub(super) arranging: HashSet<Id>,
    pub(super) skipped: Vec<Skipped>,
}

/// The parts around the main text, and how a person calls them.
const FRAME: [(&str, &str, &str); 4] = [
    ("nav", "navigation", "navigation"),
    ("aside", "complementary", "aside"),
    ("header", "banner", "page header"),
    ("footer", "contentinfo", "page footer"),
];

/// Elements that are never part of the text but may hold words, how a person calls them, and why they are left out.
const ASIDE: [(&[&str], &str, &str); 2] = [
    (
        &["select", "datalist", "option", "optgroup", "textarea"],
        "fields of forms",
        "choices and default texts are not read",
    ),
    (
        &["noscript", "noframes", "noembed", "iframe", "canvas", "audio", "video", "template"],
        "fallback texts",
        "shown only where scripts, frames or media do not work",
    ),
];

/// Looks over the page once.
pub(super) fn select(tree: &Tree, budget: &Budget) -> Result<Selection> {
    let mut selection = Selection { arranging: arranging(tree), ..Selection::default() };
    let main = main_parts(tree);
    let mut around: HashSet<Id> = HashSet::new();
    for &part in &main {
        let mut at = tree.parent(part);
        while let Some(id) = at.filter(|&id| around.insert(id)) {
            at = tree.parent(id);
        }
    }
    let main: HashSet<Id> = main.into_iter().collect();
    let mut dropped = [(0usize, 0usize); FRAME.len()];
    let mut hidden = (0usize, 0usize);
    let mut aside = [(0usize, 0usize); ASIDE.len()];
    // In the order of the page: a node below a part that is left out, or below the main text, is not looked at again.
    let mut at = Some(0);
    let mut in_main: Option<Id> = None;
    let mut seen = 0usize;
    while let Some(id) = at {
        seen += 1;
        if seen.is_multiple_of(1024) {
            budget.check()?;
        }
        let mut descend = true;
        if !tree.name(id).is_empty() && !is_dropped(tree.name(id)) {
            if in_main.is_none() && main.contains(&id) {
                in_main = Some(id);
            }
            if is_hidden(tree, id) {
                let characters = characters(tree, id);
                if characters > 0 {
                    hidden = (hidden.0 + 1, hidden.1 + characters);
                }
                descend = false;
            } else if !main.is_empty() && !around.contains(&id) && !main.contains(&id) {
                let kind = frame_kind(tree, id);
                let is_frame = match in_main {
                    None => kind.is_some(),
                    // Inside the main text only navigation that is made of links.
                    Some(_) => kind == Some(0) && is_links(tree, id),
                };
                if let Some(kind) = kind.filter(|_| is_frame) {
                    let characters = characters(tree, id);
                    if characters > 0 {
                        dropped[kind] = (dropped[kind].0 + 1, dropped[kind].1 + characters);
                    }
                    descend = false;
                }
            }
        } else if is_dropped(tree.name(id)) {
            if let Some(kind) = ASIDE.iter().position(|(elements, ..)| elements.contains(&tree.name(id))) {
                let characters = words_in(tree, id);
                if characters > 0 {
                    aside[kind] = (aside[kind].0 + 1, aside[kind].1 + characters);
                }
            }
            at = next_after(tree, id, &mut in_main);
            continue;
        }
        if !descend {
            selection.left_out.insert(id);
        }
        at = match tree.first(id).filter(|_| descend) {
            Some(first) => Some(first),
            None => next_after(tree, id, &mut in_main),
        };
    }
    for ((_, _, name), (parts, characters)) in FRAME.iter().zip(dropped) {
        if parts > 0 {
            let reason = format!("outside the main text of the page ({parts} parts, {characters} characters)");
            selection.skipped.push(Skipped { place: (*name).to_string(), reason });
        }
    }
    if hidden.0 > 0 {
        let reason = format!("not displayed by a browser ({} parts, {} characters)", hidden.0, hidden.1);
        selection.skipped.push(Skipped { place: "hidden parts".to_string(), reason });
    }
    for ((_, place, reason), (parts, characters)) in ASIDE.iter().zip(aside) {
        if parts > 0 {
            let reason = format!("{reason} ({parts} parts, {characters} characters)");
            selection.skipped.push(Skipped { place: (*place).to_string(), reason });
        }
    }
    Ok(selection)
}

/// The node that follows `id` and all below it.
fn next_after(tree: &Tree, mut id: Id, in_main: &mut Option<Id>) -> Option<Id> {
    loop {
        if *in_main == Some(id) {
            *in_main = None;
        }
        if let Some(next) = tree.next(id) {
            return Some(next);
        }
        id = tree.parent(id)?;
    }
}

fn role(tree: &Tree, id: Id) -> &str {
    tree.attribute(id, "role").unwrap_or_default().trim()
}

/// The outermost elements that mark the main text, if there are words in them.
fn main_parts(tree: &Tree) -> Vec<Id> {
    for (element, by_role) in [("main", "main"), ("article", "article")] {
        let mut parts: Vec<Id> = Vec::new();
        for id in 0..tree.len() as Id {
            let is_part = tree.name(id) == element || (!tree.name(id).is_empty() && role(tree, id) == by_role);
            if is_part {
                parts.push(id);
            }
        }
        if parts.iter().take(64).any(|&part| characters(tree, part) >= 40) {
            return parts;
        }
    }
    Vec::new()
}

fn frame_kind(tree: &Tree, id: Id) -> Option<usize> {
    let (name, role) = (tree.name(id), role(tree, id));
    FRAME.iter().position(|(element, by_role, _)| name == *element || role == *by_role)
}

/// Characters of words below `id`.
fn characters(tree: &Tree, id: Id) -> usize {
    let is_word = |c: &char| !c.is_whitespace();
    let of_text = |node: Id| {
        let parent = tree.parent(node).map_or("", |parent| tree.name(parent));
        if is_dropped(parent) { 0 } else { tree.text(node).chars().filter(is_word).count() }
    };
    tree.subtree(id).map(of_text).sum()
}

/// Characters of the words below a dropped element; the text of some is markup.
fn words_in(tree: &Tree, id: Id) -> usize {
    let of = |node: Id| {
        let parent = tree.parent(node).map_or("", |parent| tree.name(parent));
        let text = if matches!(parent, "script" | "style") { "" } else { tree.text(node) };
        markup::words(text).chars().filter(|c| c.is_alphanumeric()).count()
    };
    tree.subtree(id).map(of).sum()
}

fn is_links(tree: &Tree, id: Id) -> bool {
    let all = characters(tree, id);
    let links: usize = tree.subtree(id).filter(|&node| tree.name(node) == "a").map(|node| characters(tree, node)).sum();
    all > 0 && links as f64 >= all as f64 * MOSTLY_LINKS
}

/// True for an element that says itself that it is not displayed.
fn is_hidden(tree: &Tree, id: Id) -> bool {
    if tree.attribute(id, "hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found")) {
        return true;
    }
    if tree.attribute(id, "aria-hidden").is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        return true;
    }
    tree.attribute(id, "style").is_some_and(|style| {
        let style: String = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        style.split(';').any(|rule| {
            matches!(rule.trim_end_matches("!important"), "display:none" | "visibility:hidden" | "visibility:collapse")
        })
    })
}

/// What is known about a table.
#[derive(Debug, Default, Clone)]
struct Facts {
    table: Id,
    rows: usize,
    columns: usize,
    in_row: usize,
    longest: usize,
    in_cell: usize,
    has_headings: bool,
    has_blocks: bool,
    has_table: bool,
}

/// The tables that arrange text instead of holding data.
fn arranging(tree: &Tree) -> HashSet<Id> {
    let mut facts: Vec<Facts> = Vec::new();
    // For every node the place in `facts` of the table around it, plus one.
    let mut around = vec![0u32; tree.len()];
    for id in 0..tree.len() as Id {
        let parent = tree.parent(id).map_or(0, |parent| around[parent as usize]);
        around[id as usize] = parent;
        let outer = (parent as usize).checked_sub(1);
        let name = tree.name(id);
        if name == "table" {
            if let Some(outer) = outer {
                facts[outer].has_table = true;
            }
            facts.push(Facts { table: id, ..Facts::default() });
            around[id as usize] = facts.len() as u32;
            continue;
        }
        let Some(table) = outer.and_then(|outer| facts.get_mut(outer)) else { continue };
        match name {
            "" => {
                table.in_cell += tree.text(id).chars().filter(|c| !c.is_whitespace()).count();
                table.longest = table.longest.max(table.in_cell);
            }
            "tr" => (table.rows, table.in_row) = (table.rows + 1, 0),
            "thead" | "caption" => table.has_headings = true,
            _ if is_cell(name) => {
                table.in_row += 1;
                table.columns = table.columns.max(table.in_row);
                table.in_cell = 0;
                let names = name == "th" || ["scope", "headers"].iter().any(|key| tree.attribute(id, key).is_some());
                table.has_headings |= names;
            }
            "hr" | "form" | "section" | "article" | "nav" | "blockquote" | "figure" => table.has_blocks = true,
            _ => table.has_blocks |= heading_level(name).is_some(),
        }
    }
    let arranges = |table: &&Facts| {
        if matches!(role(tree, table.table), "presentation" | "none") {
            return true;
        }
        let is_data = table.has_headings || matches!(role(tree, table.table), "table" | "grid" | "treegrid");
        if is_data && table.columns > 1 {
            return false;
        }
        table.columns < 2 && !(is_data && table.rows > 1)
            || table.has_table
            || table.has_blocks
            || (table.rows < 2 && table.longest > SHORT)
            || table.longest > 2000
    };
    facts.iter().filter(arranges).map(|table| table.table).collect()
}
