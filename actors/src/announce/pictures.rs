//! Events of avatars, the organization's icon and logos, and custom emoji.

use super::access::users_who_see;
use super::bots;
use super::context::Announcements;
use model::event::UserChange;
use model::picture::{PictureFact, RealmPicture};
use model::{Audience, Directory, EventBody, User, UserId};
use rules::avatar::{
    AvatarSize, avatar_source, public_avatar_url, realm_icon_url, realm_logo_url, realm_picture_source,
    shown_avatar_url, uses_gravatar,
};
use rules::permissions::users::shown_delivery_email;

/// Users who may see the picture receive its new URL.
pub(super) fn announce(fact: &PictureFact, out: &mut Announcements<'_>) {
    let directory = out.context.after;
    match fact {
        PictureFact::AvatarSet { user, .. } => {
            let Some(about) = directory.user(*user) else { return };
            avatar_events(directory, about, users_who_see(directory, about), out);
            bots::avatar_changed(about, out);
        }
        PictureFact::RealmPictureSet { which, .. } => {
            let url = match which {
                RealmPicture::Icon => realm_icon_url(directory),
                RealmPicture::Logo | RealmPicture::NightLogo => realm_logo_url(directory, *which),
            };
            let source = realm_picture_source(directory, *which);
            out.add(EventBody::RealmPictureChanged { which: *which, url, source }, Audience::Everyone);
        }
        PictureFact::EmojiSet(_) => {
            let all = directory.realm_emoji().cloned().collect();
            out.add(EventBody::RealmEmoji(all), Audience::Everyone);
        }
    }
}

/// The avatar of a user. If it is derived from the address, viewers who may not see the address receive another one.
fn avatar_events(directory: &Directory, about: &User, viewers: Vec<UserId>, out: &mut Announcements<'_>) {
    let event = |viewer: Option<&User>| {
        let url = |size| {
            let shown = viewer.map(|viewer| shown_avatar_url(directory, viewer, about, size));
            shown.unwrap_or_else(|| public_avatar_url(directory, about, size))
        };
        let change = UserChange::Avatar {
            url: url(AvatarSize::Small),
            medium_url: url(AvatarSize::Medium),
            source: avatar_source(directory, about),
            version: about.avatar_version,
        };
        EventBody::UserChanged { user: about.id, change }
    };
    let sees_address = |id: &UserId| {
        let viewer = directory.user(*id);
        uses_gravatar(directory)
            && viewer.is_some_and(|viewer| shown_delivery_email(directory, Some(viewer), about).is_some())
    };
    let (seeing, blind): (Vec<UserId>, Vec<UserId>) = viewers.into_iter().partition(sees_address);
    let viewer = seeing.first().and_then(|id| directory.user(*id)).cloned();
    out.each([(seeing, event(viewer.as_deref())), (blind, event(None))]);
}

/// The avatar of a user without an own picture depends on the address: viewers who gain or lose sight of the address
/// receive the avatar. Uploaded pictures do not depend on the address.
pub(super) fn address_shown_or_hidden(
    directory: &Directory,
    about: &User,
    viewers: Vec<UserId>,
    out: &mut Announcements<'_>,
) {
    if uses_gravatar(directory) && directory.avatar_file(about.id).is_none() {
        avatar_events(directory, about, viewers, out);
    }
}
