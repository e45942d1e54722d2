//! The answer to `OPTIONS`: the methods of a path, and what pages of other origins may send.

use super::app::App;
use super::origins::Readers;
use super::router::RouteMatch;
use actix_web::HttpResponse;
use actix_web::http::header;

/// Answers a preflight request, or any other one that asks for the methods of a path.
pub fn options(app: &App, found: &RouteMatch<'_>, readers: &Readers) -> HttpResponse {
    let methods = found.methods().join(", ");
    let mut response = HttpResponse::NoContent();
    response.insert_header((header::ALLOW, methods.clone()));
    if readers.has_others() {
        // For pages of other origins, which send a preflight request.
        response.insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, methods));
        response.insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization"));
    }
    if let Some(protocol) = found.first().and_then(|route| route.protocol) {
        for header in (protocol.options)(app) {
            response.insert_header(header);
        }
    }
    response.finish()
}
