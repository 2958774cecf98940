//! (room: index)
