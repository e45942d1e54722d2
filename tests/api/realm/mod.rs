//! The organization as such: mirrors `src/api/realm`.

mod full_members;
mod profile_fields;
mod together;
mod update;
