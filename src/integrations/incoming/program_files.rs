//! The files of the program's integrations.

/// Name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/incoming_catalog.rs"));
/// The end of the names of shared macros.
const SHARED_SUFFIX: &str = ".jinja";

/// The macros that every integration can import, by name.
pub fn shared() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied().filter(|(name, _)| name.ends_with(SHARED_SUFFIX))
}

/// The integrations, by the names of their files.
pub fn integrations() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied().filter(|(name, _)| !name.ends_with(SHARED_SUFFIX))
}
