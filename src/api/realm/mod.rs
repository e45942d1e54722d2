//! Settings and lists of the organization.

pub mod audit;
pub mod deactivate;
pub mod domains;
pub mod export_consents;
pub mod export_file;
pub mod exports;
pub mod linkifiers;
pub mod playgrounds;
pub mod profile_fields;
pub mod setting_fields;
pub mod test_welcome;
pub mod update;
pub mod user_defaults;
