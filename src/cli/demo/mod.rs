//! The manual that is built into the binary: two invented machines, one in Chinese, one in English.
//!
//! It holds what makes such manuals hard: alarms that differ in one digit, and sentences whose subject stands only in
//! an earlier sentence or in the heading.

/// A document of the manual.
pub(crate) struct Page {
    /// File name.
    pub(crate) name: &'static str,
    /// Markdown.
    pub(crate) text: &'static str,
}

/// The manual.
pub(crate) const MANUAL: [Page; 2] = [
    Page { name: "xh-500.zh.md", text: include_str!("xh-500.zh.md") },
    Page { name: "bx-9000.en.md", text: include_str!("bx-9000.en.md") },
];

/// Questions, and why each is worth asking.
pub(crate) const QUESTIONS: [(&str, &str); 3] = [
    ("冷却器多久清洗一次？", "the sentence says 该设备; only the heading says 冷却器"),
    ("ERR-9802", "a fault code among its neighbours"),
    ("When may I switch off the coolant pump?", "two languages in one index"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_leaves_the_subject_of_the_first_answer_to_the_heading() {
        let section = MANUAL[0].text.split("### ").find(|section| section.starts_with("2.3 冷却器"));
        let answer = section.and_then(|section| section.lines().nth(2)).and_then(|line| line.split('。').next());
        assert!(answer.is_some_and(|answer| answer.contains("3 个月清洗") && !answer.contains("冷却器")), "{answer:?}");
    }
}
