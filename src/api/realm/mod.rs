//! The organization as such.

pub mod profile_fields;
pub mod setting_fields;
pub mod update;
