//! Chooses among the encodings of before Unicode.
//!
//! The statistical detector is made for web pages in all languages; on a title of two Chinese characters it may name a
//! Western or Korean encoding. Documents here are Chinese or English first, so its guess is checked against a plain
//! property of Chinese text: nearly all of its characters are on the common half of the character set, which both
//! GB 2312 and Big5 place in a block of its own.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, WINDOWS_1252};

/// Bytes that the detector reads at most.
const SAMPLE: usize = 4 << 20;
/// A single-byte guess other than Western needs this many non-ASCII bytes to be believed.
const ENOUGH: usize = 200;
/// Share of common characters from which bytes are taken for Chinese.
const MOSTLY: f64 = 0.9;

/// What the statistical detector says. GBK is named GB18030, which contains it.
pub(super) fn detected(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(SAMPLE)], true);
    match detector.guess(None, Utf8Detection::Deny) {
        encoding if encoding == GBK => GB18030,
        encoding => encoding,
    }
}

/// The encoding that `bytes` (no UTF-8, no UTF-16), which were `detected` to be in one, are most likely in.
pub(super) fn guess(bytes: &[u8], detected: &'static Encoding) -> &'static Encoding {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let guessed = detected;
    let simplified = share(bytes, GB18030, common_in_gb);
    let traditional = share(bytes, BIG5, common_in_big5);
    if guessed == GB18030 || guessed == BIG5 {
        return if simplified >= MOSTLY && simplified >= traditional {
            // In Big5 the same bytes would have to be common characters as well; then the detector decides.
            if guessed == BIG5 && traditional >= MOSTLY { BIG5 } else { GB18030 }
        } else if traditional >= MOSTLY {
            BIG5
        } else {
            guessed
        };
    }
    if guessed == SHIFT_JIS || guessed == EUC_JP {
        let kana = share(bytes, guessed, |_, c| ('\u{3041}'..='\u{30ff}').contains(&c));
        if kana >= 0.2 {
            return guessed;
        }
    }
    if guessed == EUC_KR && looks_korean(bytes) {
        return guessed;
    }
    if simplified >= MOSTLY {
        return GB18030;
    }
    if traditional >= MOSTLY {
        return BIG5;
    }
    let high = sample.iter().filter(|b| !b.is_ascii()).count();
    if guessed.is_single_byte() && high < ENOUGH { WINDOWS_1252 } else { guessed }
}

/// Share of the non-ASCII characters of `bytes` in `encoding` that are `common`; zero when a byte does not decode.
fn share(bytes: &[u8], encoding: &'static Encoding, common: fn(&[u8], char) -> bool) -> f64 {
    // A sample cut inside a character would count as broken, so the end is given up when the file goes on.
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let (text, broken) = encoding.decode_without_bom_handling(sample);
    if broken && sample.len() == bytes.len() {
        return 0.0;
    }
    let mut buffer = [0u8; 4];
    let (mut total, mut good) = (0usize, 0usize);
    for c in text.chars().filter(|c| !c.is_ascii()) {
        total += 1;
        let (bytes, _, _) = encoding.encode(c.encode_utf8(&mut buffer));
        good += usize::from(common(&bytes, c));
    }
    if total == 0 { 0.0 } else { good as f64 / total as f64 }
}

/// GB 2312: the 3,755 common characters fill the rows 0xB0–0xD7; punctuation and full-width forms the rows 0xA1 and 0xA3.
fn common_in_gb(bytes: &[u8], _: char) -> bool {
    matches!(bytes, [0xb0..=0xd7, 0xa1..=0xfe] | [0xa1 | 0xa3, 0xa1..=0xfe])
}

/// Big5: the 5,401 common characters fill 0xA440–0xC67E; punctuation and full-width forms 0xA140–0xA3BF.
fn common_in_big5(bytes: &[u8], _: char) -> bool {
    matches!(bytes, [0xa1..=0xc6, _])
}

/// Korean is written with spaces between short words and without the Chinese full stop and comma.
fn looks_korean(bytes: &[u8]) -> bool {
    let pairs = bytes.iter().filter(|b| !b.is_ascii()).count() / 2;
    let spaces = bytes.windows(2).filter(|w| !w[0].is_ascii() && w[1] == b' ').count();
    let chinese = bytes.windows(2).filter(|w| matches!(w, [0xa3, 0xac] | [0xa1, 0xa3])).count();
    chinese == 0 && spaces * 6 >= pairs && pairs >= 8
}
