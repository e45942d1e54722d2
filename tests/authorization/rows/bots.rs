//! Bots. `{bot}` is owned by ZOE, who is not a caller.

use super::Place::Nowhere;
use super::{Row, open, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                        guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/bots", Nowhere, "",                                      "guest ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/bots", Nowhere, "full_name=Bot{number} short_name=b{number}",
                                                                                  "guest ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/bots", Nowhere, "full_name=In{number} short_name=in{number} bot_type=2",
                                                                                  "guest ok     ok     ok     ok     ok     human  ok"),
        row("PATCH /api/v1/bots/{bot_id:int}", Nowhere, "full_name=Other{number}", "guest perm   perm   perm   ok     ok     human  perm"),
        row("PATCH /api/v1/bots/{bot_id:int}", Nowhere, "role=100",               "guest perm   perm   perm   owner  above  human  perm"),
        row("POST /api/v1/bots", Nowhere, "full_name=Conf{number} short_name=c{number} bot_type=2 config_data={\"a\":\"b\"}",
                                                                                  "guest ok     ok     ok     ok     ok     human  ok"),
        row("PATCH /api/v1/bots/{bot_id:int}", Nowhere, "config_data={}",         "guest perm   perm   perm   ok     ok     human  perm"),
        row("GET /api/v1/bots/{bot_id:int}/api_key", Nowhere, "",                 "guest perm   perm   perm   secret secret human  perm"),
        row("POST /api/v1/bots/{bot_id:int}/api_key/regenerate", Nowhere, "",     "guest perm   perm   perm   secret secret human  perm"),
        row("DELETE /api/v1/bots/{bot_id:int}", Nowhere, "",                      "guest perm   perm   perm   ok     ok     human  perm"),

        // Who may send is decided by the key in the URL: see tests/integrations/incoming.rs.
        open("POST /api/v1/external/{integration:text}", "",                      "nokey"),

        row("GET /api/v1/bot_storage", Nowhere, "",                               "ok"),
        row("PUT /api/v1/bot_storage", Nowhere, "storage={\"a\":\"1\"}",          "ok"),
        row("DELETE /api/v1/bot_storage", Nowhere, "",                            "ok"),

        row("GET /api/v1/calls/bigbluebutton/create", Nowhere, "meeting_name=x",  "bbb"),
        row("POST /api/v1/calls/zoom/create", Nowhere, "",                        "zoom"),
    ]
}
