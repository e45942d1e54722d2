//! Invitations by e-mail and by link.

use crate::reference::operation::Kind::{Bool, Choice, IdOrNull, Ids, Text};
use crate::reference::operation::{Operation, Parameter, may, need, operation};

/// The operations of this family.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
pub fn operations() -> Vec<Operation> {
    let common = |streams: Parameter| {
        vec![
            may(
                "invite_expires_in_minutes",
                IdOrNull,
                "How many minutes it can be used; null for ever. By default as the server is configured.",
            ),
            may(
                "invite_as",
                Choice(&[100, 200, 300, 400, 600]),
                "The role: 100 owner, 200 administrator, 300 moderator, 400 member, 600 guest.",
            )
            .or("400"),
            streams,
            may("group_ids", Ids, "The ids of groups that the invited people join.").or("[]"),
            may(
                "include_realm_default_subscriptions",
                Bool,
                "Whether they are subscribed to the default channels, too.",
            )
            .or("false"),
            may(
                "welcome_message_custom_text",
                Text,
                "A welcome message instead of that of the organization; for administrators.",
            ),
        ]
    };
    let channels = "The ids of channels that the invited people are subscribed to.";
    vec![
        operation("get-invites", "GET /api/v1/invites", "List invitations", "Those that can still be used."),
        operation(
            "send-invites",
            "POST /api/v1/invites",
            "Invite people by e-mail",
            "Each address gets a mail with a link.",
        )
        .with([need("invitee_emails", Text, "Addresses on lines, or separated by commas.")])
        .with(common(need("stream_ids", Ids, channels)))
        .with([may("notify_referrer_on_join", Bool, "Whether the requester gets a message when they join.")
            .or("true")])
        .sends(&["invites_changed"]),
        operation(
            "create-invite-link",
            "POST /api/v1/invites/multiuse",
            "Create a reusable invitation link",
            "For any number of people.",
        )
        .with(common(may("stream_ids", Ids, channels).or("[]")))
        .sends(&["invites_changed"]),
        operation(
            "revoke-invite-link",
            "DELETE /api/v1/invites/multiuse/{invite_id:int}",
            "Revoke a reusable invitation link",
            "It ends at once.",
        )
        .sends(&["invites_changed"]),
        operation(
            "revoke-email-invite",
            "DELETE /api/v1/invites/{invite_id:int}",
            "Revoke an invitation",
            "Its link ends at once.",
        )
        .sends(&["invites_changed"]),
        operation(
            "resend-email-invite",
            "POST /api/v1/invites/{invite_id:int}/resend",
            "Send an invitation again",
            "The same link, valid as long as at first.",
        )
        .sends(&["invites_changed"]),
    ]
}
