//! Whether people can make an account without an invitation.

use super::DEACTIVATED_TITLE;
use crate::http::App;
use actors::RealmHandle;
use rules::settings::realm_bool;

/// Whether people can make an account without an invitation.
pub(super) fn can_sign_up(app: &App, realm: &RealmHandle) -> bool {
    why_not(app, realm).is_none()
}

/// Why an account takes an invitation: title and text. None if it does not.
pub(super) fn why_not(app: &App, realm: &RealmHandle) -> Option<(&'static str, &'static str)> {
    let directory = realm.directory();
    if !directory.realm().is_active {
        return Some((DEACTIVATED_TITLE, "It no longer accepts new members."));
    }
    if realm_bool(directory.realm(), "invite_required") {
        return Some((
            "An invitation is required",
            "To join this organization, ask one of its members for one.",
        ));
    }
    if !app.config.login.password {
        let text = "Accounts of this server are made by its administrators.";
        return Some(("You cannot sign up here", text));
    }
    if !app.mail.sends() {
        let text = "This server cannot send the email that confirms your address. Ask a member of the organization \
                    for an invitation link.";
        return Some(("You cannot sign up here", text));
    }
    None
}
