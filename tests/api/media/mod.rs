//! Thumbnails and previews of uploaded files.

mod previews;
mod thumbnails;
