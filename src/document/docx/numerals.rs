//! Numbers as automatic numbering shows them (`ST_NumberFormat`, ISO/IEC 29500-1, 17.18.59).

/// Digits and units of a way to write numbers in Chinese characters.
struct Counting {
    digits: [char; 10],
    /// Ten, hundred, thousand.
    units: [char; 3],
    myriad: char,
    /// A gap between digits is filled with the zero.
    zeros: bool,
    one: One,
}

/// When the digit one is written before a unit.
#[derive(PartialEq)]
enum One {
    Always,
    /// Not before the ten of 10 to 19.
    NotInTeens,
    Never,
}

const SIMPLE: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
const CHINESE: Counting = Counting {
    digits: ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'],
    units: ['十', '百', '千'],
    myriad: '万',
    zeros: true,
    one: One::NotInTeens,
};
const TAIWANESE: Counting = Counting { myriad: '萬', ..CHINESE };
const JAPANESE: Counting = Counting { zeros: false, one: One::Never, ..CHINESE };
const LEGAL_SIMPLIFIED: Counting = Counting {
    digits: ['零', '壹', '贰', '叁', '肆', '伍', '陆', '柒', '捌', '玖'],
    units: ['拾', '佰', '仟'],
    one: One::Always,
    ..CHINESE
};
const LEGAL_TRADITIONAL: Counting = Counting {
    digits: ['零', '壹', '貳', '參', '肆', '伍', '陸', '柒', '捌', '玖'],
    units: ['拾', '佰', '仟'],
    myriad: '萬',
    zeros: true,
    one: One::Always,
};
const LEGAL_JAPANESE: Counting = Counting {
    digits: ['零', '壱', '弐', '参', '四', '伍', '六', '七', '八', '九'],
    units: ['拾', '百', '阡'],
    myriad: '萬',
    zeros: false,
    one: One::Always,
};

/// `number` in the format of this name; decimal where the name is unknown. `custom` is the pattern of the format `custom`,
/// such as `001, 002, 003, ...`.
pub(crate) fn write(format: &str, custom: Option<&str>, number: i64) -> String {
    let n = usize::try_from(number).unwrap_or(0);
    let of = |set: &str| n.checked_sub(1).and_then(|at| set.chars().nth(at)).map(String::from);
    let from = |first: char, count: usize| {
        let offset = n.checked_sub(1).filter(|&offset| offset < count)?;
        char::from_u32(first as u32 + offset as u32).map(String::from)
    };
    let special = match format {
        "none" | "bullet" => Some(String::new()),
        "decimalZero" => Some(format!("{number:02}")),
        "custom" => custom.map(|pattern| padded(pattern, number)),
        "upperRoman" => roman(n).map(|roman| roman.to_uppercase()),
        "lowerRoman" => roman(n),
        "upperLetter" => letters(n, 'A', 26),
        "lowerLetter" => letters(n, 'a', 26),
        "russianUpper" => letters_of(n, "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЭЮЯ"),
        "russianLower" => letters_of(n, "абвгдежзиклмнопрстуфхцчшщэюя"),
        "ordinal" => Some(ordinal(n)),
        "hex" => Some(format!("{n:X}")),
        "chicago" => n.checked_sub(1).and_then(|at| Some("*†‡§".chars().nth(at % 4)?.to_string().repeat(at / 4 + 1))),
        "numberInDash" => Some(format!("- {number} -")),
        "decimalFullWidth" | "decimalFullWidth2" => {
            Some(digits(n, ['０', '１', '２', '３', '４', '５', '６', '７', '８', '９']))
        }
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => circled(n),
        "decimalEnclosedFullstop" => from('⒈', 20),
        "decimalEnclosedParen" => from('⑴', 20),
        "ideographEnclosedCircle" => from('㊀', 10),
        "ideographTraditional" => of("甲乙丙丁戊己庚辛壬癸"),
        "ideographZodiac" => of("子丑寅卯辰巳午未申酉戌亥"),
        "ideographZodiacTraditional" => zodiac(n),
        "ideographDigital" | "japaneseDigitalTenThousand" | "koreanDigital2" | "taiwaneseDigital" => {
            Some(digits(n, SIMPLE))
        }
        "chineseCounting" | "taiwaneseCounting" if n >= 100 => Some(digits(n, SIMPLE).replace('〇', "○")),
        "chineseCounting" | "taiwaneseCounting" | "chineseCountingThousand" => counting(n, &CHINESE),
        "taiwaneseCountingThousand" => counting(n, &TAIWANESE),
        "koreanDigital" => Some(digits(n, ['영', '일', '이', '삼', '사', '오', '육', '칠', '팔', '구'])),
        "japaneseCounting" => counting(n, &JAPANESE),
        "chineseLegalSimplified" => counting(n, &LEGAL_SIMPLIFIED),
        "ideographLegalTraditional" => counting(n, &LEGAL_TRADITIONAL),
        "japaneseLegal" => counting(n, &LEGAL_JAPANESE),
        "ganada" => of("가나다라마바사아자차카타파하"),
        "chosung" => of("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
        "aiueo" | "aiueoFullWidth" => {
            of("アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン")
        }
        "iroha" | "irohaFullWidth" => {
            of("イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン")
        }
        _ => None,
    };
    special.unwrap_or_else(|| number.to_string())
}

/// A circled number, up to the 50 that there are.
pub(super) fn circled(n: usize) -> Option<String> {
    let (first, offset) = match n {
        0 => return Some('⓪'.to_string()),
        1..=20 => ('①', n - 1),
        21..=35 => ('㉑', n - 21),
        36..=50 => ('㊱', n - 36),
        _ => return None,
    };
    char::from_u32(first as u32 + offset as u32).map(String::from)
}

fn padded(pattern: &str, number: i64) -> String {
    let width = pattern.chars().take_while(char::is_ascii_digit).count();
    format!("{number:0width$}", width = width.min(20))
}

fn digits(n: usize, set: [char; 10]) -> String {
    n.to_string().bytes().filter_map(|b| set.get(usize::from(b - b'0'))).collect()
}

/// a to z, then aa, bb and so on.
fn letters(n: usize, first: char, count: usize) -> Option<String> {
    let at = n.checked_sub(1)?;
    let letter = char::from_u32(first as u32 + (at % count) as u32)?;
    (at / count < 100).then(|| letter.to_string().repeat(at / count + 1))
}

fn letters_of(n: usize, set: &str) -> Option<String> {
    let (at, count) = (n.checked_sub(1)?, set.chars().count());
    let letter = set.chars().nth(at % count)?;
    (at / count < 100).then(|| letter.to_string().repeat(at / count + 1))
}

fn roman(mut n: usize) -> Option<String> {
    const VALUES: &[(usize, &str)] = &[
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
    if !(1..=32_767).contains(&n) {
        return None;
    }
    let mut out = String::new();
    for &(value, text) in VALUES {
        while n >= value {
            out.push_str(text);
            n -= value;
        }
    }
    Some(out)
}

fn ordinal(n: usize) -> String {
    let end = match (n % 100, n % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

fn zodiac(n: usize) -> Option<String> {
    let at = n.checked_sub(1).filter(|&at| at < 60)?;
    let stem = "甲乙丙丁戊己庚辛壬癸".chars().nth(at % 10)?;
    let branch = "子丑寅卯辰巳午未申酉戌亥".chars().nth(at % 12)?;
    Some(format!("{stem}{branch}"))
}

fn counting(n: usize, way: &Counting) -> Option<String> {
    if n >= 100_000_000 {
        return None;
    }
    if n == 0 {
        return way.digits.first().map(|zero| zero.to_string());
    }
    let (high, low) = (n / 10_000, n % 10_000);
    let mut out = String::new();
    if high > 0 {
        out.push_str(&below_myriad(high, way, true));
        out.push(way.myriad);
        if low > 0 && low < 1000 && way.zeros {
            out.extend(way.digits.first());
        }
    }
    out.push_str(&below_myriad(low, way, high == 0));
    Some(out)
}

fn below_myriad(n: usize, way: &Counting, is_first: bool) -> String {
    let mut out = String::new();
    let mut gap = false;
    for place in (0..4u32).rev() {
        let digit = n / 10usize.pow(place) % 10;
        if digit == 0 {
            gap = !out.is_empty();
            continue;
        }
        if gap && way.zeros {
            out.extend(way.digits.first());
        }
        gap = false;
        let teens = place == 1 && out.is_empty() && is_first && n < 20;
        let without = digit == 1 && place > 0 && (way.one == One::Never || way.one == One::NotInTeens && teens);
        if !without {
            out.extend(way.digits.get(digit));
        }
        if let Some(unit) = place.checked_sub(1).and_then(|at| way.units.get(at as usize)) {
            out.push(*unit);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_word_shows_them() {
        for (format, number, expected) in [
            ("decimal", 12, "12"),
            ("decimalZero", 7, "07"),
            ("decimalZero", 10, "10"),
            ("chineseCounting", 10, "十"),
            ("chineseCounting", 21, "二十一"),
            ("chineseCounting", 100, "一○○"),
            ("chineseCountingThousand", 12, "十二"),
            ("chineseCountingThousand", 101, "一百零一"),
            ("chineseCountingThousand", 110, "一百一十"),
            ("chineseCountingThousand", 115, "一百一十五"),
            ("chineseCountingThousand", 1260, "一千二百六十"),
            ("chineseCountingThousand", 1005, "一千零五"),
            ("chineseCountingThousand", 10_010, "一万零一十"),
            ("taiwaneseCountingThousand", 20_000, "二萬"),
            ("japaneseCounting", 10, "十"),
            ("japaneseCounting", 111, "百十一"),
            ("ideographTraditional", 3, "丙"),
            ("ideographTraditional", 11, "11"),
            ("ideographZodiacTraditional", 13, "丙子"),
            ("ideographDigital", 10, "一〇"),
            ("chineseLegalSimplified", 16, "壹拾陆"),
            ("upperLetter", 27, "AA"),
            ("lowerLetter", 52, "zz"),
            ("lowerRoman", 14, "xiv"),
            ("upperRoman", 1999, "MCMXCIX"),
            ("decimalEnclosedCircle", 20, "⑳"),
            ("decimalEnclosedCircleChinese", 10, "⑩"),
            ("decimalFullWidth", 10, "１０"),
            ("decimalEnclosedParen", 2, "⑵"),
            ("ordinal", 112, "112th"),
            ("none", 3, ""),
            ("neverHeardOf", 3, "3"),
            ("upperRoman", -1, "-1"),
        ] {
            assert_eq!(write(format, None, number), expected, "{format} {number}");
        }
        assert_eq!(write("custom", Some("001, 002, 003, ..."), 12), "012");
    }
}
