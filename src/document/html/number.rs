//! The numbers of list items as a browser displays them.

/// How an ordered list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Decimal,
    LeadingZero,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
    Chinese,
    None,
}

/// The style that `type` or the style sheet of an element asks for.
pub(super) fn style(kind: Option<&str>, css: Option<&str>) -> Option<Style> {
    let by_css = css.and_then(|css| {
        let css = css.to_ascii_lowercase();
        let value = css.split(';').find_map(|rule| {
            let (key, value) = rule.split_once(':')?;
            matches!(key.trim(), "list-style-type" | "list-style").then(|| value.trim().to_string())
        })?;
        Some(match value.split_whitespace().next()? {
            "decimal" => Style::Decimal,
            "decimal-leading-zero" => Style::LeadingZero,
            "lower-alpha" | "lower-latin" => Style::LowerLetter,
            "upper-alpha" | "upper-latin" => Style::UpperLetter,
            "lower-roman" => Style::LowerRoman,
            "upper-roman" => Style::UpperRoman,
            "none" => Style::None,
            name if name.starts_with("cjk-") || name.contains("-chinese-") => Style::Chinese,
            _ => return None,
        })
    });
    let by_type = || {
        Some(match kind?.trim() {
            "1" => Style::Decimal,
            "a" => Style::LowerLetter,
            "A" => Style::UpperLetter,
            "i" => Style::LowerRoman,
            "I" => Style::UpperRoman,
            _ => return None,
        })
    };
    by_css.or_else(by_type)
}

/// The displayed number with its stop.
pub(super) fn marker(number: i64, style: Style) -> String {
    match style {
        Style::None => String::new(),
        Style::LeadingZero => format!("{number:02}."),
        Style::LowerLetter if number > 0 => format!("{}.", letters(number)),
        Style::UpperLetter if number > 0 => format!("{}.", letters(number).to_uppercase()),
        Style::LowerRoman if (1..4000).contains(&number) => format!("{}.", roman(number)),
        Style::UpperRoman if (1..4000).contains(&number) => format!("{}.", roman(number).to_uppercase()),
        Style::Chinese if (1..100).contains(&number) => format!("{}、", chinese(number)),
        _ => format!("{number}."),
    }
}

fn letters(mut number: i64) -> String {
    let mut out = Vec::new();
    while number > 0 {
        out.push((b'a' + ((number - 1) % 26) as u8) as char);
        number = (number - 1) / 26;
    }
    out.iter().rev().collect()
}

fn roman(mut number: i64) -> String {
    const PARTS: [(i64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut out = String::new();
    for (value, sign) in PARTS {
        while number >= value {
            out.push_str(sign);
            number -= value;
        }
    }
    out
}

fn chinese(number: i64) -> String {
    const DIGITS: [&str; 10] = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    let digit = |n: i64| DIGITS.get(n as usize).copied().unwrap_or_default();
    match number / 10 {
        0 => digit(number).to_string(),
        1 => format!("十{}", digit(number % 10)),
        tens => format!("{}十{}", digit(tens), digit(number % 10)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_displayed() {
        let shown = [
            marker(28, Style::LowerLetter),
            marker(4, Style::UpperRoman),
            marker(0, Style::LowerLetter),
            marker(-1, Style::Decimal),
            marker(12, Style::Chinese),
            marker(7, Style::LeadingZero),
        ];
        assert_eq!(shown, ["ab.", "IV.", "0.", "-1.", "十二、", "07."]);
        assert_eq!(style(Some("A"), None), Some(Style::UpperLetter));
        assert_eq!(style(Some("A"), Some("color:red; list-style: lower-roman inside")), Some(Style::LowerRoman));
        assert_eq!(style(Some("disc"), None), None);
    }
}
