//! What a page says about itself: title, date and author.

use super::tree::{Id, Tree};
use crate::document::collapse;
use crate::document::notation::Notation;

/// Signs between the title of a page and the name of its site.
const BETWEEN: [&str; 9] = [" - ", " – ", " — ", " | ", " · ", " :: ", " « ", "_", "-"];

/// Names of `<meta>` entries and the keys that they are kept under, the most telling first.
const ENTRIES: &[(&str, &str)] = &[
    ("article:modified_time", "last_modified"),
    ("og:updated_time", "last_modified"),
    ("last-modified", "last_modified"),
    ("dcterms.modified", "last_modified"),
    ("datemodified", "last_modified"),
    ("revised", "revised"),
    ("article:published_time", "published"),
    ("datepublished", "published"),
    ("pubdate", "published"),
    ("dcterms.issued", "published"),
    ("dc.date.issued", "published"),
    ("dc.date", "date"),
    ("dcterms.date", "date"),
    ("date", "date"),
    ("author", "author"),
    ("dc.creator", "author"),
    ("keywords", "keywords"),
    ("description", "description"),
];

/// Writes title and entries. Headings in parts that are left out give no title.
pub(super) fn write(tree: &Tree, is_left_out: impl Fn(Id) -> bool, notation: &mut Notation) {
    let (mut title, mut heading, mut shared) = (None, None, None);
    let mut entries: Vec<Option<String>> = vec![None; ENTRIES.len()];
    for id in 0..tree.len() as Id {
        match tree.name(id) {
            "title" if title.is_none() && !in_drawing(tree, id) => {
                title = Some(tree.words(id)).filter(|t| !t.is_empty())
            }
            "h1" if heading.is_none() && !lies_in(tree, id, &is_left_out) => {
                heading = Some(without_anchor(&tree.words(id))).filter(|h| !h.is_empty());
            }
            "meta" => {
                let key = ["property", "name", "http-equiv"].iter().find_map(|key| tree.attribute(id, key));
                let key = key.unwrap_or_default().trim().to_ascii_lowercase();
                let value = collapse(tree.attribute(id, "content").unwrap_or_default());
                if key == "og:title" && shared.is_none() && !value.is_empty() {
                    shared = Some(value);
                } else if let Some(at) = ENTRIES.iter().position(|(name, _)| *name == key)
                    && !value.is_empty()
                {
                    entries[at].get_or_insert(value);
                }
            }
            _ => {}
        }
    }
    if let Some(title) = choose(title, heading, shared) {
        notation.title(&title);
    }
    let mut written: Vec<&str> = Vec::new();
    for ((_, key), value) in ENTRIES.iter().zip(entries) {
        if let Some(value) = value.filter(|_| !written.contains(key)) {
            notation.metadata(key, &value);
            written.push(key);
        }
    }
}

/// The `<title>` without the name of the site, if the first heading shows where that begins.
fn choose(title: Option<String>, heading: Option<String>, shared: Option<String>) -> Option<String> {
    if let (Some(title), Some(heading)) = (&title, &heading) {
        let rest = title.strip_prefix(heading.as_str());
        if rest.is_some_and(|rest| BETWEEN.iter().any(|sign| rest.starts_with(sign))) {
            return Some(heading.clone());
        }
    }
    title.or(heading).or(shared)
}

/// A heading without the sign that links to it.
fn without_anchor(heading: &str) -> String {
    heading.trim_end_matches(['¶', '#', '§', ' ', '\u{200b}', '\u{f0c1}', '🔗']).to_string()
}

fn in_drawing(tree: &Tree, id: Id) -> bool {
    tree.parent(id).is_some_and(|parent| tree.name(parent) == "svg")
}

fn lies_in(tree: &Tree, id: Id, test: impl Fn(Id) -> bool) -> bool {
    std::iter::successors(Some(id), |&id| tree.parent(id)).any(test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_tells_where_the_name_of_the_site_begins() {
        let some = |text: &str| Some(text.to_string());
        assert_eq!(choose(some("泵 | 手册"), some("泵"), None), some("泵"));
        assert_eq!(choose(some("泵站"), some("泵"), None), some("泵站"));
        assert_eq!(choose(None, None, some("泵")), some("泵"));
    }
}
