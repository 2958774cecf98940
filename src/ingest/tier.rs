//! Rules that choose by document what is searched and how much the model is asked.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::document::{Document, key_of};
use crate::error::{Error, Kind, Result};
use crate::proposition::UnitKind;

/// How much of a document goes to the language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Every sentence.
    #[default]
    Full,
    /// Only sentences that [`needs_rewriting`](crate::proposition::needs_rewriting) says gain from it; the others are kept
    /// verbatim, with their headings.
    Cheap,
}

/// One rule: every condition that it names must hold. What it leaves open follows the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tier {
    /// Pattern that the document's path in the index matches; `*` stays in a folder, `**` does not.
    pub glob: Option<String>,
    /// Entries that its front matter has, compared without case; of a list, one item is enough.
    pub front_matter: BTreeMap<String, String>,
    /// Code points that it has at least.
    pub min_chars: Option<usize>,
    /// Code points that it has at most.
    pub max_chars: Option<usize>,
    /// What is searched; [`UnitKind::Fixed`] is a setting of a whole run only.
    pub unit: Option<UnitKind>,
    /// How much the model is asked.
    pub mode: Option<Effort>,
}

impl Tier {
    fn holds(&self, document: &Document) -> bool {
        let chars = document.text.chars();
        let entry = |key: &str, wanted: &str| {
            let same = |value: &str| value.trim().to_lowercase() == wanted.trim().to_lowercase();
            let key = key_of(key);
            document.metadata.iter().filter(|(name, _)| *name == key).any(|(_, v)| same(v) || v.split(", ").any(same))
        };
        self.min_chars.is_none_or(|min| chars >= min)
            && self.max_chars.is_none_or(|max| chars <= max)
            && self.front_matter.iter().all(|(key, wanted)| entry(key, wanted))
    }
}

/// Rules in order, ready to be asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Tiers(Vec<(Option<GlobMatcher>, Tier)>);

impl Tiers {
    /// Checks the rules.
    pub(super) fn new(tiers: &[Tier]) -> Result<Self> {
        let compile = |(number, tier): (usize, &Tier)| {
            let place = format!("tier {}", number + 1);
            if tier.unit == Some(UnitKind::Fixed) {
                return Err(Error::new(Kind::Usage, "a tier cannot choose this unit")
                    .place(place)
                    .expected("proposition, sentence or section")
                    .found("fixed"));
            }
            if tier.min_chars.zip(tier.max_chars).is_some_and(|(min, max)| min > max) {
                return Err(Error::new(Kind::Usage, "min_chars is above max_chars").place(place));
            }
            let matcher = tier.glob.as_deref().map(|glob| {
                let built = GlobBuilder::new(glob).literal_separator(true).build();
                built.map(|glob| glob.compile_matcher()).map_err(|error| {
                    Error::new(Kind::Usage, "not a path pattern").place(place).found(format!("`{glob}`")).because(error)
                })
            });
            Ok((matcher.transpose()?, tier.clone()))
        };
        Ok(Self(tiers.iter().enumerate().map(compile).collect::<Result<_>>()?))
    }

    /// The first rule that holds for a document.
    pub(super) fn of(&self, document: &Document) -> Option<&Tier> {
        self.0
            .iter()
            .find(|(glob, tier)| glob.as_ref().is_none_or(|glob| glob.is_match(&document.path)) && tier.holds(document))
            .map(|(_, tier)| tier)
    }

    /// The rules as they were given.
    pub(super) fn rules(&self) -> impl Iterator<Item = &Tier> {
        self.0.iter().map(|(_, tier)| tier)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Format;

    fn document(path: &str, text: &str) -> Document {
        Document::from_text(path, text.to_owned(), Format::Markdown)
    }

    #[test]
    fn the_first_rule_whose_conditions_all_hold_decides() {
        let glob = |glob: &str, unit| Tier { glob: Some(glob.into()), unit: Some(unit), ..Tier::default() };
        let typed = Tier {
            front_matter: BTreeMap::from([("Doc-Type".to_owned(), "Manual".to_owned())]),
            mode: Some(Effort::Cheap),
            ..Tier::default()
        };
        let tiers = Tiers::new(&[
            glob("log/*", UnitKind::Section),
            typed,
            Tier { min_chars: Some(20), unit: Some(UnitKind::Sentence), ..glob("**/*.md", UnitKind::Section) },
        ])
        .unwrap();
        let unit = |document: &Document| tiers.of(document).map(|tier| (tier.unit, tier.mode));
        assert_eq!(unit(&document("log/a.md", "x")), Some((Some(UnitKind::Section), None)));
        assert_eq!(unit(&document("log/b/a.md", "x")), None);
        assert_eq!(unit(&document("a.md", "---\ndoc_type: manual\n---\n")), Some((None, Some(Effort::Cheap))));
        assert_eq!(unit(&document("a.md", "---\ndoc-type: [note, manual]\n---\n")), Some((None, Some(Effort::Cheap))));
        assert_eq!(unit(&document("a.md", &"字".repeat(20))), Some((Some(UnitKind::Sentence), None)));
        assert_eq!(unit(&document("a.md", &"字".repeat(19))), None);
    }

    #[test]
    fn faulty_rules_are_named() {
        for (tier, word) in [
            (Tier { glob: Some("a[".into()), ..Tier::default() }, "`a[`"),
            (Tier { unit: Some(UnitKind::Fixed), ..Tier::default() }, "fixed"),
            (Tier { min_chars: Some(2), max_chars: Some(1), ..Tier::default() }, "min_chars"),
        ] {
            let error = Tiers::new(&[Tier::default(), tier]).unwrap_err().to_string();
            assert!(error.contains("tier 2") && error.contains(word), "{error}");
        }
    }
}
