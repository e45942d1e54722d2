//! Which objects of answers have a name in the document, because several answers have them.

use super::shape::Shape;
use serde_json::Value;
use std::collections::BTreeMap;

/// An object: its name in the document, the members in which it is (perhaps in a list or by id), and members by which it is known.
const COMPONENTS: &[(&str, &[&str], &[&str])] = &[
    ("Message", &["messages", "message"], &["id", "sender_id", "content", "display_recipient"]),
    ("Reaction", &["reactions"], &["emoji_name", "emoji_code", "reaction_type"]),
    ("Submessage", &["submessages"], &["msg_type", "content"]),
    ("EditOfMessage", &["edit_history"], &["timestamp", "user_id"]),
    (
        "User",
        &["members", "user", "realm_users", "realm_non_active_users", "cross_realm_bots"],
        &["user_id", "full_name", "date_joined"],
    ),
    ("Subscription", &["subscriptions", "unsubscribed"], &["stream_id", "color", "pin_to_top"]),
    ("NeverSubscribedChannel", &["never_subscribed"], &["stream_id", "name"]),
    ("Channel", &["streams", "stream"], &["stream_id", "name", "invite_only"]),
    ("UserGroup", &["user_groups", "realm_user_groups", "group"], &["id", "name", "direct_subgroup_ids"]),
    ("GroupMembers", &["*"], &["direct_members", "direct_subgroups"]),
    ("Draft", &["drafts", "draft"], &["id", "content", "to"]),
    ("ScheduledMessage", &["scheduled_messages", "scheduled_message"], &["scheduled_message_id", "content"]),
    ("Reminder", &["reminders", "reminder"], &["reminder_id", "content"]),
    ("SavedSnippet", &["saved_snippets", "saved_snippet"], &["id", "title", "content"]),
    ("Attachment", &["attachments", "attachment"], &["path_id", "size"]),
    ("ChannelFolder", &["channel_folders", "channel_folder"], &["id", "name", "rendered_description"]),
    (
        "DefaultChannelGroup",
        &["realm_default_stream_groups", "default_stream_groups"],
        &["id", "name", "streams"],
    ),
    ("NavigationView", &["navigation_views", "navigation_view"], &["fragment", "is_pinned"]),
    ("Linkifier", &["linkifiers", "realm_linkifiers"], &["id", "pattern", "url_template"]),
    ("Playground", &["realm_playgrounds"], &["id", "pygments_language"]),
    ("ProfileField", &["custom_fields", "custom_profile_fields", "fields"], &["id", "name", "field_data"]),
    ("Domain", &["domains", "realm_domains", "realm_domain"], &["domain", "allow_subdomains"]),
    ("CustomEmoji", &["emoji", "realm_emoji"], &["id", "source_url"]),
    ("Bot", &["realm_bots"], &["user_id", "services"]),
    ("Invitation", &["invites"], &["id", "invited_as"]),
    ("Topic", &["topics"], &["name", "max_id"]),
    ("OnboardingStep", &["onboarding_steps"], &["type", "name"]),
    ("UserTopic", &["user_topics"], &["topic_name", "visibility_policy"]),
    ("MutedUser", &["muted_users"], &["id", "timestamp"]),
];

/// Members whose objects have keys of the users' own.
const FREE: [&str; 4] = ["storage", "config_data", "config_options", "realm_authentication_methods"];

/// Shapes by the names of their components.
pub type Components = BTreeMap<String, Shape>;

/// The shape of a value, with the components in it added to those known.
pub fn shape(name: &str, value: &Value, components: &mut Components) -> Shape {
    match value {
        Value::Null => Shape::simple("null"),
        Value::Bool(_) => Shape::simple("boolean"),
        Value::Number(number) if number.is_f64() => Shape::simple("number"),
        Value::Number(_) if is_permission(name) => group_setting(),
        Value::Number(_) => Shape::simple("integer"),
        Value::String(_) => Shape::simple("string"),
        Value::Array(items) => Shape::list(merged(items.iter().map(|item| (name, item)), components)),
        Value::Object(members) if members.keys().any(|key| is_id(key)) || FREE.contains(&name) => {
            Shape::map(merged(members.values().map(|item| (name, item)), components))
        }
        Value::Object(members) if members.is_empty() => Shape::simple("object"),
        Value::Object(members) => {
            let inner = members.iter().map(|(key, value)| (key.clone(), shape(key, value, components)));
            let object = Shape::object(inner.collect());
            let has = |wanted: &&[&str]| wanted.iter().all(|key| members.contains_key(*key));
            let named = COMPONENTS
                .iter()
                .find(|(_, places, keys)| (places == &["*"] || places.contains(&name)) && has(keys));
            match named {
                None => object,
                Some((component, ..)) => {
                    add(components, component, object);
                    if is_permission(name) { group_setting() } else { Shape::component(component) }
                }
            }
        }
    }
}

/// Whether a member says who may do something: the id of a group, or people and groups.
fn is_permission(name: &str) -> bool {
    name.ends_with("_group") && (name.starts_with("can_") || name.starts_with("realm_"))
}

fn group_setting() -> Shape {
    let mut shape = Shape::simple("integer");
    shape.merge(Shape::component("GroupMembers"));
    shape
}

/// Adds the shape of a component.
pub fn add(components: &mut Components, name: &str, shape: Shape) {
    match components.get_mut(name) {
        Some(known) => known.merge(shape),
        None => drop(components.insert(name.to_owned(), shape)),
    }
}

fn merged<'v>(
    values: impl Iterator<Item = (&'v str, &'v Value)>,
    components: &mut Components,
) -> Option<Shape> {
    let mut all: Option<Shape> = None;
    for (name, value) in values {
        let one = shape(name, value, components);
        match &mut all {
            Some(all) => all.merge(one),
            None => all = Some(one),
        }
    }
    all
}

/// Whether a key is an id or an address, and no name that all answers have.
fn is_id(key: &str) -> bool {
    key.contains('@') || (!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()))
}
