//! The organization: its settings, groups, domains, linkifiers, profile fields, emoji and pictures.

use super::settings::{group_permission_changes, group_permissions, realm_settings};
use crate::reference::operation::Kind::{Bool, Choice, IdOrNull, Ids, Int, Json, Text};
use crate::reference::operation::{Answer, Operation, may, need, operation};

/// The operations of this family.
pub fn operations() -> Vec<Operation> {
    let mut all = organization();
    all.extend(pictures());
    all.extend(linkifiers());
    all.extend(fields());
    all
}

#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
fn organization() -> Vec<Operation> {
    vec![
        operation(
            "update-realm",
            "PATCH /api/v1/realm",
            "Update the organization",
            "Either all changes are made or none.",
        )
        .with([
            may("name", Text, "The name, 1 to 40 characters."),
            may("description", Text, "Markdown of at most 1000 characters."),
            may("mandatory_topics", Bool, "The older form of topics_policy."),
        ])
        .with(realm_settings())
        .sends(&["realm", "user_group"]),
        operation(
            "deactivate-realm",
            "POST /api/v1/realm/deactivate",
            "Deactivate the organization",
            "Afterwards every call is refused, until the operator reactivates it.",
        )
        .with([may(
            "deletion_delay_days",
            IdOrNull,
            "Only null: this server does not delete the data of deactivated organizations.",
        )])
        .sends(&["realm"]),
        operation(
            "test-welcome-bot-custom-message",
            "POST /api/v1/realm/test_welcome_bot_custom_message",
            "Preview the welcome message",
            "The welcome bot sends the welcome message with this text to the requester.",
        )
        .with([need("welcome_message_custom_text", Text, "Markdown of at most 8000 characters.")])
        .sends(&["message"]),
        operation(
            "get-realm-audit",
            "GET /api/v1/realm/audit",
            "Get the audit log",
            "What was changed, when, by whom and from where, the newest first.",
        )
        .with([
            may("before", Int, "Only entries with a lower id: the next_before of the page before."),
            may("user_id", Int, "Only entries of this user, or about them."),
            may("limit", Int, "How many entries at most, up to 100.").or("100"),
        ]),
        operation("get-realm-exports", "GET /api/v1/export/realm", "List exports", "With their state."),
        operation(
            "export-realm",
            "POST /api/v1/export/realm",
            "Request an export",
            "The export is made in the background; GET /export/realm says when it is complete.",
        )
        .with([may(
            "export_type",
            Choice(&[1, 2]),
            "1 public data, 2 also the private data of those who agree.",
        )
        .or("1")])
        .sends(&["realm_export"]),
        operation(
            "delete-realm-export",
            "DELETE /api/v1/export/realm/{export_id:int}",
            "Delete an export",
            "Its file is gone afterwards.",
        )
        .sends(&["realm_export"]),
        operation(
            "get-realm-export-consents",
            "GET /api/v1/export/realm/consents",
            "List consents to exports",
            "Who agrees that an export has their private data.",
        ),
        operation(
            "get-realm-domains",
            "GET /api/v1/realm/domains",
            "List domains",
            "The domains whose e-mail addresses may join.",
        ),
        operation("add-realm-domain", "POST /api/v1/realm/domains", "Add a domain", "At most 500.")
            .with([
                need("domain", Text, "The domain."),
                may("allow_subdomains", Bool, "Whether its subdomains are accepted, too.").or("false"),
            ])
            .sends(&["realm_domains"]),
        operation(
            "update-realm-domain",
            "PATCH /api/v1/realm/domains/{domain:text}",
            "Update a domain",
            "Whether its subdomains are accepted.",
        )
        .with([may("allow_subdomains", Bool, "Whether its subdomains are accepted, too.").or("false")])
        .sends(&["realm_domains"]),
        operation(
            "remove-realm-domain",
            "DELETE /api/v1/realm/domains/{domain:text}",
            "Remove a domain",
            "Without domains, all addresses are accepted.",
        )
        .sends(&["realm_domains", "realm"]),
        operation(
            "add-code-playground",
            "POST /api/v1/realm/playgrounds",
            "Add a code playground",
            "At most 500.",
        )
        .with([
            need("name", Text, "The name, at most 200 characters."),
            need("pygments_language", Text, "The language of the code, as Pygments names it."),
            need("url_template", Text, "The URL, with the variable \u{201c}code\u{201d}."),
        ])
        .sends(&["realm_playgrounds"]),
        operation(
            "remove-code-playground",
            "DELETE /api/v1/realm/playgrounds/{playground_id:int}",
            "Remove a code playground",
            "By its id.",
        )
        .sends(&["realm_playgrounds"]),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
fn pictures() -> Vec<Operation> {
    let night = || need("night", Bool, "Whether it is the logo for dark themes.");
    vec![
        operation(
            "get-realm-icon",
            "GET /api/v1/realm/icon",
            "Read the icon of the organization",
            "A redirect to the picture.",
        )
        .answers(Answer::Redirect),
        operation(
            "upload-realm-icon",
            "POST /api/v1/realm/icon",
            "Upload the icon of the organization",
            "One picture.",
        )
        .takes_file("file", true)
        .sends(&["realm"]),
        operation(
            "remove-realm-icon",
            "DELETE /api/v1/realm/icon",
            "Remove the icon of the organization",
            "The default icon is shown again.",
        )
        .sends(&["realm"]),
        operation(
            "get-realm-logo",
            "GET /api/v1/realm/logo",
            "Read the logo of the organization",
            "A redirect to the picture.",
        )
        .with([night()])
        .answers(Answer::Redirect),
        operation(
            "upload-realm-logo",
            "POST /api/v1/realm/logo",
            "Upload the logo of the organization",
            "One picture.",
        )
        .with([night()])
        .takes_file("file", true)
        .sends(&["realm"]),
        operation(
            "remove-realm-logo",
            "DELETE /api/v1/realm/logo",
            "Remove the logo of the organization",
            "The default logo is shown again.",
        )
        .with([night()])
        .sends(&["realm"]),
        operation(
            "get-custom-emoji",
            "GET /api/v1/realm/emoji",
            "List custom emoji",
            "By id, deactivated ones included.",
        ),
        operation(
            "upload-custom-emoji",
            "POST /api/v1/realm/emoji/{emoji_name:rest}",
            "Add a custom emoji",
            "One picture.",
        )
        .takes_file("file", true)
        .sends(&["realm_emoji"]),
        operation(
            "deactivate-custom-emoji",
            "DELETE /api/v1/realm/emoji/{emoji_name:rest}",
            "Deactivate a custom emoji",
            "It can no longer be used; messages keep it.",
        )
        .sends(&["realm_emoji"]),
    ]
}

fn linkifiers() -> Vec<Operation> {
    let pattern = || {
        [
            need("pattern", Text, "A regular expression without look-around, at most 1000 characters."),
            need(
                "url_template",
                Text,
                "An RFC 6570 template whose variables are the named groups of the pattern.",
            ),
        ]
    };
    vec![
        operation(
            "get-linkifiers",
            "GET /api/v1/realm/linkifiers",
            "List linkifiers",
            "In the order in which they apply.",
        ),
        operation("add-linkifier", "POST /api/v1/realm/filters", "Add a linkifier", "It comes last.")
            .with(pattern())
            .sends(&["realm_linkifiers"]),
        operation(
            "update-linkifier",
            "PATCH /api/v1/realm/filters/{filter_id:int}",
            "Update a linkifier",
            "Messages that were sent keep their links.",
        )
        .with(pattern())
        .sends(&["realm_linkifiers"]),
        operation(
            "remove-linkifier",
            "DELETE /api/v1/realm/filters/{filter_id:int}",
            "Remove a linkifier",
            "Messages that were sent keep their links.",
        )
        .sends(&["realm_linkifiers"]),
        operation(
            "reorder-linkifiers",
            "PATCH /api/v1/realm/linkifiers",
            "Reorder linkifiers",
            "All of them.",
        )
        .with([need("ordered_linkifier_ids", Ids, "The ids of all linkifiers.")])
        .sends(&["realm_linkifiers"]),
    ]
}

fn fields() -> Vec<Operation> {
    let properties = || {
        [
            may("name", Text, "The label, at most 40 characters."),
            may("hint", Text, "A hint of at most 80 characters."),
            may(
                "field_data",
                Json,
                "Options: an object with text and order for each key. External accounts: an object with subtype, and perhaps url_pattern.",
            ),
            may("display_in_profile_summary", Bool, "Whether summaries show it; at most two fields."),
            may("required", Bool, "Whether people are asked to fill it."),
            may("editable_by_user", Bool, "Whether people change their own value."),
        ]
    };
    vec![
        operation(
            "get-custom-profile-fields",
            "GET /api/v1/realm/profile_fields",
            "List custom profile fields",
            "In their order.",
        ),
        operation(
            "create-custom-profile-field",
            "POST /api/v1/realm/profile_fields",
            "Create a custom profile field",
            "At most 100.",
        )
        .with([need(
            "field_type",
            Choice(&[1, 2, 3, 4, 5, 6, 7, 8]),
            "1 short text, 2 long text, 3 list of options, 4 date, 5 link, 6 people, 7 external account, 8 pronouns.",
        )])
        .with(properties())
        .sends(&["custom_profile_fields"]),
        operation(
            "update-custom-profile-field",
            "PATCH /api/v1/realm/profile_fields/{field_id:int}",
            "Update a custom profile field",
            "Only what is given changes.",
        )
        .with(properties())
        .sends(&["custom_profile_fields", "realm_user"]),
        operation(
            "remove-custom-profile-field",
            "DELETE /api/v1/realm/profile_fields/{field_id:int}",
            "Remove a custom profile field",
            "Its values are removed, too.",
        )
        .sends(&["custom_profile_fields"]),
        operation(
            "reorder-custom-profile-fields",
            "PATCH /api/v1/realm/profile_fields",
            "Reorder custom profile fields",
            "All of them.",
        )
        .with([need("order", Ids, "The ids of all fields.")])
        .sends(&["custom_profile_fields"]),
    ]
}

/// The operations on user groups.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
pub fn groups() -> Vec<Operation> {
    let direct = |name, text| may(name, Bool, text).or("false");
    let text = || may("description", Text, "The description.");
    vec![
        operation(
            "get-user-groups",
            "GET /api/v1/user_groups",
            "List user groups",
            "System groups included.",
        )
        .with([direct("include_deactivated_groups", "Whether deactivated groups are listed, too.")]),
        operation(
            "create-user-group",
            "POST /api/v1/user_groups/create",
            "Create a user group",
            "The creator is a member only if listed.",
        )
        .with([
            need("name", Text, "The name, at most 100 characters."),
            need("description", Text, "The description."),
            need("members", Ids, "The ids of the members."),
            may("subgroups", Ids, "The ids of groups whose members belong to it, too.").or("[]"),
        ])
        .with(group_permissions())
        .sends(&["user_group"]),
        operation(
            "update-user-group",
            "PATCH /api/v1/user_groups/{user_group_id:int}",
            "Update a user group",
            "Only what is given changes.",
        )
        .with([
            may("name", Text, "The new name."),
            text(),
            may("deactivated", Bool, "False reactivates it; true has no effect."),
        ])
        .with(group_permission_changes())
        .sends(&["user_group"]),
        operation(
            "deactivate-user-group",
            "POST /api/v1/user_groups/{user_group_id:int}/deactivate",
            "Deactivate a user group",
            "Refused for a group that is in use, with a list of where.",
        )
        .sends(&["user_group"]),
        operation(
            "remove-user-group",
            "DELETE /api/v1/user_groups/{user_group_id:int}",
            "Deactivate a user group, in an older form",
            "As clients older than level 294 remove a group.",
        )
        .sends(&["user_group"])
        .deprecated(),
        operation(
            "get-user-group-members",
            "GET /api/v1/user_groups/{user_group_id:int}/members",
            "List members of a user group",
            "Active accounts.",
        )
        .with([direct("direct_member_only", "Without members of subgroups.")]),
        operation(
            "update-user-group-members",
            "POST /api/v1/user_groups/{user_group_id:int}/members",
            "Change members of a user group",
            "Either all changes are made or none.",
        )
        .with([
            may("add", Ids, "The ids of users to add."),
            may("delete", Ids, "The ids of users to remove."),
            may("add_subgroups", Ids, "The ids of groups to add as subgroups."),
            may("delete_subgroups", Ids, "The ids of subgroups to remove."),
        ])
        .sends(&["user_group", "stream"]),
        operation(
            "get-is-user-group-member",
            "GET /api/v1/user_groups/{user_group_id:int}/members/{user_id:int}",
            "Get a membership",
            "Whether a user belongs to a group.",
        )
        .with([direct("direct_member_only", "Without members of subgroups.")]),
        operation(
            "get-user-group-subgroups",
            "GET /api/v1/user_groups/{user_group_id:int}/subgroups",
            "List subgroups of a user group",
            "The ids of the groups whose members belong to it, too.",
        )
        .with([direct("direct_subgroup_only", "Without subgroups of subgroups.")]),
        operation(
            "update-user-group-subgroups",
            "POST /api/v1/user_groups/{user_group_id:int}/subgroups",
            "Change subgroups of a user group",
            "Either all changes are made or none.",
        )
        .with([
            may("add", Ids, "The ids of groups to add as subgroups."),
            may("delete", Ids, "The ids of subgroups to remove."),
        ])
        .sends(&["user_group", "stream"]),
    ]
}
