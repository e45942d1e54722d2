//! The size of a file does not matter to the memory of the server.

use crate::support::ServerProcess;
use crate::support::raw_connection::RawConnection;

const FILE_MIB: usize = 300;
const GROWTH_MIB_MAX: usize = 64;

/// The largest resident size of a process since it was reset, in MiB.
fn peak_mib(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

#[tokio::test]
async fn large_upload_and_download_need_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let args = ["dev", "--listen", "127.0.0.1:0", "--data", &data];
    let server = ServerProcess::start(&args, &[("MILLSTREAM_UPLOADS_FILE_MIB_MAX", "1024")]);
    let hamlet = server.user("hamlet").await;
    std::fs::write(format!("/proc/{}/clear_refs", server.id()), "5").expect("the peak is reset");
    let before = peak_mib(server.id());
    let start = "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\r\n";
    let length = start.len() + (FILE_MIB << 20) + "\r\n--x--\r\n".len();
    let mut connection = RawConnection::connect(&hamlet.url).await;
    let head = format!(
        "POST /api/v1/user_uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {length}\r\n\r\n{start}",
        hamlet.authorization()
    );
    connection.write(head).await;
    let piece = vec![7; 1 << 20];
    for _ in 0..FILE_MIB {
        connection.write(&piece).await;
    }
    connection.write("\r\n--x--\r\n").await;
    let answer = connection.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let own = hamlet.get("/attachments", &[]).ok().await;
    let mut files = own["attachments"].as_array().expect("a list").iter();
    let file = files.find(|file| file["name"] == "a.bin").expect("the uploaded file");
    assert_eq!(file["size"], FILE_MIB << 20);
    let url = format!("{}/user_uploads/{}", hamlet.url, file["path_id"].as_str().expect("a path"));
    let mut read =
        hamlet.http.get(url).basic_auth(&hamlet.email, Some(&hamlet.key)).send().await.expect("a file");
    let mut bytes = 0;
    while let Some(chunk) = read.chunk().await.expect("its bytes") {
        bytes += chunk.len();
    }
    assert_eq!(bytes, FILE_MIB << 20);
    let growth = peak_mib(server.id()).saturating_sub(before);
    assert!(growth <= GROWTH_MIB_MAX, "{growth} MiB for a file of {FILE_MIB} MiB");
    hamlet.delete(&format!("/attachments/{}", file["id"]), &[]).ok().await;
}
