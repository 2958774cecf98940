//! A file in the making: its parts as they are before they are packed, so that mutations reach what lies inside archives, packed
//! streams and records and not only the packing.

use crate::pack;

/// What a part is to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    /// The bytes as they stand.
    Bytes,
    /// An entry of an archive, by its name.
    Entry(String),
    /// A value of a PDF file; it gets the next number.
    Object,
    /// The data of the object before it, which is a dictionary.
    Stream,
    /// The trailer of a PDF file.
    Trailer,
    /// A record of a workbook, by its kind.
    Record(u16),
}

/// A piece of a file.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) role: Role,
    pub(crate) bytes: Vec<u8>,
}

/// How the parts become a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// One after the other.
    Plain,
    /// Entries of a ZIP archive.
    Zip,
    /// Objects with a table of their places.
    Pdf,
    /// Records of a stream `Workbook` in a compound file.
    Workbook,
}

/// A file in the making.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) packing: Packing,
    pub(crate) parts: Vec<Part>,
}

impl Input {
    /// A file that is not packed.
    pub(crate) fn plain(bytes: impl Into<Vec<u8>>) -> Self {
        Self { packing: Packing::Plain, parts: vec![Part { role: Role::Bytes, bytes: bytes.into() }] }
    }

    /// An archive of these entries.
    pub(crate) fn zip(entries: &[(&str, &str)]) -> Self {
        let part =
            |(name, text): &(&str, &str)| Part { role: Role::Entry(name.to_string()), bytes: text.as_bytes().to_vec() };
        Self { packing: Packing::Zip, parts: entries.iter().map(part).collect() }
    }

    /// Bytes of all parts.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.bytes.len()).sum()
    }

    /// The file.
    pub(crate) fn pack(&self) -> Vec<u8> {
        match self.packing {
            Packing::Plain => self.parts.iter().flat_map(|part| part.bytes.iter().copied()).collect(),
            Packing::Zip => pack::zip(&self.parts),
            Packing::Pdf => pack::pdf(&self.parts),
            Packing::Workbook => pack::compound("Workbook", &pack::records(&self.parts)),
        }
    }
}
