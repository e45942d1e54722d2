//! The organization: mirrors `src/api/realm`.

mod audit;
mod deactivate;
mod domains;
mod export_consents;
mod exports;
mod full_members;
mod linkifiers;
mod playgrounds;
pub mod profile_fields;
mod test_welcome;
mod together;
mod update;
mod user_defaults;
