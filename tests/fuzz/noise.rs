//! Random choices that a seed repeats (xorshift64*, Vigna 2016).

use std::ops::Range;

/// A generator of choices.
#[derive(Debug, Clone)]
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not begin alike, and zero would stay zero.
        let mut noise = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            noise.next();
        }
        noise
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of a list that is not empty.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// A place in `length` bytes and up to `most` bytes from there, short ones more often than long ones.
    pub(crate) fn block(&mut self, length: usize, most: usize) -> Range<usize> {
        let from = self.below(length);
        let room = (length - from).min(most);
        let bits = (usize::BITS - room.leading_zeros()) as usize;
        let cap = 1usize << (1 + self.below(bits.max(1)));
        from..from + (1 + self.below(cap)).min(room)
    }
}
