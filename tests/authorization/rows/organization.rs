//! Lists of the organization that administrators edit, and its deactivation.

use super::Place::Nowhere;
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/realm/domains", Nowhere, "",                            "ok"),
        row("POST /api/v1/realm/domains", Nowhere, "domain=d{number}.example",   "owner owner  owner  owner  owner  ok     owner  owner"),
        row("PATCH /api/v1/realm/domains/{domain:text}", Nowhere, "",            "owner owner  owner  owner  owner  domain owner  owner"),
        row("DELETE /api/v1/realm/domains/{domain:text}", Nowhere, "",           "owner owner  owner  owner  owner  domain owner  owner"),

        row("GET /api/v1/realm/linkifiers", Nowhere, "",                         "ok"),
        row("POST /api/v1/realm/filters", Nowhere, "pattern=x{number} url_template=https://x.example/",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
        row("PATCH /api/v1/realm/linkifiers", Nowhere, "ordered_linkifier_ids=[99999]",
                                                                                 "admin admin  admin  admin  order  order  admin  admin"),
        row("PATCH /api/v1/realm/filters/{filter_id:int}", Nowhere, "pattern=x url_template=https://x.example/",
                                                                                 "admin admin  admin  admin  linkif linkif admin  admin"),
        row("DELETE /api/v1/realm/filters/{filter_id:int}", Nowhere, "",         "admin admin  admin  admin  linkif linkif admin  admin"),

        row("POST /api/v1/realm/playgrounds", Nowhere, "name=n{number} pygments_language=C url_template=https://x.example/{code}",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
        row("DELETE /api/v1/realm/playgrounds/{playground_id:int}", Nowhere, "", "admin admin  admin  admin  play   play   admin  admin"),

        row("POST /api/v1/realm/test_welcome_bot_custom_message", Nowhere, "welcome_message_custom_text=hello",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),

        row("GET /api/v1/export/realm", Nowhere, "",                             "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/export/realm", Nowhere, "export_type=1",               "admin admin  admin  admin  ok     ok     admin  admin"),
        row("DELETE /api/v1/export/realm/{export_id:int}", Nowhere, "",          "admin admin  admin  admin  export export admin  admin"),
        row("GET /api/v1/realm/audit", Nowhere, "",                              "owner owner  owner  owner  owner  ok     owner  owner"),

        row("GET /api/v1/export/realm/consents", Nowhere, "",                    "admin admin  admin  admin  ok     ok     admin  admin"),

        // A deactivated organization would break the following rows, so the parameters of this call are invalid.
        row("POST /api/v1/realm/deactivate", Nowhere, "deletion_delay_days=30",  "owner owner  owner  owner  owner  kept   owner  owner"),
    ]
}
