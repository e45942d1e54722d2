//! Cheap comparison of two snapshots by identity of their parts.

use super::Directory;
use crate::ids::ChannelId;
use crate::profile_field::ProfileFields;
use crate::realm::Realm;
use crate::user::User;
use std::sync::{Arc, Weak};

/// Identity of everything that an account's object depends on for viewers from whom nothing is hidden. Keeps the addresses in
/// use, but not the records.
#[derive(Clone, Debug)]
pub struct UserIdentity {
    /// Every change of the avatar counts up a number in it.
    user: Weak<User>,
    realm: Weak<Realm>,
    profile_fields: Weak<ProfileFields>,
}

impl UserIdentity {
    /// Whether the same records are in a snapshot. False for equal but separate copies.
    pub fn is_in(&self, directory: &Directory, user: &Arc<User>) -> bool {
        std::ptr::eq(self.user.as_ptr(), Arc::as_ptr(user))
            && std::ptr::eq(self.realm.as_ptr(), Arc::as_ptr(&directory.realm))
            && std::ptr::eq(self.profile_fields.as_ptr(), Arc::as_ptr(&directory.profile_fields))
    }
}

impl Directory {
    /// What the object of an account depends on for viewers from whom nothing is hidden.
    pub fn user_identity(&self, user: &Arc<User>) -> UserIdentity {
        UserIdentity {
            user: Arc::downgrade(user),
            realm: Arc::downgrade(&self.realm),
            profile_fields: Arc::downgrade(&self.profile_fields),
        }
    }

    /// Whether both share the organization's record and groups. False for equal but separate copies.
    pub fn has_same_groups_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.realm, &other.realm)
            && self.groups.ptr_eq(&other.groups)
            && self.group_members.ptr_eq(&other.group_members)
    }

    /// Whether both show the values of all permissions alike: by the same groups, and without the same deactivated users. False for
    /// equal but separate copies.
    pub fn shows_permissions_as(&self, other: &Self) -> bool {
        self.has_same_groups_as(other) && self.deactivated_users.ptr_eq(&other.deactivated_users)
    }

    /// Whether both share users, avatars, profile fields, groups and the organization's record. False for equal but
    /// separate copies.
    pub fn has_same_people_as(&self, other: &Self) -> bool {
        self.has_same_groups_as(other)
            && self.users.ptr_eq(&other.users)
            && self.pictures.avatars.ptr_eq(&other.pictures.avatars)
            && Arc::ptr_eq(&self.profile_fields, &other.profile_fields)
    }

    /// Whether both share all subscriptions. False for equal but separate copies.
    pub fn has_same_subscriptions_as(&self, other: &Self) -> bool {
        self.subscribers.ptr_eq(&other.subscribers)
    }

    /// Whether both share everything that decides which channels a user may see, and how. False for equal but separate copies.
    pub fn has_same_channels_as(&self, other: &Self) -> bool {
        self.has_same_people_as(other)
            && self.has_same_subscriptions_as(other)
            && self.channels.ptr_eq(&other.channels)
    }

    /// Whether both share the subscriptions of a channel. False for equal but separate copies.
    pub fn has_same_subscribers_as(&self, other: &Self, channel: ChannelId) -> bool {
        match (self.subscribers.get(&channel), other.subscribers.get(&channel)) {
            (Some(own), Some(others)) => own.ptr_eq(others),
            (own, others) => own.is_none() && others.is_none(),
        }
    }

    /// Whether both share users and their statuses. False for equal but separate copies.
    pub fn has_same_statuses_as(&self, other: &Self) -> bool {
        self.users.ptr_eq(&other.users) && self.personal.statuses.ptr_eq(&other.personal.statuses)
    }
}
