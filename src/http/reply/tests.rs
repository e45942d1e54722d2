//! Envelopes, errors in them, and what counts against the budget.

use super::*;
use actix_web::body::to_bytes;

async fn body_of(answer: HandlerResult, ignored: &[&str]) -> String {
    let ignored: Vec<String> = ignored.iter().map(|name| (*name).to_owned()).collect();
    let body = to_bytes(answer.unwrap().into_response(&ignored).into_body()).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

#[derive(Serialize)]
struct Sent {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<u8>,
}

#[derive(Serialize)]
struct Nothing {}

#[actix_web::test]
async fn envelopes() {
    let bare = "{\"result\":\"success\",\"msg\":\"\"}\n";
    assert_eq!(body_of(reply_ok(), &[]).await, bare);
    assert_eq!(body_of(reply(&Nothing {}), &[]).await, bare);
    assert_eq!(
        body_of(reply(&Sent { id: 42, policy: None }), &[]).await,
        "{\"result\":\"success\",\"msg\":\"\",\"id\":42}\n"
    );
    assert_eq!(
        body_of(reply(&Sent { id: 42, policy: Some(3) }), &["a", "q\"t"]).await,
        "{\"result\":\"success\",\"msg\":\"\",\"id\":42,\"policy\":3,\
         \"ignored_parameters_unsupported\":[\"a\",\"q\\\"t\"]}\n"
    );
    let page = Envelope::with_capacity(10).raw_field("messages", b"[{}]").field("anchor", &7);
    assert_eq!(
        body_of(page.unwrap().reply(), &["z"]).await,
        "{\"result\":\"success\",\"msg\":\"\",\"messages\":[{}],\"anchor\":7,\
         \"ignored_parameters_unsupported\":[\"z\"]}\n"
    );
}

#[actix_web::test]
async fn spliced_parts_are_in_place() {
    let shared = Bytes::from("7".repeat(COPIED_BYTES_MAX + 1));
    let mut envelope = Envelope::with_capacity(0);
    envelope.open_field("a");
    envelope.splice(shared.clone());
    envelope.open_field("b").push(b'[');
    envelope.splice(Bytes::from_static(b"1"));
    envelope.buffer().extend_from_slice(b",2]");
    let own = envelope.own_bytes();
    assert!(own < COPIED_BYTES_MAX, "the shared part is not counted: {own}");
    envelope = envelope.counting_spliced();
    assert_eq!(envelope.own_bytes(), own + shared.len());
    let expected = format!(
        "{{\"result\":\"success\",\"msg\":\"\",\"a\":{},\"b\":[1,2],\
         \"ignored_parameters_unsupported\":[\"z\"]}}\n",
        "7".repeat(shared.len())
    );
    assert_eq!(body_of(envelope.reply(), &["z"]).await, expected);
}

#[actix_web::test]
async fn flow_is_closed_after_its_last_part() {
    let start = Envelope::with_capacity(0).raw_field("messages", b"[1");
    let more = stream::iter([Ok(Bytes::from_static(b",2")), Ok(Bytes::from_static(b"]"))]).boxed();
    assert_eq!(
        body_of(Ok(Reply::flow(start, more)), &["z"]).await,
        "{\"result\":\"success\",\"msg\":\"\",\"messages\":[1,2],\
         \"ignored_parameters_unsupported\":[\"z\"]}\n"
    );
}

#[actix_web::test]
async fn large_responses_are_counted_until_sent() {
    let budget = ByteBudget::new(200 << 10, 150 << 10);
    let holder = Holder::address(None);
    let answer = |bytes: usize| Envelope::with_capacity(0).field("a", &"x".repeat(bytes)).unwrap().reply();
    let small = answer(100).unwrap().admitted(&budget, holder).unwrap();
    assert_eq!(budget.used_bytes(), 0);
    let large = answer(100 << 10).unwrap().admitted(&budget, holder).unwrap();
    assert!(budget.used_bytes() > 100 << 10);
    let refused = answer(100 << 10).unwrap().admitted(&budget, holder).err();
    assert_eq!(refused, Some(BudgetFull::Share));
    let response = large.into_response(&[]);
    assert!(budget.used_bytes() > 100 << 10);
    drop((response, small));
    assert_eq!(budget.used_bytes(), 0);
}

#[test]
fn non_object_fields_are_an_internal_error() {
    assert_eq!(reply(&[1, 2]).err(), Some(ApiError::internal()));
}

#[actix_web::test]
async fn headers() {
    let response = reply_ok().unwrap().into_response(&[]);
    assert_eq!(response.headers().get("Content-Type").unwrap(), "application/json");
    assert_eq!(
        response.headers().get("Cache-Control").unwrap(),
        "max-age=0, no-cache, no-store, must-revalidate, private"
    );
    let plain = Reply::plain("text/plain", "", "hello").into_response(&["a".to_owned()]);
    assert!(plain.headers().get("Cache-Control").is_none());
    assert_eq!(to_bytes(plain.into_body()).await.unwrap(), "hello");
}
