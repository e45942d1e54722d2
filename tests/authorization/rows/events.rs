//! Event queues: register, poll and delete.

use super::Place::Nowhere;
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                           guest member full   moder  admin  owner  bot    warden
        row("POST /api/v1/register", Nowhere, "",                                    "ok"),
        row("POST /api/v1/register", Nowhere, "all_public_streams=true",             "query ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/events",    Nowhere, "queue_id={queue} last_event_id=-1 dont_block=true",         "ok"),
        row("GET /api/v1/events",    Nowhere, "queue_id={foreign_queue} last_event_id=-1 dont_block=true", "queue"),
        row("DELETE /api/v1/events", Nowhere, "queue_id={queue}",                    "ok"),
        row("DELETE /api/v1/events", Nowhere, "queue_id={foreign_queue}",            "queue"),
    ]
}
