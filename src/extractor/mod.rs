//! (room: extractor)
