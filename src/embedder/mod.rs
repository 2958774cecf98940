//! (room: embedder)
