//! Uploaded files. Who may read a file is tried in `files`; the paths here name none.

use super::Place::Nowhere;
use super::{Row, open, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        row("POST /api/v1/user_uploads", Nowhere, "",                            "nofile"),
        row("GET /api/v1/user_uploads/{realm_id:int}/{file:rest}", Nowhere, "",  "page"),
        row("GET /user_uploads/{realm_id:int}/{file:rest}", Nowhere, "",         "page"),
        row("GET /user_uploads/download/{realm_id:int}/{file:rest}", Nowhere, "", "page"),
        open("GET /user_uploads/temporary/{token:text}/{name:rest}", "",         "badurl"),
        row("GET /api/v1/attachments", Nowhere, "",                              "ok"),
        row("DELETE /api/v1/attachments/{attachment_id:int}", Nowhere, "",       "nofil"),
    ]
}
