//! The organization as such.

pub mod setting_fields;
pub mod update;
