//! When two names are the same entity.

use crate::proposition::lexis::Folded;

/// The form in which names of entities are compared: without case, width and white space, so that `ＥＲＲ－9801` is
/// `err-9801` and `65 ℃` is `65℃`. Hyphens and other marks stay: `E-01` and `E01` may be two alarms. Empty for a name
/// without a letter or digit.
pub fn entity_key(name: &str) -> String {
    let folded = Folded::new(name);
    if !folded.chars.iter().any(|c| c.is_alphanumeric()) {
        return String::new();
    }
    folded.chars.into_iter().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_width_and_spaces_do_not_matter_and_marks_do() {
        for (a, b) in [("ＥＲＲ－９８０１", " err-9801"), ("65 ℃", "65℃"), ("Automation Runtime", "automationruntime")]
        {
            assert_eq!(entity_key(a), entity_key(b));
        }
        assert_ne!(entity_key("E-01"), entity_key("E01"));
        assert_ne!(entity_key("E-01"), entity_key("E-011"));
        assert_eq!(entity_key(" 　-"), "");
    }
}
