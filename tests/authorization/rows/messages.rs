//! Messages: send, fetch and flags.

use super::Place::{Archived, FullOnlyIn, Nowhere, Private, PrivateIn, ProtectedIn, Public, PublicIn};
use super::{Row, row};

#[expect(clippy::too_many_lines, reason = "a table has a row for each case, and nothing else")]
#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("POST /api/v1/messages", Nowhere,   "type=direct to=[{user}] content=x",                 "ok"),
        row("POST /api/v1/messages", Public,    "type=stream to={channel} topic=t content=x",
                                                                                "none_id ok   ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/messages", PublicIn,  "type=stream to={channel} topic=t content=x",        "ok"),
        // Neither an organization administrator nor a channel administrator can read a private channel by that role.
        row("POST /api/v1/messages", Private,   "type=stream to={channel} topic=t content=x",
                                                                                "none_id none_id none_id none_id send send none_id send"),
        row("POST /api/v1/messages", PrivateIn, "type=stream to={channel} topic=t content=x",        "ok"),
        // A bot has the permissions of its owner, who is a new member here, too.
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

        row("PATCH /api/v1/messages/{message_id:int}", Public,   "content=y",   "msg   edit   edit   edit   edit   edit   edit   edit"),
        row("PATCH /api/v1/messages/{message_id:int}", PublicIn, "content=y",   "edit"),
        row("PATCH /api/v1/messages/{message_id:int}", PublicIn, "content=y @id={own}", "ok"),
        row("PATCH /api/v1/messages/{message_id:int}", PublicIn, "topic=u",     "ok"),
        row("PATCH /api/v1/messages/{message_id:int}", PublicIn, "stream_id={destination}",
                                                                                "id    ok     ok     ok     ok     ok     ok     ok"),
        row("PATCH /api/v1/messages/{message_id:int}", Private,     "topic=u",  "msg"),
        row("PATCH /api/v1/messages/{message_id:int}", ProtectedIn, "topic=u",  "msg"),
        row("PATCH /api/v1/messages/{message_id:int}", ProtectedIn, "topic=u @id={later}", "ok"),
        row("PATCH /api/v1/messages/{message_id:int}", Archived,    "topic=u",  "msg"),
        row("DELETE /api/v1/messages/{message_id:int}", Public,   "",           "msg   delete delete delete ok     ok     delete delete"),
        row("DELETE /api/v1/messages/{message_id:int}", PublicIn, "",           "delete delete delete delete ok   ok     delete delete"),
        row("DELETE /api/v1/messages/{message_id:int}", PublicIn, "@id={own}",  "ok"),
        row("DELETE /api/v1/messages/{message_id:int}", Private,  "",           "msg"),
        row("GET /api/v1/messages/{message_id:int}/history", Public,      "",   "msg   ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/messages/{message_id:int}/history", PublicIn,    "",   "ok"),
        row("GET /api/v1/messages/{message_id:int}/history", Private,     "",   "msg"),
        row("GET /api/v1/messages/{message_id:int}/history", ProtectedIn, "",   "msg"),
        row("POST /api/v1/messages/{message_id:int}/reactions", Public,   "emoji_name=heart",
                                                                                "msg   ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/messages/{message_id:int}/reactions", PublicIn, "emoji_name=heart", "ok"),
        row("POST /api/v1/messages/{message_id:int}/reactions", Private,  "emoji_name=heart", "msg"),
        row("DELETE /api/v1/messages/{message_id:int}/reactions", PublicIn, "emoji_name=heart", "reaction"),
        row("DELETE /api/v1/messages/{message_id:int}/reactions", Private,  "emoji_name=heart", "msg"),
        row("POST /api/v1/messages/{message_id:int}/typing", Public,   "op=start", "msg  edit   edit   edit   edit   edit   edit   edit"),
        row("POST /api/v1/messages/{message_id:int}/typing", PublicIn, "op=start @id={own}", "ok"),
        row("POST /api/v1/messages/{message_id:int}/typing", Private,  "op=start", "msg"),
        row("POST /api/v1/message_edit_typing", PublicIn, "op=start message_id={own}", "ok"),
        row("POST /api/v1/message_edit_typing", Private,  "op=start message_id={message}", "msg"),
        // Who may report which message is in `tests/api/messages/report.rs`: here is no channel for reports.
        row("POST /api/v1/messages/{message_id:int}/report", PublicIn, "report_type=spam", "unreported"),
        row("POST /api/v1/submessage", PublicIn, "message_id={message} msg_type=widget content={}", "part"),
        row("POST /api/v1/submessage", PublicIn, "message_id={own} msg_type=widget content={}",     "ok"),
        row("POST /api/v1/submessage", Private,  "message_id={message} msg_type=widget content={}", "msg"),
        row("POST /api/v1/streams/{stream_id:int}/delete_topic", PublicIn, "topic_name=t",
                                                                                "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/streams/{stream_id:int}/delete_topic", Private,  "topic_name=t",
                                                                                "admin admin  admin  admin  id     id     admin  admin"),

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
        // A topic without any accessible message is unknown.
        row("POST /api/v1/mark_topic_as_read",  PublicIn, "stream_id={channel} topic_name=t",        "topic"),
        row("POST /api/v1/mark_topic_as_read",  PublicIn, "stream_id={channel} topic_name=t @with={later}", "ok"),
        row("POST /api/v1/mark_topic_as_read",  Private,  "stream_id={channel} topic_name=t",        "id"),
    ]
}
