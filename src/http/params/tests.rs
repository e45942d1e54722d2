//! Parameters against the texts of docs/api/conventions.md#parameters, and against arbitrary input.

use super::*;
use crate::http::error::Code;
use proptest::prelude::*;
use serde_json::json;

fn form(query: &str, body: &str) -> Fields {
    Fields::parse(query.as_bytes(), &BodyKind::Form, body.as_bytes()).unwrap()
}

fn one(name: &str, value: &str) -> Fields {
    form("", &form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish())
}

fn msg<T: std::fmt::Debug>(result: Result<T, ApiError>) -> String {
    let error = result.unwrap_err();
    assert!(error.status_code() == 400);
    error.msg().to_owned()
}

#[test]
fn the_body_wins_over_the_query_and_the_last_over_the_first() {
    let fields = form("a=1&b=2&a=3&client=x", "b=4&b=5&c=&method=PATCH&%C3%A9+%2B=%41%zz");
    assert_eq!(fields.optional_str("a"), Some("3"));
    assert_eq!(fields.optional_str("b"), Some("5"));
    assert_eq!(fields.optional_str("c"), Some(""));
    assert_eq!(fields.optional_str("é +"), Some("A%zz"));
    assert_eq!(fields.in_body("a"), None);
    assert_eq!(fields.in_body("method"), Some("PATCH"));
    assert!(fields.ignored().is_empty(), "client and method are common parameters");
    assert_eq!(form("&&a&=b&", "").ignored(), ["", "a"]);
}

#[test]
fn ignored_parameters_are_sorted_and_unique() {
    let fields = form("stream_id=1&z=1", "topic=x&z=2&apple=1");
    fields.required("topic").unwrap();
    assert_eq!(fields.ignored(), ["apple", "stream_id", "z"]);
}

#[test]
fn content_types() {
    let kind = |header| BodyKind::from_content_type(header);
    assert_eq!(kind(Some("application/x-www-form-urlencoded; charset=utf-8")).unwrap(), BodyKind::Form);
    assert_eq!(
        kind(Some("Multipart/Form-Data; charset=x; Boundary=\"a b\"")).unwrap(),
        BodyKind::Multipart("a b".into())
    );
    for other in [None, Some(""), Some("application/jsonish"), Some("text/plain")] {
        assert_eq!(kind(other).unwrap(), BodyKind::Other);
    }
    assert_eq!(kind(Some("Application/JSON; charset=utf-8")).unwrap(), BodyKind::Json);
    for bad in ["multipart/form-data", "multipart/form-data; boundary="] {
        assert_eq!(msg(kind(Some(bad))), "Malformed multipart body");
    }
    let fields = Fields::parse(b"a=1", &BodyKind::Other, b"{\"type\":\"stream\"}").unwrap();
    assert_eq!(fields.ignored(), ["a"]);
}

#[test]
fn unread_bodies_are_remembered() {
    let parse = |kind: &BodyKind, body: &str| Fields::parse(b"a=1", kind, body.as_bytes()).unwrap();
    for empty in ["", " ", "{}", " {\n} ", "null"] {
        let fields = parse(&BodyKind::Json, empty);
        assert!(!fields.has_unread_body() && fields.ignored() == ["a"], "{empty:?}");
    }
    let fields = parse(&BodyKind::Json, r#"{"type": "stream", "a": {"b": [1]}, "client": "x"}"#);
    assert!(fields.has_unread_body());
    assert_eq!(fields.ignored(), ["a", "type"]);
    assert!(fields.optional("type").is_none());
    for other in ["[1]", "{\"a\":", "\"text\""] {
        assert!(parse(&BodyKind::Json, other).has_unread_body(), "{other:?}");
    }
    assert!(parse(&BodyKind::Other, "x").has_unread_body() && !parse(&BodyKind::Other, "").has_unread_body());
    assert!(!parse(&BodyKind::Form, "x").has_unread_body());
}

#[test]
fn strings_and_missing_parameters() {
    let fields = form("", "topic=+t+&subject=s");
    assert_eq!(fields.optional("topic").as_deref(), Some(" t "));
    let error = fields.required("content").unwrap_err();
    assert_eq!(
        error.render_json(),
        "{\"result\":\"error\",\"msg\":\"Missing 'content' argument\",\
         \"code\":\"REQUEST_VARIABLE_MISSING\",\"var_name\":\"content\"}\n"
    );
    let error = fields.alias("topic", "subject").unwrap_err();
    assert_eq!(error.code(), Some(Code::REQUEST_CONFUSING_VAR));
    assert_eq!(error.msg(), "Can't decide between 'topic' and 'subject' arguments");
    assert_eq!(
        (error.extra("var_name1"), error.extra("var_name2")),
        (Some(&json!("topic")), Some(&json!("subject")))
    );
    assert_eq!(form("", "subject=s").alias("topic", "subject").unwrap().as_deref(), Some("s"));
    assert_eq!(msg(form("", "").required_alias("topic", "subject")), "Missing 'topic' argument");
    let error = ApiError::bad_value("num_before", "abc");
    assert_eq!(error.msg(), "Bad value for 'num_before': abc");
    assert_eq!(error.extra("bad_value"), Some(&json!("abc")));
}

#[test]
fn fixed_sets() {
    assert_eq!(one("op", "add").one_of("op", &["add", "remove"]).unwrap(), "add");
    assert_eq!(msg(one("op", "bogus").one_of("op", &["add", "remove"])), "Invalid op");
    assert_eq!(msg(one("x", "add").one_of("op", &["add"])), "Missing 'op' argument");
    assert_eq!(one("x", "add").optional_one_of("op", &["add"]).unwrap(), None);
}

#[test]
fn integers() {
    let int = |value: &str| one("n", value).required_int::<u32>("n");
    for spelling in ["5", " 5 ", "\t5\r\n"] {
        assert_eq!(int(spelling).unwrap(), 5, "{spelling:?}");
    }
    assert_eq!(one("n", "-7").optional_int::<i64>("n").unwrap(), Some(-7));
    assert_eq!(one("m", "1").int_or("n", 9_u8).unwrap(), 9);
    let cases = [
        ("abc", "n is not valid JSON"),
        ("", "n is not valid JSON"),
        ("05", "n is not valid JSON"),
        ("+5", "n is not valid JSON"),
        ("-", "n is not valid JSON"),
        ("٣", "n is not valid JSON"),
        ("5 5", "n is not valid JSON"),
        ("\u{a0}5", "n is not valid JSON"),
        ("5.0", "n is not an integer"),
        ("\"5\"", "n is not an integer"),
        ("[5]", "n is not an integer"),
        ("null", "n is not an integer"),
        ("-1", "n is too small"),
        ("4294967296", "n is too large"),
        ("99999999999999999999999999999999999999999999999999", "n is too large"),
        ("-99999999999999999999999999999999999999999999999999", "n is too small"),
    ];
    for (value, expected) in cases {
        assert_eq!(msg(int(value)), expected, "{value:?}");
    }
    assert_eq!(msg(one("m", "1").required_int::<u32>("n")), "Missing 'n' argument");
    for (value, id) in [("7", 7), ("-1", 0), ("99999999999", u32::MAX)] {
        assert_eq!(one("n", value).required_id("n").unwrap(), id);
    }
}

#[test]
fn booleans_numbers_and_json_strings() {
    assert!(one("b", "true").required_bool("b").unwrap());
    assert!(!one("b", "false").bool_or("b", true).unwrap());
    assert!(one("x", "false").bool_or("b", true).unwrap());
    for (value, expected) in [
        ("True", "b is not valid JSON"),
        ("perhaps", "b is not valid JSON"),
        ("1", "b is not a boolean"),
        ("\"true\"", "b is not a boolean"),
        ("null", "b is not a boolean"),
    ] {
        assert_eq!(msg(one("b", value).optional_bool("b")), expected);
    }
    assert_eq!(one("s", "\"x\"").optional_loose_string("s").as_deref(), Some("x"));
    assert_eq!(one("s", "x").optional_loose_string("s").as_deref(), Some("x"));
}

#[test]
fn lists() {
    assert_eq!(one("messages", "[1, 2]").required_ints::<u32>("messages").unwrap(), [1, 2]);
    assert_eq!(one("messages", "[1,-2,9999999999]").required_ids("messages").unwrap(), [1, 0, u32::MAX]);
    assert_eq!(one("x", "[]").optional_ids("messages").unwrap(), None);
    for (value, expected) in [
        ("[1,2,\"x\"]", "messages[2] is not an integer"),
        ("[1,null]", "messages[1] is not an integer"),
        ("[1.5]", "messages[0] is not an integer"),
        ("[-1]", "messages[0] is too small"),
        ("[4294967296]", "messages[0] is too large"),
        ("5", "messages is not a list"),
        ("[1", "messages is not valid JSON"),
    ] {
        assert_eq!(msg(one("messages", value).required_ints::<u32>("messages")), expected);
    }
    assert_eq!(one("types", "[\"a\",\"b\"]").required_strings("types").unwrap(), ["a", "b"]);
    assert_eq!(
        msg(one("event_types", "\"message\"").optional_strings("event_types")),
        "event_types is not a list"
    );
    assert_eq!(msg(one("types", "[\"a\",1]").required_strings("types")), "types[1] is not a string");
    assert_eq!(msg(one("x", "[]").required_strings("types")), "Missing 'types' argument");
}

#[test]
fn inside_json() {
    let fields = one("subscription_data", r#"[{"stream_id":"x","a\"b":1}, {"stream_id":4,"value":true}]"#);
    let field = fields.required_json("subscription_data").unwrap();
    let items: Vec<_> = field.root().list().unwrap().collect();
    let first = items[0].object().unwrap();
    assert_eq!(
        msg(first.required("stream_id").unwrap().int::<u32>()),
        "subscription_data[0][\"stream_id\"] is not an integer"
    );
    assert_eq!(msg(first.required("property")), "subscription_data[0][\"property\"] field is missing");
    assert_eq!(
        msg(first.required("a\"b").unwrap().string()),
        "subscription_data[0][\"a\\\"b\"] is not a string"
    );
    assert_eq!(
        msg(first.check_only(&["stream_id"])),
        "Argument \"a\"b\" at subscription_data[0] is unexpected"
    );
    let second = items[1].object().unwrap();
    assert_eq!(second.required("stream_id").unwrap().int::<u32>().unwrap(), 4);
    assert!(second.required("value").unwrap().boolean().unwrap());
    assert!(second.optional("nothing").is_none());
    assert!(second.check_only(&["value", "stream_id"]).is_ok());
    assert_eq!(msg(items[1].list().map(drop)), "subscription_data[1] is not a list");
    assert_eq!(msg(field.root().object()), "subscription_data is not a dict");
    assert_eq!(msg(one("j", "[{").required_json("j")), "j is not valid JSON");
    assert_eq!(one("j", "null").required_json("j").unwrap().into_value(), json!(null));
}

#[test]
fn lengths_count_characters() {
    assert!(check_length_max("topic", &"é".repeat(60), 60).is_ok());
    assert_eq!(
        msg(check_length_max("topic", &"x".repeat(61), 60)),
        "topic is too long (limit: 60 characters)"
    );
    assert!(check_not_blank("name", "x").is_ok());
    assert_eq!(msg(check_not_blank("name", "")), "name cannot be blank");
}

#[test]
fn parameters_not_utf8_are_named() {
    let parse = |form: &[u8]| Fields::parse(b"", &BodyKind::Form, form);
    assert_eq!(msg(parse(b"a=1&content=%ff")), "content is not valid UTF-8");
    assert_eq!(msg(parse(b"a=1&\xff=2")), "Parameter name is not valid UTF-8");
    // Two halves of one character, in two parameters.
    assert_eq!(msg(parse(b"a=%C3&%A9=1")), "a is not valid UTF-8");
    assert_eq!(msg(parse(b"%C3=%A9")), "Parameter name is not valid UTF-8");
    let many = "a=1&".repeat(1001);
    assert_eq!(msg(parse(many.as_bytes())), "Too many parameters (limit: 1000)");
}

fn multipart(body: &str) -> Result<Fields, ApiError> {
    Fields::parse(b"q=1", &BodyKind::Multipart("XX".into()), body.replace('\n', "\r\n").as_bytes())
}

#[test]
fn multipart_bodies() {
    let fields = multipart(
        "preamble\n--XX\nContent-Disposition: form-data; name=\"content\"\n\nhello\n--not XX\n--XX  \n\
         content-type: text/plain\ncontent-disposition:form-data; name=topic\n\n\n--XX\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"a;b.txt\"\n\nbytes\n--XX\n\
         Content-Disposition: form-data; name=\"q\\\"\"\n\n2\n--XX--\nepilogue",
    )
    .unwrap();
    assert_eq!(fields.optional_str("content"), Some("hello\r\n--not XX"));
    assert_eq!(fields.optional_str("topic"), Some(""));
    assert_eq!(fields.optional_str("q\""), Some("2"));
    assert_eq!(fields.optional_str("file"), None);
    assert_eq!(fields.ignored(), ["q"]);
    assert_eq!(multipart("--XX--").unwrap().ignored(), ["q"]);
    // What a client sends for a form without fields.
    assert_eq!(multipart("").unwrap().ignored(), ["q"]);
    let cases = [
        "\n",
        "no boundary at all",
        "--XX",
        "--XX\n\nvalue\n--XX--",
        "--XX\nContent-Disposition: form-data\n\nvalue\n--XX--",
        "--XX\nContent-Disposition: form-data; name=\"a\"\n\nvalue",
        "--XX\nContent-Disposition: form-data; name=\"a\"\n",
        "--XXjunk\nContent-Disposition: form-data; name=\"a\"\n\nvalue\n--XX--",
    ];
    for body in cases {
        assert_eq!(msg(multipart(body)), "Malformed multipart body", "{body:?}");
    }
    let bad = b"--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xff\r\n--XX--";
    let parsed = Fields::parse(b"", &BodyKind::Multipart("XX".into()), bad);
    assert_eq!(msg(parsed), "a is not valid UTF-8");
}

proptest! {
    #[test]
    fn any_bytes_are_answered(query in prop::collection::vec(any::<u8>(), 0..60), body in prop::collection::vec(any::<u8>(), 0..200)) {
        for kind in [BodyKind::Form, BodyKind::Multipart("XX".into()), BodyKind::Json, BodyKind::Other] {
            if let Ok(fields) = Fields::parse(&query, &kind, &body) {
                let _ = (fields.optional_int::<u8>("a"), fields.optional_ids("a"), fields.optional_strings("a"), fields.ignored());
            }
        }
    }

    #[test]
    fn almost_multipart_is_answered(pieces in prop::collection::vec(
        prop::sample::select(vec!["--XX", "\r\n", "--", "Content-Disposition: form-data", "; name=\"a\"", ";", "=", "\"", "x", "\\", ":"]), 0..30)) {
        let _ = Fields::parse(b"", &BodyKind::Multipart("XX".into()), pieces.concat().as_bytes());
    }

    #[test]
    fn forms_round_trip(pairs in prop::collection::btree_map(".{1,12}", ".{0,40}", 0..8)) {
        let encoded = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let (as_query, as_body) = (form(&encoded, ""), form("", &encoded));
        let mut multipart = String::new();
        for (name, value) in &pairs {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            multipart += &format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        }
        let multipart = Fields::parse(b"", &BodyKind::Multipart("XX".into()), (multipart + "--XX--").as_bytes());
        for (name, value) in &pairs {
            prop_assert_eq!(as_query.optional_str(name), Some(value.as_str()));
            prop_assert_eq!(as_body.optional_str(name), Some(value.as_str()));
            // A name with a line break cannot be written in a multipart header.
            if !pairs.keys().any(|name| name.contains(['\r', '\n'])) {
                prop_assert_eq!(multipart.as_ref().unwrap().optional_str(name), Some(value.as_str()));
            }
        }
        let mut expected: Vec<&String> = pairs.keys().filter(|name| *name != "client" && *name != "method").collect();
        expected.sort();
        let ignored = form(&encoded, "").ignored();
        prop_assert_eq!(ignored.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn integers_round_trip(number in any::<i64>()) {
        prop_assert_eq!(one("n", &number.to_string()).required_int::<i64>("n").unwrap(), number);
    }
}
