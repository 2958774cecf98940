//! Room for arrays that a walk jumps about in.
//!
//! In pages of 4 KB almost every row of an array of gigabytes costs a look into the page tables, which are then too large for the
//! processor's caches themselves. Systems that have pages of 2 MB are asked for them.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

use crate::error::{Error, Kind, Result};

/// An array of zeroes that lies in large pages where the system has them.
#[derive(Debug)]
pub(super) struct Room<T> {
    map: MmapMut,
    len: usize,
    of: PhantomData<T>,
}

impl<T: bytemuck::Pod> Room<T> {
    /// Room for `len` values.
    ///
    /// # Errors
    /// When there is not so much memory.
    pub(super) fn new(len: usize) -> Result<Self> {
        let too_large = || Error::new(Kind::Io, "not enough memory for the index").found(format!("{len} values"));
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let map = MmapMut::map_anon(bytes.max(1)).map_err(|error| too_large().because(error))?;
        // Without large pages the array is the same, only slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self { map, len, of: PhantomData })
    }

    /// Leaves the first `len` values.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<T: bytemuck::Pod> Deref for Room<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[..self.len * size_of::<T>()])
    }
}

impl<T: bytemuck::Pod> DerefMut for Room<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.map[..self.len * size_of::<T>()])
    }
}
