//! Writes through the engine, read back through it.
