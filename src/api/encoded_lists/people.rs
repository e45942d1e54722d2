//! Shared lists of users.

use super::version::{UncachedBytes, Version};
use crate::api::wire::json::push_value;
use crate::api::wire::user::{UserForm, user};
use crate::http::Envelope;
use model::{Directory, Role, User, UserId};
use rules::permissions::users::is_restricted;

/// The users of a list, always without system bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Listed {
    Active,
    Inactive,
    All,
}

impl Listed {
    fn contains(self, user: &User) -> bool {
        let is_wanted = match self {
            Self::Active => user.is_active,
            Self::Inactive => !user.is_active,
            Self::All => true,
        };
        is_wanted && !user.is_system_bot()
    }
}

/// Everything besides the directory that a shared list depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PeopleKey {
    /// The role of the reader; none without an account.
    role: Option<Role>,
    form: UserForm,
    listed: Listed,
}

impl PeopleKey {
    /// The key of a reader; none for readers who need a list of their own.
    pub fn of(directory: &Directory, reader: Option<&User>, form: UserForm, listed: Listed) -> Option<Self> {
        let is_own = |reader: &User| reader.is_bot() || is_restricted(directory, reader);
        match reader {
            Some(reader) if is_own(reader) => None,
            reader => Some(Self { role: reader.map(|reader| reader.role), form, listed }),
        }
    }
}

/// An encoded list of users as all readers with the same key see it, except for their own entries.
pub struct SharedPeople {
    directory: Directory,
    form: UserForm,
    /// Objects with commas between them, without brackets.
    json: Version,
    /// Start and end of each user's object, by id.
    places: Vec<(UserId, usize, usize)>,
}

impl SharedPeople {
    pub(super) fn new(
        directory: &Directory,
        reader: Option<&User>,
        form: UserForm,
        listed: Listed,
        uncached: &UncachedBytes,
    ) -> Self {
        // The entry of this reader is written as another reader of the same kind sees it.
        let other = reader.and_then(|reader| another_like(directory, reader));
        let mut json = Vec::new();
        let mut places = Vec::new();
        for listed in directory.users().filter(|user| listed.contains(user)) {
            if !json.is_empty() {
                json.push(b',');
            }
            let is_own = reader.is_some_and(|reader| reader.id == listed.id);
            let viewer = if is_own { other.or(reader) } else { reader };
            let start = json.len();
            push_value(&mut json, &user(directory, viewer, listed, form));
            places.push((listed.id, start, json.len()));
        }
        Self { directory: directory.clone(), form, json: uncached.version(json), places }
    }

    pub(super) fn is_of(&self, directory: &Directory) -> bool {
        self.directory.has_same_people_as(directory)
    }

    pub(super) fn bytes(&self) -> usize {
        self.json.json().len() + self.places.len() * size_of::<(UserId, usize, usize)>()
    }

    /// Adds the list as a field, with the reader's own entry replaced by their own view of it.
    pub fn add_to(&self, envelope: &mut Envelope, name: &str, reader: Option<&User>) {
        envelope.open_field(name).push(b'[');
        let json = self.json.json();
        let own = reader.and_then(|reader| Some((reader, self.place_of(reader.id)?)));
        match own {
            None => envelope.splice(json.clone()),
            Some((reader, (start, end))) => {
                envelope.splice(json.slice(..start));
                push_value(envelope.buffer(), &user(&self.directory, Some(reader), reader, self.form));
                envelope.splice(json.slice(end..));
            }
        }
        envelope.buffer().push(b']');
    }

    fn place_of(&self, id: UserId) -> Option<(usize, usize)> {
        let index = self.places.binary_search_by_key(&id, |(user, ..)| *user).ok()?;
        self.places.get(index).map(|(_, start, end)| (*start, *end))
    }
}

/// Another user who shares the reader's list. If there is none, no one reads the reader's entry in it: it is replaced
/// for the reader, and a change that adds such a user makes a new list.
fn another_like<'d>(directory: &'d Directory, reader: &User) -> Option<&'d User> {
    let is_like = |user: &&User| {
        user.id != reader.id && user.role == reader.role && !user.is_bot() && !is_restricted(directory, user)
    };
    directory.users().map(|user| &**user).find(is_like)
}
