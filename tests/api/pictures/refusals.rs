//! Uploads that are refused and leave no file: not a picture, more than one, too large, or decompression bombs.

use super::{bad_image, png, registered, set_realm, stored_files};
use crate::support::{TestServer, TestUser};
use serde_json::json;

/// The upload endpoints, and how their error messages call the file.
const UPLOADS: [(&str, &str); 4] = [
    ("/users/me/avatar", "avatar"),
    ("/realm/icon", "icon"),
    ("/realm/logo", "logo"),
    ("/realm/emoji/a", "file"),
];

fn upload(person: &TestUser, path: &str, files: &[(&str, Vec<u8>)]) -> crate::support::Call {
    person.upload(path, &[("night", &true)], files)
}

#[tokio::test]
async fn upload_requires_one_image_within_size_limit() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let before = registered(&iago).await;
    let mut long = png();
    long.resize((5 << 20) + 1, 0);
    for (path, what) in UPLOADS {
        let one = format!("You must upload exactly one {what}.");
        upload(&iago, path, &[]).bad(&one).await;
        upload(&iago, path, &[("a.png", png()), ("b.png", png())]).bad(&one).await;
        iago.post(path, &[("night", &true)]).bad(&one).await;
        let size = "Uploaded file is larger than the allowed limit of 5 MiB";
        upload(&iago, path, &[("a.png", long.clone())]).bad(size).await;
        let format = bad_image("Invalid image format");
        upload(&iago, path, &[("text.txt", b"hello".to_vec())]).refused(400, format.clone()).await;
        upload(&iago, path, &[("a.tif", b"II*\0\x08\0\0\0".to_vec())]).refused(400, format).await;
        let broken = bad_image("Could not decode image; did you upload an image file?");
        let cut = png()[..60].to_vec();
        upload(&iago, path, &[("a.png", cut)]).refused(400, broken.clone()).await;
        upload(&iago, path, &[("corrupt.png", b"hello".to_vec())]).refused(400, broken).await;
    }
    let after = registered(&iago).await;
    for key in ["avatar_url", "realm_icon_url", "realm_night_logo_url", "realm_emoji"] {
        assert_eq!(after[key], before[key]);
    }
    assert_eq!(stored_files(&t), 0, "refused pictures are not stored");
}

#[tokio::test]
async fn upload_decompression_bomb_is_refused() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    // 30,000 by 30,000 pixels of one color compress to a few kilobytes.
    let mut bomb = png();
    bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let crc = crc32(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&crc);
    for (path, _) in UPLOADS {
        let refusal = bad_image("Image size exceeds limit.");
        upload(&iago, path, &[("a.png", bomb.clone())]).refused(400, refusal).await;
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

#[tokio::test]
async fn avatar_changes_disabled_by_realm() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    set_realm(&t, "avatar_changes_disabled", json!(true)).await;
    let msg = "Avatar changes are disabled in this organization.";
    upload(&hamlet, "/users/me/avatar", &[("a.png", png())]).bad(msg).await;
    upload(&hamlet, "/users/me/avatar", &[]).bad("You must upload exactly one avatar.").await;
    hamlet.delete("/users/me/avatar", &[]).bad(msg).await;
    upload(&iago, "/users/me/avatar", &[("a.png", png())]).ok().await;
    iago.delete("/users/me/avatar", &[]).ok().await;
}

#[tokio::test]
async fn upload_malformed_multipart() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let kind = "multipart/form-data; boundary=xyz";
    let file = "--xyz\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\n\r\nabc";
    for body in ["\r\n", "abc", "--xyz", file, "--xyz\r\nContent-Type: x\r\n\r\nabc\r\n--xyz--\r\n"] {
        let call = iago.send_body(reqwest::Method::POST, "/users/me/avatar", kind, body.into());
        call.bad("Malformed multipart body").await;
    }
    let part = "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n";
    let many = format!("{}--xyz--\r\n", part.repeat(1001));
    for path in ["/users/me/avatar", "/user_uploads"] {
        let call = iago.send_body(reqwest::Method::POST, path, kind, many.clone().into());
        call.bad("Too many parts (maximum 1000).").await;
    }
    // An empty file field, as browsers send it when no file was chosen.
    let empty = "--xyz\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n\r\n--xyz--\r\n";
    for body in [empty, ""] {
        let call = iago.send_body(reqwest::Method::POST, "/users/me/avatar", kind, body.into());
        call.bad("You must upload exactly one avatar.").await;
    }
}
