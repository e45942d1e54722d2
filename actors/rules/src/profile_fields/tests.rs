use super::*;
use crate::fixture::{self, BOT, FORMER, GUEST, MEMBER, OTHER_MEMBER};
use model::{Role, SettingValue, UserId};
use serde_json::json;

fn request(name: &str, data: Value) -> FieldRequest {
    FieldRequest { name: Some(name.into()), data: data.as_object().cloned(), ..FieldRequest::default() }
}

fn field(id: u32, name: &str, kind: FieldKind) -> ProfileField {
    let new = check_new_field(&[], 1, &request(name, json!({}))).unwrap();
    ProfileField { id: ProfileFieldId(id), kind, ..new }
}

#[test]
fn new_fields_are_validated() {
    let pattern = |pattern: &str| json!({"subtype": "custom", "url_pattern": pattern});
    let choice = |text: &str| json!({"text": text, "order": "1"});
    let cases: [(i64, &str, Value, Result<&str, &str>); 23] = [
        (1, " Phone ", json!({}), Ok("Phone")),
        (1, " ", json!({}), Err("Label cannot be blank.")),
        (1, &"n".repeat(41), json!({}), Err("name is too long (limit: 40 characters)")),
        (0, "a", json!({}), Err("Invalid field type.")),
        (9, "a", json!({}), Err("Invalid field type.")),
        (8, "Pronouns", json!({}), Ok("Pronouns")),
        (1, "Taken", json!({}), Err("A field with that label already exists.")),
        (3, "a", json!({}), Err("Field must have at least one choice.")),
        (3, "a", json!({"1": choice("x")}), Ok("a")),
        (3, "a", json!({"1": choice("x"), "2": choice("x")}), Err("Field must not have duplicate choices.")),
        (3, "a", json!({"1": {"order": "1"}}), Err("text key is missing from field_data")),
        (3, "a", json!({"1": {"text": "x"}}), Err("order key is missing from field_data")),
        (3, "a", json!({"1": choice(" ")}), Err(r#"field_data["text"] cannot be blank"#)),
        (3, "a", json!({"1": {"text": 1, "order": "1"}}), Err(r#"field_data["text"] is not a string"#)),
        (3, "a", json!({"one": choice("x"), "2.5": choice("y"), "ü": choice("z")}), Ok("a")),
        (3, "a", json!({" ": choice("x")}), Err("'value' cannot be blank.")),
        (7, "", json!({"subtype": "github"}), Ok("GitHub username")),
        (7, "a", json!({"subtype": "custom"}), Err("Invalid external account type")),
        (7, "a", json!({}), Err("Invalid external account type")),
        (7, "a", json!({"subtype": "moon"}), Err("Invalid external account type")),
        (7, "a", pattern("https://x.example/"), Err("URL pattern must contain '%(username)s'.")),
        (7, "a", pattern("https://x.example/%(username)s"), Ok("a")),
        (2, "Biography", json!({}), Ok("Biography")),
    ];
    let others = [field(1, "Taken", FieldKind::ShortText)];
    for (kind, name, data, expected) in cases {
        let found = check_new_field(&others, kind, &request(name, data.clone()));
        let found = found.map(|field| field.name).map_err(|error| error.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{kind} {name} {data}");
    }
}

#[test]
fn two_fields_fit_into_the_summary() {
    let mut fields = vec![field(1, "a", FieldKind::ShortText), field(2, "b", FieldKind::ShortText)];
    let wants = FieldRequest { is_in_summary: Some(true), ..request("c", json!({})) };
    for kind in [2, 6] {
        let refused = check_new_field(&fields, kind, &wants).unwrap_err();
        assert_eq!(refused, PersonalError::KindNotInSummary.into());
    }
    fields.iter_mut().for_each(|field| field.is_in_summary = true);
    assert_eq!(check_new_field(&fields, 1, &wants).unwrap_err(), PersonalError::SummaryFull.into());
    let stays = FieldRequest { is_in_summary: Some(true), ..FieldRequest::default() };
    assert!(check_field_update(&fields, 2, &stays).unwrap().is_in_summary);
}

#[test]
fn known_accounts_cannot_be_renamed() {
    let github = check_new_field(&[], 7, &request("", json!({"subtype": "github"}))).unwrap();
    let fields = [ProfileField { id: ProfileFieldId(3), ..github }];
    let refused = check_field_update(&fields, 3, &request("Hub", json!({"subtype": "github"})));
    assert_eq!(refused, Err(PersonalError::DefaultField.into()));
    let required = FieldRequest { is_required: Some(true), ..FieldRequest::default() };
    assert!(check_field_update(&fields, 3, &required).unwrap().is_required);
    assert_eq!(check_field_update(&fields, 4, &required), Err(PersonalError::FieldMissing { id: 4 }.into()));
}

#[test]
fn orders_name_every_field_once() {
    let fields = [field(1, "a", FieldKind::Date), field(2, "b", FieldKind::Date)];
    assert_eq!(check_field_order(&fields, &[2, 1]), Ok(vec![ProfileFieldId(2), ProfileFieldId(1)]));
    for order in [&[1][..], &[1, 1], &[1, 2, 3], &[1, 2, 2]] {
        assert_eq!(check_field_order(&fields, order), Err(PersonalError::FieldOrderInvalid), "{order:?}");
    }
}

#[test]
fn values_are_validated_by_kind() {
    let dir = fixture::directory();
    let mut choice = field(1, "F", FieldKind::Choice);
    choice.data = json!({"0": {"text": "x", "order": "1"}}).to_string();
    let of = |kind| ProfileField { kind, ..field(1, "F", kind) };
    let cases: Vec<(ProfileField, Value, Result<&str, &str>)> = vec![
        (of(FieldKind::ShortText), json!("hi"), Ok("hi")),
        (of(FieldKind::ShortText), json!(1), Err("F is not a string")),
        (of(FieldKind::ShortText), json!("x".repeat(51)), Err("F is too long (limit: 50 characters)")),
        (of(FieldKind::LongText), json!("x".repeat(501)), Err("F is too long (limit: 500 characters)")),
        (of(FieldKind::Date), json!("2024-02-29"), Ok("2024-02-29")),
        (of(FieldKind::Date), json!("2023-02-29"), Err("F is not a date")),
        (of(FieldKind::Date), json!("2023-2-9"), Err("F is not a date")),
        (of(FieldKind::Date), json!(""), Ok("")),
        (of(FieldKind::Link), json!("https://x.example/a"), Ok("https://x.example/a")),
        (of(FieldKind::Link), json!("javascript:alert(1)"), Err("F is not a URL")),
        (choice.clone(), json!("0"), Ok("0")),
        (choice, json!("1"), Err("'1' is not a valid choice for 'F'.")),
        (of(FieldKind::Person), json!([MEMBER.0]), Ok(&MEMBER_LIST)),
        (of(FieldKind::Person), json!(vec![MEMBER.0; 1_000]), Ok(&MEMBER_LIST)),
        (of(FieldKind::Person), json!([]), Ok("")),
        (of(FieldKind::Person), json!("x"), Err("User IDs is not a list")),
        (of(FieldKind::Person), json!([MEMBER.0, "x"]), Err("User IDs[1] is not an integer")),
        (of(FieldKind::Person), json!([999]), Err("Invalid user ID: 999")),
        (of(FieldKind::Person), json!([BOT.0]), Err(&BOT_REFUSED)),
    ];
    let member = fixture::member();
    for (field, value, expected) in cases {
        let found = check_value(&dir, &member, &field, &value).map_err(|error| error.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{:?} {value}", field.kind);
    }
}

#[test]
fn values_name_a_limited_number_of_people() {
    let mut dir = fixture::directory();
    for id in 1_000..1_101 {
        dir.put_user(fixture::user(UserId(id), &format!("person{id}"), Role::Member));
    }
    let (member, people) = (fixture::member(), field(1, "F", FieldKind::Person));
    let value = |ids: Vec<u32>| check_value(&dir, &member, &people, &json!(ids));
    // Each counts once; the order is that of the request.
    let mut ids: Vec<u32> = (1_000..1_100).rev().collect();
    let stored = json!(ids).to_string();
    ids.extend_from_within(..);
    assert_eq!(value(ids), Ok(stored));
    let refused = value((1_000..1_101).collect()).unwrap_err().to_string();
    assert_eq!(refused, "User IDs is too long (limit: 100 users)");
}

#[test]
fn hidden_people_are_like_missing_ones() {
    let mut dir = fixture::directory();
    let members = SettingValue::Group(fixture::group("role:members"));
    fixture::set_realm(&mut dir, "can_access_all_users_group", members);
    let people = field(1, "F", FieldKind::Person);
    let value = |by: UserId, of: UserId| {
        let found = check_value(&dir, dir.user(by).unwrap(), &people, &json!([of.0]));
        found.map_err(|error| error.to_string())
    };
    for hidden in [MEMBER, FORMER, UserId(99)] {
        assert_eq!(value(GUEST, hidden), Err(format!("Invalid user ID: {hidden}")));
    }
    assert_eq!(value(GUEST, GUEST), Ok(format!("[{GUEST}]")));
    assert_eq!(value(OTHER_MEMBER, MEMBER), Ok(MEMBER_LIST.clone()));
}

static MEMBER_LIST: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| format!("[{}]", MEMBER.0));
static BOT_REFUSED: std::sync::LazyLock<String> =
    std::sync::LazyLock::new(|| format!("User with ID {} is a bot", BOT.0));

#[test]
fn some_fields_are_set_by_administrators_only() {
    let dir = fixture::directory();
    let mut office = field(1, "Office", FieldKind::ShortText);
    office.is_editable_by_user = false;
    let may = |id| check_may_fill_in(dir.user(id).unwrap(), &office);
    assert_eq!(may(MEMBER), Err(PersonalError::FieldNotEditable));
    assert_eq!(may(fixture::ADMINISTRATOR), Ok(()));
}
