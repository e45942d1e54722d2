//! Frames applied in memory, written as rows and read back.
