//! Repeated slashes in paths. A client whose server is `https://chat.example.com/` asks for `//api/v1/…`; proxies such as nginx merge
//! such slashes, and so does this server, before anything reads the path.

use actix_web::dev::ServiceRequest;
use actix_web::http::Uri;
use actix_web::http::uri::PathAndQuery;

/// Makes the repeated slashes in the path of a request single ones. The query, and encoded slashes, stay as they are.
pub fn merge_slashes(request: &mut ServiceRequest) {
    let uri = request.uri();
    if uri.path().contains("//")
        && let Some(merged) = merged(uri)
    {
        request.match_info_mut().get_mut().update(&merged);
        request.head_mut().uri = merged;
    }
}

/// An address with a merged path; none if it were invalid.
fn merged(uri: &Uri) -> Option<Uri> {
    let mut path = String::with_capacity(uri.path().len());
    for character in uri.path().chars() {
        if character != '/' || !path.ends_with('/') {
            path.push(character);
        }
    }
    if let Some(query) = uri.query() {
        path = [&path, "?", query].concat();
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn only_slashes_of_paths_are_merged() {
        let cases = [
            ("//api/v1/users/me", "/api/v1/users/me"),
            ("/api/v1///users//me/", "/api/v1/users/me/"),
            ("//evil.example", "/evil.example"),
            ("///", "/"),
            ("/a//b?next=//c//d", "/a/b?next=//c//d"),
            ("/a?next=//c", "/a?next=//c"),
            ("/users/a%2F%2Fb", "/users/a%2F%2Fb"),
            ("http://chat.example.com//api//v1?a=//", "http://chat.example.com/api/v1?a=//"),
        ];
        for (sent, seen) in cases {
            let mut request = TestRequest::default().to_srv_request();
            request.head_mut().uri = sent.parse().unwrap();
            merge_slashes(&mut request);
            assert_eq!(request.uri().to_string(), seen, "{sent}");
            assert_eq!(request.path(), seen.parse::<Uri>().unwrap().path(), "{sent}");
        }
    }
}
