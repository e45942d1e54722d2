//! Events of pictures: of people and bots, of the organization, its own emoji.

use super::access::everyone_who_sees;
use super::{Announcements, Moment, bots};
use model::event::UserChange;
use model::picture::{PictureFact, RealmPicture};
use model::{Audience, Directory, EventBody, User, UserId};
use rules::avatar::{
    AvatarSize, avatar_source, realm_icon_url, realm_logo_url, realm_picture_source, whole_avatar_url,
};

/// Everybody who can see what changed is told what it is now.
pub(super) fn changed(moment: &Moment<'_>, fact: &PictureFact, out: &mut Announcements) {
    let directory = moment.after;
    match fact {
        PictureFact::AvatarSet { user, .. } => {
            let Some(about) = directory.user(*user) else { return };
            out.to(everyone_who_sees(directory, about), avatar_event(directory, about));
            bots::avatar_changed(moment, about, out);
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

fn avatar_event(directory: &Directory, about: &User) -> EventBody {
    let change = UserChange::Avatar {
        url: whole_avatar_url(directory, about, AvatarSize::Small),
        medium_url: whole_avatar_url(directory, about, AvatarSize::Medium),
        source: avatar_source(directory, about),
        version: about.avatar_version,
    };
    EventBody::UserChanged { user: about.id, change }
}

/// Clients work out by themselves which picture an address stands for. Whoever sees the address from now on, or no
/// longer, is told the picture of somebody who has none of their own.
pub(super) fn address_shown_or_hidden(
    directory: &Directory,
    about: &User,
    viewers: Vec<UserId>,
    out: &mut Announcements,
) {
    if directory.avatar_file(about.id).is_none() {
        out.to(viewers, avatar_event(directory, about));
    }
}
