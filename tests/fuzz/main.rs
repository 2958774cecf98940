//! Changes small files of every format at random and reads them: no reader may panic, run away with time or memory, or make a
//! document that contradicts itself.
//!
//! Coverage-guided fuzzers need a compiler of their own; this one runs with all other tests. It starts from files that are built
//! here, changes what lies inside archives, packed streams and records as well as the packing, and keeps changing those files
//! whose outcome (the words of an error, or the counts of blocks by kind) is new.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `FUZZ_SECONDS` | seconds for each format, 2 unless set |
//! | `FUZZ_SEED` | where the choices start; the same seed makes the same files |
//! | `FUZZ_REPORT` | a file to which one line per format is added |
//! | `FUZZ_KEEP` | a file that holds the current input at any time, for faults that end the process |
//! | `FUZZ_INPUT` | a file that the test `a_kept_file_is_read_without_fault` reads |
//!
//! A file that fails is kept in `mingti-fuzz` in the folder for temporary files; the message of the test names it.

mod campaign;
mod elements;
mod input;
mod invariants;
mod memory;
mod mutate;
mod noise;
mod pack;
mod seeds;
mod watch;
mod words;

use campaign::{Target, run};
use invariants::Source;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

macro_rules! targets {
    ($($test:ident: $name:literal, $extension:literal, $source:ident, $seeds:path, $words:path;)*) => {$(
        #[test]
        fn $test() {
            run(&Target {
                name: $name,
                extension: $extension,
                source: Source::$source,
                seeds: $seeds(),
                words: $words,
            });
        }
    )*};
}

targets! {
    markdown_of_any_shape_is_read: "markdown", "md", Text, seeds::text::markdown, words::MARKDOWN;
    plain_text_of_any_shape_is_read: "plain text", "txt", Text, seeds::text::plain, words::PLAIN;
    text_in_any_encoding_is_read_or_refused: "encodings", "txt", Text, seeds::text::encodings, words::ENCODINGS;
    restructured_text_of_any_shape_is_read: "rst", "rst", Marked, seeds::text::rst, words::RST;
    html_of_any_shape_is_read: "html", "html", Marked, seeds::text::html, words::HTML;
    csv_of_any_shape_is_read: "csv", "csv", Marked, seeds::text::csv, words::CSV;
    epub_of_any_shape_is_read_or_refused: "epub", "epub", Binary, seeds::office::epub, words::HTML;
    docx_of_any_shape_is_read_or_refused: "docx", "docx", Binary, seeds::office::docx, words::OFFICE;
    pptx_of_any_shape_is_read_or_refused: "pptx", "pptx", Binary, seeds::office::pptx, words::OFFICE;
    xlsx_of_any_shape_is_read_or_refused: "xlsx", "xlsx", Binary, seeds::sheets::xlsx, words::OFFICE;
    ods_of_any_shape_is_read_or_refused: "ods", "ods", Binary, seeds::sheets::ods, words::OFFICE;
    xls_of_any_shape_is_read_or_refused: "xls", "xls", Binary, seeds::sheets::xls, words::WORKBOOK;
    pdf_of_any_shape_is_read_or_refused: "pdf", "pdf", Binary, seeds::pdf::files, words::PDF;
}

#[test]
fn a_kept_file_is_read_without_fault() {
    if let Ok(path) = std::env::var("FUZZ_INPUT") {
        campaign::replay(&path);
    }
}
