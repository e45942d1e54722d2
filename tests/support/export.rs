//! A small export as a Zulip server writes it, for tests of imports.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A picture.
pub const PICTURE: &[u8] = include_bytes!("../../src/dev/buckets.png");
/// The path of an uploaded file.
pub const UPLOAD: &str = "7/a1/abcdefghijklmnopqrstuvwx/notes.txt";
/// Its content.
pub const UPLOADED: &[u8] = b"taken along";

/// A user's row; `more` replaces columns.
fn user(id: u32, name: &str, role: u32, more: &Value) -> Value {
    let mut row = json!({
        "id": id, "realm": 7, "delivery_email": format!("{name}@acme.example"),
        "email": format!("user{id}@chat.acme.example"), "full_name": name, "role": role, "is_active": true,
        "is_bot": false, "date_joined": 1_700_000_000.5, "timezone": "Europe/Berlin", "avatar_source": "G",
        "avatar_version": 1, "email_address_visibility": 3, "enter_sends": true, "recipient": 100 + id,
        "is_mirror_dummy": false, "long_term_idle": false, "twenty_four_hour_time": true,
    });
    merge(&mut row, more);
    row
}

fn merge(row: &mut Value, more: &Value) {
    for (column, value) in more.as_object().into_iter().flatten() {
        row[column] = value.clone();
    }
}

fn subscription(id: u32, user: u32, recipient: u32) -> Value {
    json!({"id": id, "user_profile": user, "recipient": recipient, "active": true, "is_user_active": true,
        "is_muted": false, "color": "#76CE90", "pin_to_top": user == 12, "desktop_notifications": null})
}

fn subscribed(id: u32, user: u32, channel: u32, last: u32) -> Value {
    json!({"id": id, "event_time": 1_700_000_100.0 + f64::from(id), "event_type": 301, "realm": 7,
        "modified_user": user, "modified_stream": channel, "event_last_message_id": last, "extra_data": {}})
}

/// The tables of groups: those of the system, and one of users.
fn groups() -> Value {
    let groups = [
        (21, "role:nobody"),
        (22, "role:owners"),
        (23, "role:administrators"),
        (24, "role:moderators"),
        (25, "role:fullmembers"),
        (26, "role:members"),
        (27, "role:everyone"),
        (28, "role:internet"),
        (30, "kitchen"),
    ];
    let named = groups.map(|(id, name)| {
        json!({"id": id, "usergroup_ptr": id, "name": name, "description": name, "creator": null,
            "is_system_group": id < 29, "deactivated": false, "can_manage_group": 29, "can_mention_group": 27})
    });
    let plain: Vec<Value> = (21..=30).map(|id| json!({"id": id, "realm": 7})).collect();
    json!({
        "zerver_usergroup": plain,
        "zerver_namedusergroup": named,
        "zerver_usergroupmembership": [
            {"id": 1, "user_group": 29, "user_profile": 12}, {"id": 2, "user_group": 30, "user_profile": 11},
        ],
        "zerver_groupgroupmembership": [{"id": 1, "supergroup": 30, "subgroup": 23}],
    })
}

/// realm.json: Olga (owner), Otto, Gwen (guest) and a bot; a public and a private channel.
fn realm() -> Value {
    let mut tables = json!({
        "import_source": "zulip",
        "zerver_realm": [{"id": 7, "name": "Acme", "description": "We **make**", "string_id": "acme",
            "date_created": 1_700_000_000.0, "deactivated": false, "message_content_edit_limit_seconds": null,
            "can_create_groups": 29, "invite_to_realm_policy": 2, "mandatory_topics": true,
            "new_stream_announcements_stream": 41, "icon_source": "U", "icon_version": 3,
            "setting_of_the_future": 5}],
        "zerver_userprofile": [
            user(11, "olga", 100, &json!({"avatar_source": "U", "avatar_version": 2})),
            user(12, "otto", 400, &json!({})),
            user(13, "gwen", 600, &json!({"is_active": false})),
            user(14, "helper", 400, &json!({"is_bot": true, "bot_type": 2, "bot_owner": 12})),
        ],
        "zerver_userprofile_crossrealm": [
            {"email": "notification-bot@zulip.com", "id": 3, "recipient_id": 3},
            {"email": "welcome-bot@zulip.com", "id": 5, "recipient_id": 5},
            {"email": "emailgateway@zulip.com", "id": 4, "recipient_id": 4},
        ],
        "zerver_client": [{"id": 1, "name": "website"}],
        "zerver_recipient": [
            {"id": 111, "type": 1, "type_id": 11}, {"id": 112, "type": 1, "type_id": 12},
            {"id": 113, "type": 1, "type_id": 13}, {"id": 114, "type": 1, "type_id": 14},
            {"id": 141, "type": 2, "type_id": 41}, {"id": 142, "type": 2, "type_id": 42},
            {"id": 150, "type": 3, "type_id": 9},
        ],
        "zerver_huddle": [{"id": 9, "recipient": 150, "huddle_hash": "x", "group_size": 3}],
        "zerver_channelfolder": [{"id": 2, "name": "Work", "description": "", "date_created": 1_700_000_000.0,
            "creator": 11, "is_archived": false}],
        "zerver_stream": [
            {"id": 41, "name": "kitchen", "realm": 7, "date_created": 1_700_000_050.0, "creator": 11,
                "deactivated": false, "description": "All of *us*", "recipient": 141, "invite_only": false,
                "history_public_to_subscribers": true, "is_web_public": false, "stream_post_policy": 2,
                "folder": 2, "topics_policy": 1},
            {"id": 42, "name": "board", "realm": 7, "date_created": 1_700_000_060.0, "creator": 11,
                "deactivated": false, "description": "", "recipient": 142, "invite_only": true,
                "history_public_to_subscribers": false, "is_web_public": false, "can_remove_subscribers_group": 29},
        ],
        "zerver_defaultstream": [{"id": 1, "realm": 7, "stream": 41}],
        "zerver_subscription": [
            subscription(1, 11, 141), subscription(2, 12, 141), subscription(3, 11, 142),
            subscription(4, 12, 142), subscription(5, 11, 111), subscription(6, 12, 112),
            subscription(7, 11, 150), subscription(8, 12, 150), subscription(9, 14, 150),
        ],
        "zerver_realmauditlog": [
            subscribed(1, 11, 41, 0), subscribed(2, 12, 41, 0), subscribed(3, 11, 42, 0),
            subscribed(4, 12, 42, 1003),
        ],
    });
    merge(&mut tables, &groups());
    merge(&mut tables, &lists());
    tables
}

/// The tables of lists and of what people keep.
fn lists() -> Value {
    json!({
        "zerver_reaction": [{"id": 8, "user_profile": 12, "message": 1001, "emoji_name": "octopus",
            "emoji_code": "1f419", "reaction_type": "unicode_emoji"}],
        "zerver_realmemoji": [{"id": 6, "author": 11, "realm": 7, "name": "bucket", "file_name": "ab.png",
            "is_animated": false, "deactivated": false}],
        "zerver_realmfilter": [
            {"id": 2, "realm": 7, "pattern": "#(?P<id>[0-9]+)", "url_template": "https://bugs.example/{id}", "order": 1},
        ],
        "zerver_realmplayground": [],
        "zerver_realmdomain": [{"id": 1, "realm": 7, "domain": "acme.example", "allow_subdomains": false}],
        "zerver_realmuserdefault": [{"id": 1, "realm": 7, "color_scheme": 2}],
        "zerver_customprofilefield": [{"id": 3, "realm": 7, "name": "Phone", "hint": "", "order": 1,
            "field_type": 1, "field_data": "", "display_in_profile_summary": false}],
        "zerver_customprofilefieldvalue": [{"id": 1, "user_profile": 12, "field": 3, "value": "12"}],
        "zerver_alertword": [{"id": 1, "realm": 7, "user_profile": 12, "word": "lunch"}],
        "zerver_muteduser": [{"id": 1, "user_profile": 12, "muted_user": 13, "date_muted": 1_700_000_500.0}],
        "zerver_userstatus": [{"id": 1, "user_profile": 12, "status_text": "away", "emoji_name": "",
            "emoji_code": "", "reaction_type": "unicode_emoji", "timestamp": 1_700_000_500.0}],
        "zerver_usertopic": [{"id": 1, "user_profile": 12, "stream": 41, "recipient": 141,
            "topic_name": "Menu", "last_updated": 1_700_000_600.0, "visibility_policy": 3}],
        "zerver_savedsnippet": [{"id": 4, "realm": 7, "user_profile": 12, "title": "Hi", "content": "Hello",
            "date_created": 1_700_000_700.0}],
        "zerver_scheduledmessage": [{"id": 2, "sender": 12, "recipient": 141, "subject": "Menu",
            "content": "later", "sending_client": 1, "stream": 41, "realm": 7,
            "scheduled_timestamp": 9_700_000_000.0_f64, "delivered": false, "failed": false, "delivery_type": 1}],
        "zerver_botconfigdata": [
            {"id": 1, "bot_profile": 14, "key": "integration_id", "value": "github"},
            {"id": 2, "bot_profile": 14, "key": "unit", "value": "m"},
            {"id": 3, "bot_profile": 12, "key": "unit", "value": "m"},
        ],
        "zerver_useractivity": [{"id": 1, "count": 4}],
        "zerver_invention": [{"id": 1}, {"id": 2}],
    })
}

/// A message's row.
pub fn message(id: u64, sender: u32, recipient: u32, topic: &str, content: &str) -> Value {
    json!({"id": id, "sender": sender, "recipient": recipient, "realm": 7, "type": 1, "subject": topic,
        "content": content, "rendered_content": null, "date_sent": 1_700_001_000.25 + id as f64,
        "sending_client": 1, "last_edit_time": null, "edit_history": null, "has_link": false,
        "search_tsvector": "'x':1"})
}

fn messages() -> Value {
    let mut edited = message(1001, 11, 141, "Menu", "@**Otto Old** soup, see #12");
    edited["rendered_content"] =
        json!("<p><span class=\"user-mention\" data-user-id=\"12\">@Otto Old</span> soup</p>");
    edited["edit_history"] = json!(
        json!([
            {"user_id": 12, "timestamp": 1_700_003_000, "prev_topic": "Food", "topic": "Menu"},
            {"user_id": 11, "timestamp": 1_700_002_500, "prev_content": "stew"},
        ])
        .to_string()
    );
    let file = format!("[notes](/user_uploads/{UPLOAD})");
    let row = |id: u32, user: u32, message: u32, mask: u32| json!({"id": id, "user_profile": user, "message": message, "flags_mask": mask});
    json!({
        "zerver_message": [
            edited,
            message(1002, 12, 141, "Menu", &file),
            message(1003, 11, 142, "secret", "only Olga got this"),
            message(1004, 11, 142, "secret", "both got this"),
            message(1005, 12, 111, "", "a word"),
            message(1006, 11, 112, "", "an answer"),
            message(1007, 14, 150, "", "three of us"),
        ],
        "zerver_usermessage": [
            row(1, 11, 1001, 1), row(2, 12, 1001, 8 | 2), row(3, 11, 1002, 0), row(4, 12, 1002, 1),
            row(5, 11, 1003, 1), row(6, 11, 1004, 1), row(7, 12, 1004, 0), row(8, 11, 1005, 2048),
            row(9, 12, 1005, 2049), row(10, 11, 1006, 2049), row(11, 12, 1006, 2048),
            row(12, 11, 1007, 2049), row(13, 12, 1007, 2048), row(14, 14, 1007, 2049),
        ],
    })
}

fn put(folder: &Path, name: &str, value: &Value) {
    write(folder, name, value.to_string().as_bytes());
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("room");
    fs::write(path, bytes).expect("room");
}

/// Writes the export to `export` in the folder, with `more` messages after its own, 1,000 in each file.
pub fn write_export(folder: &Path, more: u64) -> PathBuf {
    let export = folder.join("export");
    put(&export, "realm.json", &realm());
    let file = json!({"id": 5, "file_name": "notes.txt", "path_id": UPLOAD, "owner": 12, "realm": 7,
        "create_time": 1_700_000_900.0, "size": UPLOADED.len(), "content_type": "text/plain",
        "is_realm_public": true, "is_web_public": false, "messages": [1002], "scheduled_messages": []});
    put(&export, "attachment.json", &json!({"zerver_attachment": [file]}));
    put(&export, "messages-000001.json", &messages());
    let ids: Vec<u64> = (2001..2001 + more).collect();
    for (number, ids) in (2..).zip(ids.chunks(1000)) {
        let text = |id: &u64| message(*id, 11, 141, &format!("t{}", id % 7), &format!("message **{id}**"));
        let rows = |id: &u64| {
            let row = |user: u32, mask: u32| json!({"user_profile": user, "message": id, "flags_mask": mask});
            [row(11, 1), row(12, u32::from(id.is_multiple_of(2)))]
        };
        let file = json!({
            "zerver_message": ids.iter().map(text).collect::<Vec<_>>(),
            "zerver_usermessage": ids.iter().flat_map(rows).collect::<Vec<_>>(),
        });
        put(&export, &format!("messages-{number:06}.json"), &file);
    }
    write(&export, &format!("uploads/{UPLOAD}"), UPLOADED);
    put(&export, "uploads/records.json", &json!([]));
    let avatar =
        json!([{"realm_id": 7, "user_profile_id": 11, "avatar_version": 2, "path": "7/aa.original"}]);
    put(&export, "avatars/records.json", &avatar);
    write(&export, "avatars/7/aa.original", PICTURE);
    write(&export, "emoji/7/emoji/images/ab.png.original", PICTURE);
    write(&export, "realm_icons/7/icon.original", PICTURE);
    export
}

/// Packs a folder as an archive; `more` adds entries.
pub fn pack(export: &Path, more: impl FnOnce(&mut tar::Builder<GzEncoder<Vec<u8>>>)) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    archive.append_dir_all("zulip-export", export).expect("it is packed");
    more(&mut archive);
    archive.into_inner().and_then(GzEncoder::finish).expect("it is packed")
}

/// Bytes compressed with gzip.
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("it is compressed")
}
