//! That a registration with parts that earlier ones have left is, byte for byte, the registration without them: after every kind
//! of change, and for requesters who see different things.

use super::*;
use crate::api::encoded_lists::EncodedLists;
use crate::api::sample::Sample;
use actix_web::body::to_bytes;
use actors::Report;
use actors::queries::{Include, StateSnapshot, state_snapshot};
use model::group::GroupPermissions;
use model::{
    Channel, ChannelId, GroupId, GroupSetting, MessageId, Realm, Role, SettingValue, Subscription, UserGroup,
    UserId, UserStatus,
};
use std::sync::Arc;

const OWNER: &str = "desdemona@zulip.com";
const MEMBER: &str = "hamlet@zulip.com";
const GUEST: &str = "polonius@zulip.com";

/// The whole state of a requester but its presences, which have the time.
async fn bytes(
    sample: &Sample,
    (address, include): (Option<&str>, IncludeSubscribers),
    (shared, snapshot): (&Arc<EncodedLists>, &StateSnapshot),
) -> Vec<u8> {
    let request = StateRequest {
        shared: shared.clone(),
        include_subscribers: include,
        fetch: Fetch::all_without("presence"),
        ..sample.request(address, None)
    };
    let response = request.write(snapshot).unwrap().reply().unwrap().into_response(&[]);
    to_bytes(response.into_body()).await.unwrap().to_vec()
}

/// Compares what every requester gets with `shared` and without what it has kept.
async fn check(sample: &Sample, shared: &Arc<EncodedLists>, snapshot: &StateSnapshot, after: &str) {
    for address in [Some(OWNER), Some(MEMBER), Some(GUEST), None] {
        for include in [IncludeSubscribers::No, IncludeSubscribers::Partial, IncludeSubscribers::All] {
            if address.is_none() && include != IncludeSubscribers::No {
                continue;
            }
            let requester = (address, include);
            let fresh = bytes(sample, requester, (&Arc::default(), snapshot)).await;
            for again in ["", "again "] {
                let kept = bytes(sample, requester, (shared, snapshot)).await;
                let same = kept == fresh;
                assert!(same, "{again}after {after}, {requester:?}: {}", difference(&kept, &fresh));
            }
        }
    }
}

/// Where two answers begin to differ.
fn difference(kept: &[u8], fresh: &[u8]) -> String {
    let at =
        kept.iter().zip(fresh).position(|(one, other)| one != other).unwrap_or(kept.len().min(fresh.len()));
    let part = |bytes: &[u8]| {
        let part = &bytes[at.saturating_sub(80).min(bytes.len())..bytes.len().min(at + 40)];
        String::from_utf8_lossy(part).into_owned()
    };
    format!("kept …{}… fresh …{}…", part(kept), part(fresh))
}

/// The ids that the changes are about.
struct Ids {
    verona: ChannelId,
    large: ChannelId,
    hamlet: UserId,
    iago: UserId,
}

type Change = fn(&mut StateSnapshot, &Ids);

fn channel(snapshot: &mut StateSnapshot, id: ChannelId, change: impl FnOnce(&mut Channel)) {
    let mut record = Channel::clone(snapshot.directory.channel(id).unwrap());
    change(&mut record);
    snapshot.directory.put_channel(record);
}

fn user(snapshot: &mut StateSnapshot, id: UserId, change: impl FnOnce(&mut User)) {
    let mut record = User::clone(snapshot.directory.user(id).unwrap());
    change(&mut record);
    snapshot.directory.put_user(record);
}

fn own(
    snapshot: &mut StateSnapshot,
    (channel, user): (ChannelId, UserId),
    change: impl FnOnce(&mut Subscription),
) {
    let known = snapshot.directory.subscription(channel, user).map(|own| Subscription::clone(own));
    let mut own = known.unwrap_or_else(|| Subscription::start("#76ce90".into(), MessageId(0)));
    change(&mut own);
    snapshot.directory.put_subscription(channel, user, own);
}

fn no_one() -> GroupSetting {
    GroupSetting::Anonymous { members: Vec::new(), subgroups: Vec::new() }
}

/// Every kind of change of what is kept.
const CHANGES: [(&str, Change); 24] = [
    ("nothing", |_, _| {}),
    ("another name of a channel", |s, ids| channel(s, ids.verona, |c| c.name = "Padua".into())),
    ("another description", |s, ids| channel(s, ids.verona, |c| c.description = "x".repeat(300))),
    ("a private channel", |s, ids| channel(s, ids.verona, |c| c.invite_only = true)),
    ("the end of a subscription", |s, ids| own(s, (ids.verona, ids.hamlet), |o| o.end(MessageId(1 << 20)))),
    ("the subscription of a member", |s, ids| {
        own(s, (ids.verona, ids.hamlet), |o| o.resubscribe(MessageId(1 << 20)))
    }),
    ("a muted channel", |s, ids| own(s, (ids.verona, ids.hamlet), |o| o.is_muted = true)),
    ("a public channel", |s, ids| channel(s, ids.verona, |c| c.invite_only = false)),
    ("a channel for the world", |s, ids| channel(s, ids.verona, |c| c.is_web_public = true)),
    ("a channel that is not for the world", |s, ids| channel(s, ids.verona, |c| c.is_web_public = false)),
    ("an archived channel", |s, ids| channel(s, ids.verona, |c| c.is_archived = true)),
    ("a channel that is back", |s, ids| channel(s, ids.verona, |c| c.is_archived = false)),
    ("the first message of a channel", |s, ids| {
        summary(s, ids.large, |one| one.first_message = Some(MessageId(7)))
    }),
    ("more traffic", |s, ids| summary(s, ids.large, |one| one.weekly_traffic = Some(900))),
    ("one subscriber less", |s, ids| own(s, (ids.large, ids.iago), |o| o.end(MessageId(1 << 20)))),
    ("one subscriber more", |s, ids| own(s, (ids.large, ids.iago), |o| o.resubscribe(MessageId(1 << 20)))),
    ("another name of a person", |s, ids| user(s, ids.iago, |u| u.full_name = "Honest Iago".into())),
    ("a hidden address", |s, ids| {
        user(s, ids.iago, |u| _ = u.settings.insert("email_address_visibility".into(), SettingValue::Int(4)))
    }),
    ("a deactivated subscriber", |s, _| {
        let first = s.directory.users().find(|u| u.full_name == "Many 0").unwrap().id;
        user(s, first, |u| u.is_active = false);
    }),
    ("a status", |s, ids| {
        let status = UserStatus { text: "at the mill".into(), ..UserStatus::default() };
        s.directory.put_status(ids.hamlet, Some(status));
    }),
    ("no status", |s, ids| s.directory.put_status(ids.hamlet, None)),
    ("a group that a channel names", |s, ids| {
        let group = UserGroup::new(GroupId(900), "millers", "", GroupPermissions::all(no_one()));
        s.directory.put_group(group);
        channel(s, ids.large, |c| c.permissions.send_message = GroupSetting::Group(GroupId(900)));
    }),
    ("guests who see some people", |s, _| {
        let mut realm = Realm::clone(s.directory.realm());
        realm.settings.insert("can_access_all_users_group".into(), SettingValue::Group(no_one()));
        s.directory.put_realm(realm);
    }),
    ("a member who is a guest", |s, ids| user(s, ids.hamlet, |u| u.role = Role::Guest)),
];

fn summary(
    snapshot: &mut StateSnapshot,
    id: ChannelId,
    change: impl FnOnce(&mut model::event::ChannelSummary),
) {
    change(snapshot.channels.iter_mut().find(|one| one.channel.id == id).unwrap());
}

/// Brings the list of channels in line with the directory, as a snapshot of a view is.
fn follow(snapshot: &mut StateSnapshot) {
    for one in &mut snapshot.channels {
        one.channel = snapshot.directory.channel(one.channel.id).unwrap().clone();
        one.subscriber_count = snapshot.directory.subscriber_count(one.channel.id);
    }
}

/// A snapshot with a channel that is large enough for lists of some of its subscribers.
fn snapshot(sample: &Sample) -> (StateSnapshot, Ids) {
    let include = Include { channels: true, ..Include::default() };
    let owner = sample.caller(OWNER).user;
    let mut snapshot = state_snapshot(&sample.realm, Some(&owner), include);
    let named = |name: &str| snapshot.directory.channel_by_name(name).map(|channel| channel.id).unwrap();
    let ids = Ids {
        verona: named("Verona"),
        large: named("Denmark"),
        hamlet: sample.id(MEMBER),
        iago: sample.id("iago@zulip.com"),
    };
    for number in 0..300 {
        let id = UserId(10_000 + number);
        let name = format!("Many {number}");
        snapshot.directory.put_user(User::new(
            id,
            format!("many{number}@zulip.com"),
            name,
            Role::Member,
            owner.joined,
        ));
        own(&mut snapshot, (ids.large, id), |_| {});
    }
    follow(&mut snapshot);
    (snapshot, ids)
}

#[actix_web::test]
async fn kept_parts_are_as_fresh_ones_after_every_change() {
    let sample = Sample::start().await;
    let shared = Arc::new(EncodedLists::keeping_small());
    let (mut snapshot, ids) = snapshot(&sample);
    // Lists of some subscribers have those with a presence.
    for address in ["iago@zulip.com", MEMBER] {
        sample.realm.report_presence(sample.caller(address).user, Report::Active).await.unwrap();
    }
    let start = snapshot.clone();
    check(&sample, &shared, &snapshot, "the start").await;
    for (after, change) in CHANGES {
        change(&mut snapshot, &ids);
        follow(&mut snapshot);
        check(&sample, &shared, &snapshot, after).await;
    }
    let present = snapshot.directory.user_by_email("many7@zulip.com").unwrap().clone();
    sample.realm.report_presence(present, Report::Active).await.unwrap();
    check(&sample, &shared, &snapshot, "one more presence").await;
    // A registration whose snapshot was taken before those of others.
    check(&sample, &shared, &start, "going back").await;
    check(&sample, &shared, &snapshot, "going forth").await;
    sample.stop().await;
}
