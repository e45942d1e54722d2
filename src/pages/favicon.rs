//! `GET /favicon.ico`: the icon that browsers show beside the titles of this server's pages.

use crate::http::{HandlerResult, Reply};

/// Returns the icon. Browsers ask for it again after a day.
pub async fn serve() -> HandlerResult {
    Ok(Reply::plain("image/x-icon", "public, max-age=86400", include_bytes!("favicon.ico").as_slice()))
}
