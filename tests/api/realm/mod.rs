//! The organization as such: mirrors `src/api/realm`.

mod full_members;
mod together;
mod update;
