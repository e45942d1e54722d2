//! Queries of a directory that answers as the test says, over the network.

use super::failure::failure_text;
use super::*;
use crate::config::Config;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

#[test]
fn user_names_are_escaped_in_filters() {
    let filter = |name| filter_of("(|(uid={user})(mail={user}))", name);
    assert_eq!(filter("ada"), "(|(uid=ada)(mail=ada))");
    assert_eq!(filter("*)(uid=*"), "(|(uid=\\2a\\29\\28uid=\\2a)(mail=\\2a\\29\\28uid=\\2a))");
    assert_eq!(filter_of("(uid={user})", "a\\\0"), "(uid=a\\5c\\00)");
}

#[test]
fn errors_of_the_directory_are_words() {
    for (code, own_text, expected) in [
        (INVALID_CREDENTIALS, "", "x: the name or the password is wrong (result code 49)"),
        (NO_SUCH_OBJECT, " ", "x: the directory has no such entry (result code 32)"),
        (80, "bad\n", "x: the directory answers with an error (result code 80): bad"),
    ] {
        assert_eq!(failure_text("x", code, own_text), expected);
    }
}

const BIND: u8 = 0x60;
const SEARCH: u8 = 0x63;
const BIND_RESPONSE: u8 = 0x61;
const ENTRY: u8 = 0x64;
const DONE: u8 = 0x65;
/// The result code 0, and two empty texts.
const SUCCESS: &[u8] = &[0x0a, 1, 0, 4, 0, 4, 0];

fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    [&[tag, 0x82][..], &u16::try_from(content.len()).unwrap().to_be_bytes(), &content].concat()
}

fn attribute(name: &str, text: &str) -> Vec<u8> {
    let values = value(0x31, &[&value(4, &[text.as_bytes()])]);
    value(0x30, &[&value(4, &[name.as_bytes()]), &values])
}

fn person() -> Vec<u8> {
    let attributes = [attribute("mail", "ada@acme.example"), attribute("cn", "Ada Byron")].concat();
    value(ENTRY, &[&value(4, &[b"uid=ada"]), &value(0x30, &[&attributes])])
}

/// A directory on a port of this machine.
async fn directory() -> (TcpListener, LdapDirectory) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut settings = Config::load(None, [], Default::default()).unwrap().ldap;
    settings.url = format!("ldap://{}", listener.local_addr().unwrap());
    (settings.search_base, settings.bind_dn) = ("dc=acme".into(), "cn=reader".into());
    (listener, LdapDirectory::of(&settings).unwrap())
}

/// Answers each request with the operations that `answers` has for it, until the client ends; the tags of the requests.
async fn serve(listener: &TcpListener, answers: impl Fn(u8) -> Vec<Vec<u8>>) -> Vec<u8> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut requests = Vec::new();
    while let Ok(Some(message)) = ber::read_message(&mut stream).await {
        let whole = ber::values(&message).unwrap();
        let parts = ber::values(whole[0].content).unwrap();
        requests.push(parts[1].tag);
        for answer in answers(parts[1].tag) {
            let message = value(0x30, &[&value(2, &[parts[0].content]), &answer]);
            if stream.write_all(&message).await.is_err() {
                return requests;
            }
        }
    }
    requests
}

#[actix_web::test]
async fn person_is_searched_for_and_bound() {
    let (listener, directory) = directory().await;
    let served = serve(&listener, |request| match request {
        BIND => vec![value(BIND_RESPONSE, &[SUCCESS])],
        SEARCH => vec![person(), value(DONE, &[SUCCESS])],
        _ => Vec::new(),
    });
    let asked = async { directory.acquire_permit("ada").await.unwrap().login("ada", "secret").await };
    let (requests, answer) = tokio::join!(served, asked);
    let (dn, email, full_name) = ("uid=ada".into(), "ada@acme.example".into(), "Ada Byron".into());
    assert_eq!(answer, Ok(LdapAnswer::Person(LdapPerson { dn, email, full_name })));
    // The end is announced.
    assert_eq!(requests, [BIND, SEARCH, BIND, 0x42]);
}

/// What the directory may send is bounded in size, in depth, and in form. On answers that are LDAP, but none to the request, the
/// library panics, which ends the query alone.
#[actix_web::test]
async fn answers_that_may_not_be_decoded_are_errors() {
    let deep = (0..100).fold(Vec::new(), |inside: Vec<u8>, _| value(0x30, &[&inside]));
    let many = (0..20).map(|_| value(ENTRY, &[&value(4, &[&[b'x'; 60_000]])])).collect();
    let wrong = vec![value(BIND_RESPONSE, &[SUCCESS])];
    for (answers, expected) in [
        (vec![value(ENTRY, &[&deep])], "more than 16 inside each other"),
        (many, "the directory has sent more than 256 KiB"),
        (wrong, "premature end of search stream"),
        (vec![value(ENTRY, &[&value(4, &[])]), value(DONE, &[SUCCESS])], "something else than was asked for"),
    ] {
        let (listener, directory) = directory().await;
        let answers = &answers;
        let served = serve(&listener, |request| match request {
            BIND => vec![value(BIND_RESPONSE, &[SUCCESS])],
            _ => answers.clone(),
        });
        let asked = async { directory.acquire_permit("ada").await.unwrap().find("ada").await };
        let (_, answer) = tokio::join!(served, asked);
        let Err(LdapFailure::Unavailable(text)) = answer else { panic!("{expected}: {answer:?}") };
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[actix_web::test]
async fn announced_gigabytes_are_not_awaited() {
    for begin in [&[0x30, 0x84, 0x80, 0, 0, 0][..], b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
        let (listener, directory) = directory().await;
        let endless = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(begin).await.unwrap();
            send_until_closed(stream).await
        };
        let asked = async { directory.acquire_permit("ada").await.unwrap().find("ada").await };
        let (sent, answer) = tokio::join!(endless, asked);
        let Err(LdapFailure::Unavailable(text)) = answer else { panic!("{answer:?}") };
        let expected = if begin[0] == 0x30 { "of more than 256 KiB" } else { "something else than LDAP" };
        assert!(text.contains(expected), "{text}");
        assert!(sent < 64 << 20, "{sent} bytes were read");
    }
}

/// Sends up to 64 MiB.
async fn send_until_closed(mut stream: TcpStream) -> usize {
    let (mut sent, bytes) = (0, [0; 1 << 16]);
    while sent < 64 << 20 && stream.write_all(&bytes).await.is_ok() {
        sent += bytes.len();
    }
    sent
}
