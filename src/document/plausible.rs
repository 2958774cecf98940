//! Whether a text in an encoding of before Unicode was read as it was written.
//!
//! Nearly any bytes decode in several of these encodings, and the wrong ones give other characters without an error. What
//! tells them apart is how often the commonest characters of a language occur: some 300 make up half of any Chinese text,
//! and hardly any of a text misread as Chinese. Each encoding is scored by the text that it gives; how far the best is
//! ahead of the next, and over how many characters, is the confidence.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, IBM866, ISO_8859_15, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252,
};

/// Bytes that are scored at most.
const SAMPLE: usize = 64 * 1024;
/// What the guess of the statistical detector adds to a score.
const TRUST: f32 = 0.12;
/// A text that scores below this is none.
const WORST: f32 = 0.1;

/// Encodings that are compared; the guess of the detector comes on top.
const CANDIDATES: [&Encoding; 11] =
    [GB18030, BIG5, SHIFT_JIS, EUC_JP, EUC_KR, WINDOWS_1252, WINDOWS_1251, KOI8_R, IBM866, WINDOWS_1250, ISO_8859_15];

/// Encodings of Latin alphabets.
const LATIN: [&Encoding; 3] = [WINDOWS_1252, WINDOWS_1250, ISO_8859_15];

/// Characters that occur most in Chinese, in simplified and traditional form, with those of technical writing.
const CHINESE: &str = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能\
好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此\
实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听\
世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期\
叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色\
字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候\
七必城父强步完革深区即求品士转量空甲众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找\
設備報警溫壓項號標準維護檢查電機這來國個到說們為時對裡後開無發現進將還過與關體應當從動經長點種間問業東學見門請給處總場師書\
員話實聲難車許請讓認論術結連遠資帶條變聯權領傳決達運辦語輕轉極收錢務題統觀單導線級組織統測試驗調節規範圍確認產廠製輸質僅須並將\
设备报警温压项号标准维护检查泵阀油线级组测试验调节规范围确认厂制输质仅须操作使系单图序参默选择按键停止启断故障错误换装置示型";

/// Syllables that occur most in Korean.
const KOREAN: &str = "이다는을의에가로하고은를지한기사도서자어시대인해있아리정나라일수그전제조게여부스보들것상주만원으면성위장과와적공동\
안연구선되내경우신용생관중개무유소회세모비산교오방마물양반진행학문계발드요타력품식작설치본입분법체결";

/// True for a character that occurs often in Chinese.
pub(super) fn is_frequent(c: char) -> bool {
    CHINESE.contains(c)
}

/// The encoding that makes the most plausible text of `bytes`, and how sure that is; `None` when no text is plausible.
/// `detected` is what the statistical detector says, `guess` what is made of it.
pub(super) fn best(
    bytes: &[u8],
    guess: &'static Encoding,
    detected: &'static Encoding,
) -> Option<(&'static Encoding, f32)> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let mut scored: Vec<(f32, &'static Encoding, String)> = Vec::new();
    let others = CANDIDATES.into_iter().filter(|&encoding| encoding != guess);
    for encoding in std::iter::once(guess).chain(others) {
        let (text, broken) = encoding.decode_without_bom_handling(sample);
        // The end of a sample may be half a character.
        let lost = if broken { text.matches('\u{fffd}').count() } else { 0 };
        if lost > usize::from(sample.len() < bytes.len()) {
            continue;
        }
        let score = score(&text, encoding) + if encoding == guess { TRUST } else { 0.0 };
        scored.push((score, encoding, text.into_owned()));
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (first, encoding, text) = scored.first()?;
    if *first < WORST {
        return None;
    }
    // Encodings that give the same text do not compete, nor do those of other Latin alphabets with the detected one: which
    // accents a language has is what the detector was trained to tell.
    let is_latin = |encoding: &'static Encoding| LATIN.contains(&encoding);
    let is_rival = |(_, other, other_text): &&(f32, &'static Encoding, String)| {
        let are_kin = *encoding == detected && is_latin(encoding) && is_latin(other);
        !are_kin && !is_nearly(text, other_text)
    };
    let second = scored.iter().skip(1).find(is_rival).map_or(-0.5, |(score, _, _)| *score);
    let high = text.chars().filter(|c| !c.is_ascii()).count() as f32;
    let margin = (first - second.max(0.0)).max(0.0);
    let confidence = (margin * 1.6 * high / (high + 4.0)).min(first.max(0.0)).clamp(0.0, 0.95);
    let is_western = *encoding == WINDOWS_1252 && has_latin9(sample);
    Some((if is_western { ISO_8859_15 } else { encoding }, confidence))
}

/// True for Western text with characters of ISO 8859-15 that are other ones in windows-1252: a euro before or behind an
/// amount instead of a currency sign, œ and the like within a word instead of a fraction or an accent alone.
fn has_latin9(bytes: &[u8]) -> bool {
    if bytes.iter().any(|byte| (0x80..0xa0).contains(byte)) {
        return false;
    }
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte >= 0xc0;
    bytes.windows(3).any(|window| {
        let [before, byte, after] = [window[0], window[1], window[2]];
        match byte {
            0xa4 => before.is_ascii_digit() || after.is_ascii_digit() || (before == b' ' && !is_letter(after)),
            0xa6 | 0xa8 | 0xb4 | 0xb8 | 0xbc | 0xbd => {
                is_letter(before) && is_letter(after) || before == b' ' && after.is_ascii_lowercase()
            }
            _ => false,
        }
    })
}

/// True for texts that differ in symbols only.
fn is_nearly(one: &str, other: &str) -> bool {
    one.chars().count() == other.chars().count()
        && one.chars().zip(other.chars()).all(|(a, b)| a == b || !(a.is_alphabetic() && b.is_alphabetic()))
}

/// How much `text` looks like what is written in `encoding`: about 0.6 and more for a text, about 0.3 and less for a
/// misreading.
fn score(text: &str, encoding: &'static Encoding) -> f32 {
    let (mut sum, mut count) = (0.0f32, 0usize);
    let mut kana = 0usize;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        if !c.is_ascii() {
            count += 1;
            kana += usize::from(matches!(c, '\u{3041}'..='\u{30fe}'));
            sum += weight(before, c, after, encoding);
        }
        before = c;
    }
    let score = sum / count.max(1) as f32;
    let is_japanese = encoding == SHIFT_JIS || encoding == EUC_JP;
    if is_japanese && kana * 6 < count { score * 0.4 } else { score }
}

fn weight(before: char, c: char, after: char, encoding: &'static Encoding) -> f32 {
    let is_east = [GB18030, BIG5, SHIFT_JIS, EUC_JP, EUC_KR].contains(&encoding);
    let is_korean = encoding == EUC_KR;
    match c {
        '\u{80}'..='\u{9f}' | '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => -2.0,
        '，' | '。' | '、' | '：' | '；' | '（' | '）' | '“' | '”' | '「' | '」' if is_east && !is_korean => {
            0.8
        }
        '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' if is_east => 0.4,
        '\u{ff61}'..='\u{ff9f}' => -0.4,
        '\u{3041}'..='\u{3096}' => {
            if encoding == SHIFT_JIS || encoding == EUC_JP {
                0.9
            } else {
                0.1
            }
        }
        '\u{30a1}'..='\u{30fe}' => {
            if encoding == SHIFT_JIS || encoding == EUC_JP {
                0.8
            } else {
                0.1
            }
        }
        '\u{ac00}'..='\u{d7a3}' if is_korean => {
            if KOREAN.contains(c) {
                1.0
            } else {
                0.35
            }
        }
        '\u{3400}'..='\u{9fff}' if is_korean => 0.0,
        '\u{3400}'..='\u{9fff}' => {
            if is_frequent(c) {
                1.0
            } else {
                hanzi(c, encoding)
            }
        }
        '\u{20000}'..='\u{3ffff}' => -0.2,
        '\u{400}'..='\u{45f}' if is_east => -0.3,
        '\u{400}'..='\u{45f}' => cyrillic(before, c, after),
        '\u{2500}'..='\u{259f}' => -0.5,
        _ if is_east => -0.1,
        '’' | '‘' | '“' | '”' | '–' | '—' | '…' | '«' | '»' | '°' | '§' | '©' | '®' | '€' | '·' | '\u{a0}' | '№'
        | '²' | '³' | '±' | '×' | 'µ' => {
            if c == '\u{a0}' || is_at_border(before, after) {
                0.5
            } else {
                -0.3
            }
        }
        _ if c.is_alphabetic() => letter(before, c, after),
        _ => -0.5,
    }
}

/// A character that is not among the most frequent ones: those of the common half of its character set are likelier.
fn hanzi(c: char, encoding: &'static Encoding) -> f32 {
    let mut buffer = [0u8; 4];
    let (bytes, _, _) = encoding.encode(c.encode_utf8(&mut buffer));
    let is_common = match &*bytes {
        [first, _] if encoding == GB18030 => (0xb0..=0xd7).contains(first),
        [first, _] if encoding == BIG5 => (0xa4..=0xc6).contains(first),
        [first, _] if encoding == SHIFT_JIS => (0x88..=0x98).contains(first),
        [first, _] if encoding == EUC_JP => (0xb0..=0xcf).contains(first),
        _ => false,
    };
    if is_common { 0.35 } else { -0.15 }
}

/// Signs of typography stand beside words or between them, never in them.
fn is_at_border(before: char, after: char) -> bool {
    !(before.is_alphabetic() && after.is_alphabetic()) || before.is_ascii() && after.is_ascii()
}

fn cyrillic(before: char, c: char, after: char) -> f32 {
    let is_cyrillic = |c: char| ('\u{400}'..='\u{45f}').contains(&c);
    if before.is_ascii_alphabetic() || after.is_ascii_alphabetic() {
        return -0.5;
    }
    if c.is_uppercase() {
        return match (is_cyrillic(before), before.is_lowercase(), after.is_lowercase()) {
            (true, true, _) => -0.8,
            (true, false, true) => -0.2,
            _ => 0.5,
        };
    }
    match c {
        'о' | 'е' | 'а' | 'и' | 'н' | 'т' | 'с' | 'р' | 'в' | 'л' | 'к' => 1.0,
        'ъ' | 'ё' | 'щ' | 'э' | 'ф' | 'ц' => 0.2,
        'а'..='я' => 0.6,
        _ => -0.2,
    }
}

/// A letter with an accent stands among plain ones.
fn letter(before: char, c: char, after: char) -> f32 {
    let beside = |c: char| c.is_ascii_alphabetic();
    if before.is_ascii() && after.is_ascii() && (beside(before) || beside(after)) {
        let shouts = c.is_uppercase() && before.is_ascii_lowercase();
        return if shouts {
            -0.5
        } else if c.is_lowercase() {
            0.8
        } else {
            0.5
        };
    }
    if !before.is_ascii() && before.is_alphabetic() || !after.is_ascii() && after.is_alphabetic() { -0.2 } else { 0.3 }
}

/// A word on characters that a text which was read as it was written does not hold.
pub(super) fn oddity(text: &str) -> Option<String> {
    let mut odd = 0usize;
    let mut all = 0usize;
    for c in text.chars().filter(|c| !c.is_ascii()) {
        all += 1;
        odd += usize::from(matches!(c, '\u{80}'..='\u{9f}' | '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..));
    }
    (odd > 0 && odd * 100 > all)
        .then(|| format!("{odd} of {all} characters are controls or private ones; the encoding may be another one"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn right_readings_score_high_and_misreadings_low() {
        for (text, encoding) in [
            ("设备应当可靠接地，并在开机前进行检查。", GB18030),
            ("設備應當可靠接地，並在開機前進行檢查。", BIG5),
            ("機械の温度が高すぎる場合は、電源を切ってください。", SHIFT_JIS),
            ("기계의 온도가 너무 높으면 전원을 끄고 점검하십시오.", EUC_KR),
            ("Если температура слишком высокая, отключите питание.", WINDOWS_1251),
            ("Если температура слишком высокая, отключите питание.", KOI8_R),
            ("Überprüfen Sie die Gerätespannung vor dem Öffnen.", WINDOWS_1252),
        ] {
            let bytes = encoding.encode(text).0.into_owned();
            let (found, confidence) = best(&bytes, WINDOWS_1252, WINDOWS_1252).unwrap();
            assert_eq!(found, encoding, "{text}");
            assert!(confidence > 0.2, "{text} {confidence}");
        }
    }

    #[test]
    fn control_and_private_characters_are_odd() {
        assert!(oddity("温\u{e123}度").is_some() && oddity("a\u{92}b").is_some() && oddity("温度").is_none());
    }
}
