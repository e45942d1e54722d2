//! The command line that makes a call.

use super::document::own_path;
use super::operation::{Answer, Operation, PART_TYPE, Parameter};
use super::path_parameters;
use crate::http::Login;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// What the example of an incoming webhook sends: any JSON, as the integration `json` takes it.
pub const WEBHOOK_DOCUMENT: &str = r#"{"build": "passed"}"#;

/// What is encoded in a query. Placeholders such as `API_KEY` stay as they are.
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// A command with the parameters of an example, or with the required ones in capital letters.
pub fn command(url: &str, operation: &Operation, login: Login, example: &Value) -> String {
    let mut pairs = pairs(operation, example);
    let mut parts = vec![start(operation, login, !pairs.is_empty())];
    parts.extend(headers(url, operation).iter().map(|header| format!("-H {}", quoted_or_expanded(header))));
    let mut address = format!("{url}{}", shown_path(operation, example));
    if operation.is_webhook {
        parts.push(format!("--data {}", quoted(WEBHOOK_DOCUMENT)));
        let encoded = |text: &str| utf8_percent_encode(text, IN_QUERY).to_string();
        let query = pairs.drain(..).map(|(name, value)| format!("{name}={}", encoded(&value)));
        address.push_str(&format!("?{}", query.collect::<Vec<_>>().join("&")));
    }
    let file = sent_file(operation);
    let flag = if file.is_some_and(|file| !file.is_body) { "-F" } else { "--data-urlencode" };
    parts.extend(pairs.iter().map(|(name, value)| format!("{flag} {}", quoted(&format!("{name}={value}")))));
    match file {
        Some(file) if !file.is_body => parts.push(format!("-F {}=@FILE", file.name)),
        Some(_) => parts.push("--data-binary @FILE".to_owned()),
        None => {}
    }
    if matches!(operation.answer, Answer::File | Answer::Picture) {
        parts.push("-o FILE".to_owned());
    }
    parts.push(quoted(&address));
    parts.join(" \\\n  ")
}

/// The first line: the method, whether headers are shown, and the credentials.
fn start(operation: &Operation, login: Login, has_pairs: bool) -> String {
    let has_data = has_pairs || operation.is_webhook || sent_file(operation).is_some();
    let mut start = match (operation.method(), has_data) {
        ("GET", false) | ("POST", true) => "curl".to_owned(),
        ("GET", true) => "curl --get".to_owned(),
        ("HEAD", _) => "curl --head".to_owned(),
        (method, _) => format!("curl -X {method}"),
    };
    let is_about_headers = matches!(operation.answer, Answer::Redirect | Answer::Tus);
    if is_about_headers && operation.method() != "HEAD" {
        start.push_str(" -i");
    }
    if login != Login::None && !operation.is_webhook && !operation.is_of_session() {
        start.push_str(" -u EMAIL:API_KEY");
    }
    start
}

/// The headers that the call needs besides credentials.
fn headers(url: &str, operation: &Operation) -> Vec<String> {
    let mut headers = Vec::new();
    if operation.is_webhook {
        headers.push("Content-Type: application/json".to_owned());
    }
    if operation.is_of_session() {
        let prefix = if url.starts_with("https:") { "__Host-" } else { "" };
        headers.push(format!("Cookie: {prefix}sessionid=SESSION"));
        headers.push("X-CSRFToken: TOKEN".to_owned());
    }
    if operation.answer == Answer::Tus {
        headers.push("Tus-Resumable: 1.0.0".to_owned());
        match operation.method() {
            "POST" => headers.push("Upload-Length: $(wc -c < FILE)".to_owned()),
            "PATCH" => headers.push("Upload-Offset: 0".to_owned()),
            _ => {}
        }
        if operation.file.is_some() {
            headers.push(format!("Content-Type: {PART_TYPE}"));
        }
    }
    headers
}

/// The file that the command sends; one that is optional is left out.
fn sent_file(operation: &Operation) -> Option<super::operation::File> {
    operation.file.filter(|file| file.is_required || file.is_body)
}

/// The path of an example, or with an example of each variable part.
fn shown_path(operation: &Operation, example: &Value) -> String {
    let path = example["path"].as_str().map_or_else(|| own_path(operation), str::to_owned);
    path_parameters::filled(&path)
}

/// Names and values: of the example, or of what is required, with the name in capital letters or a value of its form. The key
/// of a webhook is that of the reader's bot, so that a placeholder stands for the recorded one.
fn pairs(operation: &Operation, example: &Value) -> Vec<(String, String)> {
    if let Some(recorded) = example["parameters"].as_object() {
        let shown = |name: &str, value: &Value| match operation.is_webhook && name == "api_key" {
            true => name.to_uppercase(),
            false => text(value),
        };
        return recorded.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect();
    }
    let required = operation.parameters.iter().filter(|parameter| parameter.is_required);
    let stand_in = |parameter: &Parameter| match parameter.kind.example() {
        Some(value) => value,
        None => parameter.name.to_uppercase(),
    };
    required.map(|parameter| (parameter.name.to_string(), stand_in(parameter))).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=:/._-@".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A word for the shell, which may have a command whose output stands in its place.
fn quoted_or_expanded(word: &str) -> String {
    if word.contains("$(") { format!("\"{word}\"") } else { quoted(word) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::operations::operations;
    use serde_json::json;

    fn of(id: &str) -> Operation {
        operations().into_iter().find(|one| one.id == id).unwrap()
    }

    #[test]
    fn commands_of_examples_and_of_required_parameters() {
        let example = json!({"path": "/api/v1/messages", "parameters": {"content": "it's", "to": [1]}});
        let text = command("http://h", &of("send-message"), Login::Account, &example);
        assert_eq!(
            text,
            "curl -u EMAIL:API_KEY \\\n  --data-urlencode 'content=it'\\''s' \\\n  --data-urlencode 'to=[1]' \\\n  \
             http://h/api/v1/messages"
        );
        let text = command("http://h", &of("get-stream-id"), Login::Account, &Value::Null);
        assert_eq!(
            text,
            "curl --get -u EMAIL:API_KEY \\\n  --data-urlencode stream=STREAM \\\n  http://h/api/v1/get_stream_id"
        );
        let text = command("http://h", &of("delete-message"), Login::Account, &Value::Null);
        assert_eq!(text, "curl -X DELETE -u EMAIL:API_KEY \\\n  http://h/api/v1/messages/335");
        let text = command("http://h", &of("upload-realm-logo"), Login::Administrator, &Value::Null);
        assert_eq!(
            text,
            "curl -u EMAIL:API_KEY \\\n  -F night=true \\\n  -F file=@FILE \\\n  http://h/api/v1/realm/logo"
        );
        // Without data it would be a GET.
        let example = json!({"path": "/api/v1/export/realm", "parameters": {}});
        let text = command("http://h", &of("export-realm"), Login::Administrator, &example);
        assert_eq!(text, "curl -X POST -u EMAIL:API_KEY \\\n  http://h/api/v1/export/realm");
    }

    #[test]
    fn commands_with_other_credentials() {
        let text = command("http://h", &of("fetch-api-key"), Login::None, &Value::Null);
        assert_eq!(
            text,
            "curl \\\n  --data-urlencode username=USERNAME \\\n  --data-urlencode password=PASSWORD \\\n  \
             http://h/api/v1/fetch_api_key"
        );
        let text = command("https://h", &of("fetch-own-api-key"), Login::Human, &Value::Null);
        assert_eq!(
            text,
            "curl \\\n  -H 'Cookie: __Host-sessionid=SESSION' \\\n  -H 'X-CSRFToken: TOKEN' \\\n  \
             --data-urlencode password=PASSWORD \\\n  https://h/json/fetch_api_key"
        );
        let example =
            json!({"path": "/api/v1/external/json", "parameters": {"api_key": "recorded", "stream": "a b"}});
        let text = command("http://h", &of("post-webhook"), Login::KeyInUrl, &example);
        assert_eq!(
            text,
            "curl \\\n  -H 'Content-Type: application/json' \\\n  --data '{\"build\": \"passed\"}' \\\n  \
             'http://h/api/v1/external/json?api_key=API_KEY&stream=a%20b'"
        );
    }

    #[test]
    fn commands_of_uploads_in_parts_have_the_headers_of_the_protocol() {
        let of = |id: &str| command("http://h", &of(id), Login::Account, &Value::Null);
        assert_eq!(
            of("begin-upload"),
            "curl -i -u EMAIL:API_KEY \\\n  -H 'Tus-Resumable: 1.0.0' \\\n  -H \"Upload-Length: $(wc -c < FILE)\" \\\n  \
             -H 'Content-Type: application/offset+octet-stream' \\\n  --data-binary @FILE \\\n  http://h/api/v1/tus/"
        );
        assert!(
            of("continue-upload").contains("-X PATCH")
                && of("continue-upload").contains("-H 'Upload-Offset: 0'")
        );
        assert!(of("get-upload").starts_with("curl --head -u EMAIL:API_KEY \\\n  -H 'Tus-Resumable: 1.0.0'"));
    }

    #[test]
    fn no_command_has_a_placeholder_that_curl_would_expand() {
        for operation in operations() {
            let text = command("http://h", &operation, Login::Account, &Value::Null);
            let address = text.lines().last().unwrap();
            assert!(!address.contains('{') && !address.contains('['), "{}: {text}", operation.id);
        }
    }
}
