//! (room: compute)
