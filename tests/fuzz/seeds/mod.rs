//! Files to start from, small and with as much of their format as fits.
//!
//! Most are built here. `plain.pdf`, `locked.pdf` (which may be opened but not changed) and `book.xls` are what LibreOffice makes of
//! a document of a few words of ours, and `font.ttf` and `font.cff` are fonts of three triangles.

pub(crate) mod office;
pub(crate) mod pdf;
pub(crate) mod sheets;
pub(crate) mod text;
