//! The command line that makes a call.

use super::document::path;
use super::operation::Operation;
use serde_json::Value;

/// A command with the parameters of an example, or with the required ones in capital letters.
pub fn command(url: &str, operation: &Operation, example: &Value) -> String {
    let shown = example["path"].as_str().map_or_else(|| path(operation), str::to_owned);
    let mut command = String::from("curl");
    let method = operation.method();
    let has_data = !operation.parameters.is_empty() || operation.file.is_some();
    if !matches!((method, has_data), ("GET", _) | ("POST", true)) {
        command.push_str(if method == "HEAD" { " --head" } else { " -X " });
        command.push_str(if method == "HEAD" { "" } else { method });
    }
    if method == "GET" && has_data {
        command.push_str(" --get");
    }
    if !operation.is_webhook {
        command.push_str(" -u EMAIL:API_KEY");
    }
    let recorded = example["parameters"].as_object();
    let pairs: Vec<(String, String)> = match recorded {
        Some(all) => all.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        None => {
            let required = operation.parameters.iter().filter(|parameter| parameter.is_required);
            required.map(|parameter| (parameter.name.to_string(), parameter.name.to_uppercase())).collect()
        }
    };
    let is_form = operation.file.is_some_and(|file| !file.is_body);
    for (name, value) in &pairs {
        let flag = if is_form { "-F" } else { "--data-urlencode" };
        command.push_str(&format!(" \\\n  {flag} {}", quoted(&format!("{name}={value}"))));
    }
    match operation.file {
        Some(file) if !file.is_body => command.push_str(&format!(" \\\n  -F {}=@FILE", file.name)),
        Some(_) => command.push_str(" \\\n  --data-binary @FILE"),
        None => {}
    }
    command.push_str(&format!(" \\\n  {}", quoted(&format!("{url}{shown}"))));
    command
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::operations::operations;
    use serde_json::json;

    #[test]
    fn commands_of_examples_and_of_required_parameters() {
        let of = |id: &str| operations().into_iter().find(|one| one.id == id).unwrap();
        let example = json!({"path": "/api/v1/messages", "parameters": {"content": "it's", "to": [1]}});
        let text = command("http://h", &of("send-message"), &example);
        assert_eq!(
            text,
            "curl -u EMAIL:API_KEY \\\n  --data-urlencode 'content=it'\\''s' \\\n  --data-urlencode 'to=[1]' \\\n  \
             http://h/api/v1/messages"
        );
        let text = command("http://h", &of("get-stream-id"), &Value::Null);
        assert_eq!(
            text,
            "curl --get -u EMAIL:API_KEY \\\n  --data-urlencode stream=STREAM \\\n  http://h/api/v1/get_stream_id"
        );
        assert!(command("h", &of("delete-message"), &Value::Null).starts_with("curl -X DELETE -u"));
    }
}
