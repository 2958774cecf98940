//! Rows and links of a large vector file, read one by one.
//!
//! Pages of a map count as memory of the process once they are touched, and a walk jumps all over the file: a thousand questions
//! touch nearly all of it. A file that is larger than that is worth is read instead: the pages stay with the system, which shares
//! them and gives them away when memory is short, and the process stays small. A read of a row costs about as much as missing
//! the processor's caches a few times; a walk reads some thousands.

use std::cell::RefCell;
use std::fs::File;
use std::io;

use super::format::NONE;
use super::graph::{Lists, Rows};
use crate::compute::similarity::{ByteQuery, ByteRows};

/// Reads exactly `out.len()` bytes at `offset`, from any thread.
pub(super) fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
    }
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < out.len() {
            match std::os::windows::fs::FileExt::seek_read(file, &mut out[done..], offset + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
        Ok(())
    }
}

/// The first read that failed. A walk goes on with zeros and its result is thrown away.
pub(super) type Failure = RefCell<Option<io::Error>>;

fn read_or_note(file: &File, out: &mut [u8], offset: u64, failure: &Failure) {
    if let Err(error) = read_at(file, out, offset) {
        out.fill(0);
        failure.borrow_mut().get_or_insert(error);
    }
}

/// Rows of bytes in a file.
pub(super) struct ScatteredRows<'a> {
    file: &'a File,
    /// Where the first row begins.
    offset: u64,
    stride: usize,
    /// The factor of each row.
    scales: &'a [f32],
    failure: &'a Failure,
    /// Rows and factors of one call.
    room: RefCell<(Vec<i8>, Vec<f32>, Vec<u32>)>,
}

impl<'a> ScatteredRows<'a> {
    pub(super) fn new(file: &'a File, offset: u64, stride: usize, scales: &'a [f32], failure: &'a Failure) -> Self {
        Self { file, offset, stride, scales, failure, room: RefCell::default() }
    }
}

impl Rows for ScatteredRows<'_> {
    fn scores(&self, query: &ByteQuery<'_>, numbers: &[u32], out: &mut [f32]) {
        let (bytes, scales, places) = &mut *self.room.borrow_mut();
        bytes.resize(bytes.len().max(numbers.len() * self.stride), 0);
        scales.clear();
        places.clear();
        for (place, &number) in (0..).zip(numbers) {
            let row: &mut [i8] = &mut bytes[place as usize * self.stride..][..self.stride];
            let offset = self.offset + u64::from(number) * self.stride as u64;
            read_or_note(self.file, bytemuck::cast_slice_mut(row), offset, self.failure);
            scales.push(self.scales.get(number as usize).copied().unwrap_or(0.0));
            places.push(place);
        }
        query.scores(&ByteRows { bytes, stride: self.stride, scales }, places, out);
    }
}

/// Lists of links in a file.
pub(super) struct ScatteredLinks<'a> {
    file: &'a File,
    /// Where the first list begins.
    offset: u64,
    lists: usize,
    capacity: usize,
    failure: &'a Failure,
}

impl<'a> ScatteredLinks<'a> {
    pub(super) fn new(file: &'a File, offset: u64, lists: usize, capacity: usize, failure: &'a Failure) -> Self {
        Self { file, offset, lists, capacity, failure }
    }
}

impl Lists for ScatteredLinks<'_> {
    fn len(&self) -> usize {
        self.lists
    }

    fn of<'s>(&'s self, node: u32, room: &'s mut Vec<u32>) -> &'s [u32] {
        if node as usize >= self.lists {
            return &[];
        }
        room.resize(self.capacity, 0);
        let offset = self.offset + u64::from(node) * (self.capacity * size_of::<u32>()) as u64;
        read_or_note(self.file, bytemuck::cast_slice_mut(room), offset, self.failure);
        &room[..room.iter().position(|&to| to == NONE).unwrap_or(room.len())]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_lies_past_the_end_of_a_file_is_a_failure_that_is_kept() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(64 * 10).unwrap();
        let failure = Failure::default();
        let rows = ScatteredRows::new(&file, 0, 64, &[1.0; 20], &failure);
        let query = [1i8; 64];
        let mut scores = [0f32; 2];
        rows.scores(&ByteQuery::new(&query), &[0, 9], &mut scores);
        assert!(failure.borrow().is_none());
        rows.scores(&ByteQuery::new(&query), &[9, 10], &mut scores);
        assert_eq!(failure.take().map(|error| error.kind()), Some(io::ErrorKind::UnexpectedEof));
        let links = ScatteredLinks::new(&file, 576, 10, 4, &failure);
        let mut room = Vec::new();
        assert_eq!((links.of(3, &mut room).len(), failure.borrow().is_none()), (4, true));
        assert!(links.of(10, &mut room).is_empty() && failure.borrow().is_none());
        links.of(4, &mut room);
        assert!(failure.borrow().is_some());
    }
}
