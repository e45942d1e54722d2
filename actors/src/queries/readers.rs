//! The users who have read a message (docs/api/messages.md#fetch-read-receipts).

use model::{Directory, MessageId, User, UserId};
use rules::settings::user_bool;
use storage::View;
use storage::view::Location;

/// Users who have read a message and share read receipts, without its sender; sorted. Empty if the message does not exist.
pub fn readers(view: &View, asker: UserId, id: MessageId) -> Vec<UserId> {
    let Some(place) = view.place_of(id) else { return Vec::new() };
    let users = who_could_have_read(&view.directory, &place);
    let read = users.filter(|user| shows_receipts(user) && has_read(view, user.id, &place, id));
    let sent = |user: &User| view.messages.senders.get(&user.id).is_some_and(|sent| sent.contains(id.0));
    // Users who mute the asker, or are muted by the asker, are hidden.
    let directory = &view.directory;
    let hides = |user: UserId| {
        directory.muted_since(asker, user).is_some() || directory.muted_since(user, asker).is_some()
    };
    let read = read.filter(|user| !sent(user) && !hides(user.id));
    let mut readers: Vec<UserId> = read.map(|user| user.id).collect();
    readers.sort_unstable();
    readers
}

fn who_could_have_read<'d>(
    directory: &'d Directory,
    place: &Location,
) -> Box<dyn Iterator<Item = &'d User> + 'd> {
    match place {
        Location::Topic(..) => Box::new(directory.users().map(|user| &**user)),
        Location::Direct(recipient) => {
            let people = directory.direct(*recipient).map(|direct| direct.users.as_slice());
            let people = people.unwrap_or_default().iter();
            Box::new(people.filter_map(|user| directory.user(*user).map(|user| &**user)))
        }
    }
}

fn shows_receipts(user: &User) -> bool {
    user.is_active && user_bool(user, "send_read_receipts")
}

fn has_read(view: &View, user: UserId, place: &Location, id: MessageId) -> bool {
    let Some(mine) = view.messages.users.get(&user).filter(|mine| mine.read.contains(id.0)) else {
        return false;
    };
    // A message stays recorded as read when the user loses it by a move.
    mine.historical.contains(id.0)
        || match place {
            Location::Topic(channel, _) => view.is_delivered_in(user, *channel, id),
            Location::Direct(recipient) => view.is_in_conversation(user, *recipient),
        }
}
