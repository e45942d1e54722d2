//! Messages: sending, reading, flags.

use super::Place::{FullOnlyIn, Nowhere, Private, PrivateIn, ProtectedIn, Public, PublicIn};
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("POST /api/v1/messages", Nowhere,   "type=direct to=[{user}] content=x",                 "ok"),
        row("POST /api/v1/messages", Public,    "type=stream to={channel} topic=t content=x",
                                                                                "send  ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/messages", PublicIn,  "type=stream to={channel} topic=t content=x",        "ok"),
        // To be an administrator opens no private channel, neither one's own organization's nor the channel's.
        row("POST /api/v1/messages", Private,   "type=stream to={channel} topic=t content=x",        "send"),
        row("POST /api/v1/messages", PrivateIn, "type=stream to={channel} topic=t content=x",        "ok"),
        // A bot may what its owner may; this one's is a new member, too.
        row("POST /api/v1/messages", FullOnlyIn, "type=stream to={channel} topic=t content=x",
                                                                                "post  post   ok     ok     ok     ok     post   post"),
        row("POST /api/v1/messages/render", Nowhere, "content=x",                                    "ok"),

        row("GET /api/v1/messages", Nowhere, "anchor=newest num_before=1 num_after=0",               "ok"),
        row("GET /api/v1/messages/matches_narrow", Nowhere, "msg_ids=[1] narrow=[]",                 "ok"),
        row("GET /api/v1/messages/{message_id:int}", Public,      "",           "msg   ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/messages/{message_id:int}", PublicIn,    "",           "ok"),
        row("GET /api/v1/messages/{message_id:int}", Private,     "",           "msg"),
        row("GET /api/v1/messages/{message_id:int}", PrivateIn,   "",           "ok"),
        row("GET /api/v1/messages/{message_id:int}", ProtectedIn, "",           "msg"),
        row("GET /api/v1/messages/{message_id:int}", ProtectedIn, "@id={later}", "ok"),
        row("GET /api/v1/messages/{message_id:int}/read_receipts", Public,      "", "msg   ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/messages/{message_id:int}/read_receipts", Private,     "", "msg"),
        row("GET /api/v1/messages/{message_id:int}/read_receipts", ProtectedIn, "", "msg"),
        row("GET /api/v1/messages/{message_id:int}/read_receipts", ProtectedIn, "@id={later}", "ok"),

        row("POST /api/v1/messages/flags", Public,      "messages=[{message}] op=add flag=starred",
                                                                                "msg   ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/messages/flags", PublicIn,    "messages=[{message}] op=add flag=starred",  "ok"),
        row("POST /api/v1/messages/flags", Private,     "messages=[{message}] op=add flag=starred",  "msg"),
        row("POST /api/v1/messages/flags", ProtectedIn, "messages=[{message}] op=add flag=starred",  "msg"),
        row("POST /api/v1/messages/flags", ProtectedIn, "messages=[{later}] op=add flag=starred",    "ok"),
        row("POST /api/v1/messages/flags/narrow", Nowhere,
            "anchor=newest num_before=1 num_after=0 narrow=[] op=add flag=read",                     "ok"),
        row("POST /api/v1/mark_all_as_read",    Nowhere, "",                                         "ok"),
        row("POST /api/v1/mark_stream_as_read", PublicIn, "stream_id={channel}",                     "ok"),
        row("POST /api/v1/mark_stream_as_read", Private,  "stream_id={channel}",                     "id"),
        // A topic of which one has no message is none.
        row("POST /api/v1/mark_topic_as_read",  PublicIn, "stream_id={channel} topic_name=t",        "topic"),
        row("POST /api/v1/mark_topic_as_read",  PublicIn, "stream_id={channel} topic_name=t @with={later}", "ok"),
        row("POST /api/v1/mark_topic_as_read",  Private,  "stream_id={channel} topic_name=t",        "id"),
    ]
}
