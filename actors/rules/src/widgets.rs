//! Polls and to-do lists: which messages are widgets, and validation of submessages (docs/api/messages.md#widgets).

use crate::error::WidgetError;
use model::{Message, UserId};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The highest number of an option or a task.
const INDEX_MAX: i64 = 1000;
/// Maximum number of parts of one message; a fetched message has all of them.
pub const PARTS_MAX: usize = 10_000;
/// Maximum number of parts by one user in one message.
const PARTS_PER_USER_MAX: usize = 1_000;
/// Maximum bytes of all parts of one message.
pub const PARTS_BYTES_MAX: usize = 1024 * 1024;
/// Maximum characters of one part.
const PART_CHARS_MAX: usize = 10_000;
/// The `msg_type` of parts of widgets.
pub const WIDGET: &str = "widget";

#[derive(Serialize)]
#[serde(tag = "widget_type", content = "extra_data", rename_all = "lowercase")]
enum Widget<'c> {
    Poll { question: &'c str, options: Vec<&'c str> },
    Todo { task_list_title: &'c str, tasks: Vec<Task<'c>> },
}

#[derive(Serialize)]
struct Task<'c> {
    task: &'c str,
    desc: &'c str,
}

/// The first part of the widget that a message text creates, as JSON; none for other texts.
pub fn widget_content(text: &str) -> Option<String> {
    let command = text.split(char::is_whitespace).next()?;
    let rest = &text[command.len()..];
    let (title, lines) = match rest.split_once('\n') {
        Some((title, lines)) => (title.trim(), lines),
        None => (rest.trim(), ""),
    };
    let items = lines.lines().map(item).filter(|item| !item.is_empty());
    let widget = match command {
        "/poll" => Widget::Poll { question: title, options: items.collect() },
        "/todo" => Widget::Todo { task_list_title: title, tasks: items.map(task).collect() },
        _ => return None,
    };
    serde_json::to_string(&widget).ok()
}

/// Checks `widget_content` of a new message, JSON text, and returns the first part of the widget: a form with buttons, whose
/// replies the clients of others send.
pub fn parse_widget(text: &str) -> Result<String, WidgetError> {
    if text.len() > PART_CHARS_MAX && text.chars().count() > PART_CHARS_MAX {
        return Err(WidgetError::ContentTooLong { limit: PART_CHARS_MAX });
    }
    let value: Value = serde_json::from_str(text).map_err(|_| WidgetError::ContentNotJson)?;
    check_widget(&value).map_err(|error| WidgetError::InvalidContent { detail: error.to_string() })?;
    let parts = [("widget_type", &value["widget_type"]), ("extra_data", &value["extra_data"])];
    let parts: BTreeMap<&str, &Value> = parts.into();
    serde_json::to_string(&parts).map_err(|_| WidgetError::ContentNotJson)
}

fn check_widget(value: &Value) -> Result<(), WidgetError> {
    let refused = |text: &str| malformed(text.to_owned());
    let widget = value.as_object().ok_or_else(|| refused("widget_content is not a dict"))?;
    let kind = widget.get("widget_type").ok_or_else(|| refused("widget_type is not in widget_content"))?;
    let data = widget.get("extra_data").ok_or_else(|| refused("extra_data is not in widget_content"))?;
    let form = data.as_object().ok_or_else(|| refused("extra_data is not a dict"))?;
    if kind != "zform" {
        return Err(refused(&format!("unknown widget type: {}", shown(kind))));
    }
    match form.get("type") {
        None => Err(refused("zform is missing type field")),
        Some(kind) if kind == "choices" => check_choices(&Data { name: "extra_data", value: data }),
        Some(kind) => Err(refused(&format!("unknown zform type: {}", shown(kind)))),
    }
}

fn check_choices(data: &Data) -> Result<(), WidgetError> {
    data.string("heading")?;
    let name = "extra_data[\"choices\"]";
    let choices =
        data.field("choices")?.as_array().ok_or_else(|| malformed(format!("{name} is not a list")))?;
    for (index, choice) in choices.iter().enumerate() {
        let name = format!("{name}[{index}]");
        let choice = Data { name: &name, value: choice };
        for key in ["short_name", "long_name", "reply"] {
            choice.string(key)?;
        }
    }
    Ok(())
}

/// A JSON value in an error: a string without quotes.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A line without a list marker.
fn item(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix(['-', '*']).unwrap_or(line).trim_start()
}

fn task(line: &str) -> Task<'_> {
    let (task, desc) = line.split_once(": ").unwrap_or((line, ""));
    Task { task: task.trim(), desc: desc.trim() }
}

/// Whether a user may add a part to a message that they can read. Returns true if the part is a vote.
pub fn check_submessage(message: &Message, user: UserId, content: &str) -> Result<bool, WidgetError> {
    let is_author = message.sender == user;
    if message.submessages.is_empty() && !is_author {
        return Err(WidgetError::NotAuthor);
    }
    if content.len() > PART_CHARS_MAX && content.chars().count() > PART_CHARS_MAX {
        return Err(WidgetError::TooLong { limit: PART_CHARS_MAX });
    }
    if message.submessages.len() >= PARTS_MAX {
        return Err(WidgetError::TooManyParts { limit: PARTS_MAX });
    }
    if message.submessages.iter().filter(|part| part.sender == user).count() >= PARTS_PER_USER_MAX {
        return Err(WidgetError::TooManyOwnParts { limit: PARTS_PER_USER_MAX });
    }
    let bytes: usize = message.submessages.iter().map(|part| part.content.len()).sum();
    if bytes + content.len() > PARTS_BYTES_MAX {
        return Err(WidgetError::PartsTooLarge { limit: PARTS_BYTES_MAX });
    }
    let data: Value = serde_json::from_str(content).map_err(|_| WidgetError::NotJson)?;
    match kind_of(message).as_deref() {
        Some("poll") => check_poll(&Data { name: "poll data", value: &data }, is_author),
        Some("todo") => check_todo(&Data { name: "todo data", value: &data }, is_author).map(|()| false),
        _ => Ok(false),
    }
}

/// The type of a message's widget, from its first part.
fn kind_of(message: &Message) -> Option<String> {
    let first = message.submessages.iter().find(|part| part.msg_type == WIDGET)?;
    let data: Value = serde_json::from_str(&first.content).ok()?;
    Some(data.get("widget_type")?.as_str()?.to_owned())
}

fn check_poll(data: &Data, is_author: bool) -> Result<bool, WidgetError> {
    match data.string("type")? {
        "vote" => {
            data.string("key")?;
            let vote = data.int("vote")?;
            if vote != 1 && vote != -1 {
                return Err(malformed(format!("Invalid {}[\"vote\"]", data.name)));
            }
            data.only(&["type", "key", "vote"]).map(|()| true)
        }
        "question" if !is_author => Err(WidgetError::QuestionNotOwn),
        "question" => {
            data.string("question")?;
            data.only(&["type", "question"]).map(|()| false)
        }
        "new_option" => {
            data.string("option")?;
            data.index("idx")?;
            data.only(&["type", "option", "idx"]).map(|()| false)
        }
        kind => Err(WidgetError::UnknownType { widget: "poll", kind: kind.to_owned() }),
    }
}

fn check_todo(data: &Data, is_author: bool) -> Result<(), WidgetError> {
    match data.string("type")? {
        "new_task" => {
            data.index("key")?;
            data.string("task")?;
            data.string("desc")?;
            data.boolean("completed")?;
            data.only(&["type", "key", "task", "desc", "completed"])
        }
        "strike" => {
            data.string("key")?;
            data.only(&["type", "key"])
        }
        "new_task_list_title" if !is_author => Err(WidgetError::TitleNotOwn),
        "new_task_list_title" => {
            data.string("title")?;
            data.only(&["type", "title"])
        }
        kind => Err(WidgetError::UnknownType { widget: "todo", kind: kind.to_owned() }),
    }
}

fn malformed(detail: String) -> WidgetError {
    WidgetError::Malformed { detail }
}

/// JSON as sent, with its name in errors.
struct Data<'d> {
    name: &'d str,
    value: &'d Value,
}

impl<'d> Data<'d> {
    fn field(&self, key: &str) -> Result<&'d Value, WidgetError> {
        let object =
            self.value.as_object().ok_or_else(|| malformed(format!("{} is not a dict", self.name)))?;
        object.get(key).ok_or_else(|| malformed(format!("{key} key is missing from {}", self.name)))
    }

    fn wrong(&self, key: &str, problem: &str) -> WidgetError {
        malformed(format!("{}[\"{key}\"] {problem}", self.name))
    }

    fn string(&self, key: &str) -> Result<&'d str, WidgetError> {
        self.field(key)?.as_str().ok_or_else(|| self.wrong(key, "is not a string"))
    }

    fn boolean(&self, key: &str) -> Result<bool, WidgetError> {
        self.field(key)?.as_bool().ok_or_else(|| self.wrong(key, "is not a boolean"))
    }

    fn int(&self, key: &str) -> Result<i64, WidgetError> {
        self.field(key)?.as_i64().ok_or_else(|| self.wrong(key, "is not an integer"))
    }

    fn index(&self, key: &str) -> Result<(), WidgetError> {
        match self.int(key)? {
            ..0 => Err(self.wrong(key, "is too small")),
            0..=INDEX_MAX => Ok(()),
            _ => Err(self.wrong(key, "is too large")),
        }
    }

    fn only(&self, keys: &[&str]) -> Result<(), WidgetError> {
        let mut sent = self.value.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        match sent.find(|key| !keys.contains(key)) {
            None => Ok(()),
            Some(key) => Err(malformed(format!("Argument \"{key}\" at {} is unexpected", self.name))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::Submessage;

    #[test]
    fn given_widgets_are_forms_with_choices() {
        let choice = r#"{"short_name":"A","long_name":"Apple","reply":"a"}"#;
        let form = |data: &str| format!(r#"{{"widget_type":"zform","extra_data":{data}}}"#);
        let good = form(&format!(r#"{{"type":"choices","heading":"Eat","choices":[{choice}]}}"#));
        let stored: Value = serde_json::from_str(&parse_widget(&good).unwrap()).unwrap();
        assert_eq!(stored, serde_json::from_str::<Value>(&good).unwrap());
        let cases = [
            ("{", "Widgets: API programmer sent invalid JSON content"),
            ("[]", "Widgets: widget_content is not a dict"),
            ("{}", "Widgets: widget_type is not in widget_content"),
            (r#"{"widget_type":"zform"}"#, "Widgets: extra_data is not in widget_content"),
            (&form("[]"), "Widgets: extra_data is not a dict"),
            (r#"{"widget_type":"poll","extra_data":{}}"#, "Widgets: unknown widget type: poll"),
            (&form("{}"), "Widgets: zform is missing type field"),
            (&form(r#"{"type":"bogus"}"#), "Widgets: unknown zform type: bogus"),
            (&form(r#"{"type":"choices"}"#), "Widgets: heading key is missing from extra_data"),
            (&form(r#"{"type":"choices","heading":1}"#), "Widgets: extra_data[\"heading\"] is not a string"),
            (
                &form(r#"{"type":"choices","heading":"","choices":{}}"#),
                "Widgets: extra_data[\"choices\"] is not a list",
            ),
            (
                &form(r#"{"type":"choices","heading":"","choices":[{"short_name":"a"}]}"#),
                "Widgets: long_name key is missing from extra_data[\"choices\"][0]",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_widget(text).unwrap_err().to_string(), expected, "{text}");
        }
        let long =
            form(&format!(r#"{{"type":"choices","heading":"{}","choices":[]}}"#, "a".repeat(PART_CHARS_MAX)));
        assert!(matches!(parse_widget(&long), Err(WidgetError::ContentTooLong { .. })));
    }

    #[test]
    fn commands_make_widgets() {
        for (text, expected) in [
            (
                "/poll Lunch?\n- pizza\n* \n\nsalad",
                Some(
                    r#"{"widget_type":"poll","extra_data":{"question":"Lunch?","options":["pizza","salad"]}}"#,
                ),
            ),
            ("/poll", Some(r#"{"widget_type":"poll","extra_data":{"question":"","options":[]}}"#)),
            ("/poll\nyes", Some(r#"{"widget_type":"poll","extra_data":{"question":"","options":["yes"]}}"#)),
            (
                "/todo Today\nshop: milk: two\n-sleep",
                Some(
                    r#"{"widget_type":"todo","extra_data":{"task_list_title":"Today","tasks":[{"task":"shop","desc":"milk: two"},{"task":"sleep","desc":""}]}}"#,
                ),
            ),
            ("/polls x", None),
            (" /poll x", None),
            ("poll x", None),
            ("", None),
        ] {
            assert_eq!(widget_content(text).as_deref(), expected, "{text}");
        }
    }

    fn widget(command: &str) -> Message {
        let mut message = fixture::message(1, fixture::MEMBER, fixture::in_channel(1, "a"));
        let part = |content| Submessage { id: 1, msg_type: WIDGET.into(), content, sender: fixture::MEMBER };
        message.submessages.extend(widget_content(command).map(part));
        message
    }

    #[test]
    fn parts_are_checked_by_kind_and_author() {
        let (own, other) = (fixture::MEMBER, fixture::OTHER_MEMBER);
        for (command, user, content, expected) in [
            ("/poll q", other, r#"{"type":"vote","key":"4,1","vote":1}"#, Ok(true)),
            (
                "/poll q",
                other,
                r#"{"type":"vote","key":"4,1","vote":2}"#,
                Err(r#"Invalid poll data["vote"]"#),
            ),
            ("/poll q", other, r#"{"type":"vote","vote":1}"#, Err("key key is missing from poll data")),
            ("/poll q", own, r#"{"type":"question","question":"x"}"#, Ok(false)),
            (
                "/poll q",
                other,
                r#"{"type":"question","question":"x"}"#,
                Err("You can't edit a question unless you are the author."),
            ),
            ("/poll q", other, r#"{"type":"new_option","option":"x","idx":1000}"#, Ok(false)),
            (
                "/poll q",
                other,
                r#"{"type":"new_option","option":"x","idx":1001}"#,
                Err(r#"poll data["idx"] is too large"#),
            ),
            (
                "/poll q",
                other,
                r#"{"type":"new_option","option":"x","idx":1,"z":1}"#,
                Err(r#"Argument "z" at poll data is unexpected"#),
            ),
            ("/poll q", other, r#"{"type":"strike","key":"x"}"#, Err("Unknown type for poll data: strike")),
            ("/poll q", other, "[]", Err("poll data is not a dict")),
            ("/poll q", other, "{", Err("Invalid json for submessage")),
            ("/todo q", other, r#"{"type":"strike","key":"x"}"#, Ok(false)),
            (
                "/todo q",
                other,
                r#"{"type":"new_task","key":1,"task":"x","desc":"","completed":false}"#,
                Ok(false),
            ),
            (
                "/todo q",
                other,
                r#"{"type":"new_task_list_title","title":"x"}"#,
                Err("You can't edit the task list title unless you are the author."),
            ),
            ("/todo q", own, r#"{"type":"new_task_list_title","title":"x"}"#, Ok(false)),
            ("/todo q", own, r#"{"type":"vote"}"#, Err("Unknown type for todo data: vote")),
            ("plain", other, "{}", Err("You cannot attach a submessage to this message.")),
            ("plain", own, "{}", Ok(false)),
        ] {
            let found = check_submessage(&widget(command), user, content).map_err(|error| error.to_string());
            let expected = expected.map_err(str::to_owned);
            assert_eq!(found, expected, "{command} {content}");
        }
    }
}
