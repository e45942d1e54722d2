//! `GET /` where the web app is installed: the page that starts it (docs/web-app.md).

pub mod conversation;
pub mod desktop;
mod escape;
pub mod page;
pub mod params;
pub mod start;
