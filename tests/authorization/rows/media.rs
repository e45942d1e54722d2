//! Thumbnails, and uploads that can be resumed. The requests are without the headers of that protocol.

use super::Place::Nowhere;
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        row("GET /user_uploads/thumbnail/{realm_id:int}/{file:rest}", Nowhere, "", "page"),
        row("POST /api/v1/tus", Nowhere, "",                                       "tus"),
        row("POST /api/v1/tus/", Nowhere, "",                                      "tus"),
        row("HEAD /api/v1/tus/{upload_id:text}", Nowhere, "",                      "tus"),
        row("PATCH /api/v1/tus/{upload_id:text}", Nowhere, "",                     "tus"),
        row("DELETE /api/v1/tus/{upload_id:text}", Nowhere, "",                    "tus"),
    ]
}
