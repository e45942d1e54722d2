//! People: accounts, their names and pictures, presence and status, typing, alert words, and what else belongs to one user.

use crate::reference::operation::Kind::{Bool, Choice, Id, Ids, Int, Objects, Text, Texts, Word};
use crate::reference::operation::{Answer, Operation, may, need, operation};

/// The operations of this family.
pub fn operations() -> Vec<Operation> {
    let mut all = accounts();
    all.extend(changes());
    all.extend(presence());
    all.extend(personal());
    all.extend(pictures());
    all
}

fn accounts() -> Vec<Operation> {
    let form = || {
        [
            may("client_gravatar", Bool, "Whether avatar_url may be null where the client can compute the address of the picture at gravatar.com itself.")
                .or("true"),
            may("include_custom_profile_fields", Bool, "Whether the answer has the values of custom profile fields.")
                .or("false"),
        ]
    };
    vec![
        operation(
            "get-users",
            "GET /api/v1/users",
            "List users",
            "People and bots, deactivated ones included.",
        )
        .with(form())
        .with([may("user_ids", Ids, "These users alone; unknown ids are left out.")]),
        operation(
            "get-own-user",
            "GET /api/v1/users/me",
            "Get your own user",
            "The account of the requester.",
        ),
        operation("get-user", "GET /api/v1/users/{user_id:int}", "Get a user", "By id or e-mail address.")
            .at("GET /api/v1/users/{email:text}")
            .with(form()),
    ]
}

fn changes() -> Vec<Operation> {
    vec![
        operation(
            "create-user",
            "POST /api/v1/users",
            "Create a user",
            "A member, who is subscribed to the default channels and gets the welcome messages. The operator allows an account to create \
             users with `millstream user grant`.",
        )
        .with([
            need("email", Text, "The e-mail address."),
            need("password", Text, "The password."),
            need("full_name", Text, "The name."),
        ])
        .sends(&["realm_user", "subscription", "message"]),
        operation(
            "update-user",
            "PATCH /api/v1/users/{user_id:int}",
            "Update a user",
            "Either all changes are made or none.",
        )
        .at("PATCH /api/v1/users/{email:text}")
        .with([
            may("full_name", Text, "The new name."),
            may("role", Choice(&[100, 200, 300, 400, 600]), "The new role: 100 owner, 200 administrator, 300 moderator, 400 member, 600 guest."),
            may("profile_data", Objects, "Values of custom profile fields: objects with id and value, null removes one."),
            may("new_email", Text, "The new address, for those whom the operator allowed to change addresses."),
        ])
        .sends(&["realm_user", "user_group", "stream", "realm_bot"]),
        operation(
            "deactivate-user",
            "DELETE /api/v1/users/{user_id:int}",
            "Deactivate a user",
            "Keys, sessions and queues stop, the bots of the user are deactivated, and open invitations are revoked.",
        )
        .with([may("deactivation_notification_comment", Text, "A comment of at most 2000 characters that is mailed to the user.")])
        .sends(&["realm_user", "user_status", "subscription", "user_group", "realm_bot"]),
        operation("deactivate-own-user", "DELETE /api/v1/users/me", "Deactivate your own account", "Keys, sessions and queues stop, and your bots are deactivated.")
            .sends(&["realm_user", "user_status", "subscription", "user_group", "realm_bot"]),
        operation(
            "reactivate-user",
            "POST /api/v1/users/{user_id:int}/reactivate",
            "Reactivate a user",
            "Subscriptions, groups and the API key are as before.",
        )
        .sends(&["realm_user", "user_status", "subscription", "user_group", "realm_bot"]),
    ]
}

fn status_parameters() -> Vec<crate::reference::operation::Parameter> {
    vec![
        may("status_text", Text, "The text, at most 60 characters; an empty one removes it."),
        may("emoji_name", Text, "The name of an emoji; an empty text removes it."),
        may(
            "emoji_code",
            Text,
            "The code of the emoji, such as 1f44d, or the id of a custom emoji; by default that of the name.",
        ),
        may(
            "reaction_type",
            Text,
            "The kind of emoji: \u{201c}unicode_emoji\u{201d} (standard), \u{201c}realm_emoji\u{201d} (custom) or \u{201c}zulip_extra_emoji\u{201d} (:zulip:).",
        ),
        may("away", Bool, "The older form of the setting presence_enabled, negated."),
    ]
}

fn presence() -> Vec<Operation> {
    vec![
        operation(
            "update-presence",
            "POST /api/v1/users/me/presence",
            "Report presence",
            "The answer has the presence of the others.",
        )
        .with([
            need("status", Text, "\u{201c}active\u{201d} or \u{201c}idle\u{201d}."),
            may("ping_only", Bool, "Whether the answer is without the presence of the others.").or("false"),
            may("new_user_input", Bool, "Whether the person did something since the last report; this server does not need it.").or("false"),
            may("slim_presence", Bool, "Whether the answer has presence by user id; otherwise by e-mail address.").or("false"),
            may("last_update_id", Int, "Only what is newer than this: presence_last_update_id of the answer before; -1 for everything. The answer is by user id."),
            may("history_limit_days", Int, "How many days back.").or("14"),
        ])
        .sends(&["presence"]),
        operation("get-user-presence", "GET /api/v1/users/{user_id:int}/presence", "Get the presence of a user", "By id or e-mail address.")
            .at("GET /api/v1/users/{email:text}/presence"),
        operation("get-presence", "GET /api/v1/realm/presence", "Get the presence of all users", "Of all people, by e-mail address."),
        operation("update-status", "POST /api/v1/users/me/status", "Set your own status", "Only what is given changes.")
            .with(status_parameters())
            .sends(&["user_status", "user_settings"]),
        operation("get-user-status", "GET /api/v1/users/{user_id:int}/status", "Get the status of a user", "The text and the emoji that are set."),
        operation(
            "update-status-for-user",
            "POST /api/v1/users/{user_id:int}/status",
            "Set the status of another user",
            "Only what is given changes.",
        )
        .with(status_parameters())
        .sends(&["user_status"]),
        operation(
            "set-typing-status",
            "POST /api/v1/typing",
            "Report typing",
            "To those who take part in a direct conversation, or to the subscribers of a channel that is not too large.",
        )
        .with([
            may("type", Word(&["direct", "stream", "channel"]), "Whether it is a direct conversation or a channel.").or("\"direct\""),
            need("op", Word(&["start", "stop"]), "Whether typing starts or stops."),
            may("to", Ids, "The ids of the other people of a direct conversation."),
            may("stream_id", Id, "The id of the channel."),
            may("topic", Text, "The topic in the channel."),
        ])
        .sends(&["typing"]),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
fn personal() -> Vec<Operation> {
    let words = || need("alert_words", Texts, "Words of at most 100 characters each.");
    vec![
        operation(
            "mute-user",
            "POST /api/v1/users/me/muted_users/{user_id:int}",
            "Mute a user",
            "Messages of the user are marked read, now and later.",
        )
        .sends(&["muted_users", "update_message_flags"]),
        operation(
            "unmute-user",
            "DELETE /api/v1/users/me/muted_users/{user_id:int}",
            "Unmute a user",
            "Later messages are unread again.",
        )
        .sends(&["muted_users"]),
        operation(
            "get-alert-words",
            "GET /api/v1/users/me/alert_words",
            "List alert words",
            "Words that notify the requester like a mention.",
        ),
        operation(
            "add-alert-words",
            "POST /api/v1/users/me/alert_words",
            "Add alert words",
            "The answer has the whole list.",
        )
        .with([words()])
        .sends(&["alert_words"]),
        operation(
            "remove-alert-words",
            "DELETE /api/v1/users/me/alert_words",
            "Remove alert words",
            "The answer has the whole list.",
        )
        .with([words()])
        .sends(&["alert_words"]),
        operation(
            "update-profile-data",
            "PATCH /api/v1/users/me/profile_data",
            "Set values of profile fields",
            "Of your own account. An empty or null value removes it.",
        )
        .with([need("data", Objects, "Objects with id and value.")])
        .sends(&["realm_user"]),
        operation(
            "remove-profile-data",
            "DELETE /api/v1/users/me/profile_data",
            "Remove values of profile fields",
            "Of your own account.",
        )
        .with([need("data", Ids, "The ids of the fields.")])
        .sends(&["realm_user"]),
        operation(
            "mark-onboarding-step",
            "POST /api/v1/users/me/onboarding_steps",
            "Mark a hint as seen",
            "Hints that clients show once.",
        )
        .with([need("onboarding_step", Text, "The name of the hint.")])
        .sends(&["onboarding_steps"]),
        operation(
            "get-navigation-views",
            "GET /api/v1/navigation_views",
            "List navigation views",
            "Built-in and own views of the requester.",
        ),
        operation(
            "add-navigation-view",
            "POST /api/v1/navigation_views",
            "Add a navigation view",
            "A fragment and a name exist once for each user.",
        )
        .with([
            need("fragment", Text, "The part of the view's address after #, such as narrow/is/starred."),
            need("is_pinned", Bool, "Whether the view is always shown, and not only in a menu."),
            may("name", Text, "The name of a view of your own."),
        ])
        .sends(&["navigation_view"]),
        operation(
            "edit-navigation-view",
            "PATCH /api/v1/navigation_views/{fragment:rest}",
            "Update a navigation view",
            "Only what is given changes.",
        )
        .with([
            may("is_pinned", Bool, "Whether the view is always shown, and not only in a menu."),
            may("name", Text, "The name of a view of your own."),
        ])
        .sends(&["navigation_view"]),
        operation(
            "remove-navigation-view",
            "DELETE /api/v1/navigation_views/{fragment:rest}",
            "Remove a navigation view",
            "Built-in views get their usual state.",
        )
        .sends(&["navigation_view"]),
    ]
}

fn pictures() -> Vec<Operation> {
    vec![
        operation(
            "upload-avatar",
            "POST /api/v1/users/me/avatar",
            "Upload your own picture",
            "One file of at most 5 MiB.",
        )
        .takes_file("file", true)
        .sends(&["realm_user"]),
        operation(
            "remove-avatar",
            "DELETE /api/v1/users/me/avatar",
            "Remove your own picture",
            "The default picture is shown again.",
        )
        .sends(&["realm_user"]),
        operation(
            "get-avatar",
            "GET /avatar/{user_id:int}",
            "Read the picture of a user",
            "A redirect to the picture, 100 pixels wide.",
        )
        .at("GET /avatar/{email:text}")
        .answers(Answer::Redirect),
        operation(
            "get-avatar-medium",
            "GET /avatar/{user_id:int}/medium",
            "Read the large picture of a user",
            "A redirect to the picture, 500 pixels wide.",
        )
        .at("GET /avatar/{email:text}/medium")
        .answers(Answer::Redirect),
    ]
}
