//! Accounts given by a file, for servers without the development endpoints: JSON or CSV of email address and API key.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use super::csv;
use crate::error::LoadError;
use crate::text::without_mark;

/// As many as a scenario can use.
const USERS_MAX: usize = 100_000;

/// An account of a users file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Given {
    pub email: String,
    pub api_key: String,
    /// Only needed for background logins.
    #[serde(default)]
    pub password: Option<String>,
}

/// The accounts of a file. JSON is a list of objects with `email` and `api_key`, or an object with such a list as `users`
/// (the ready file of a development server is one); CSV has these names in its first line.
pub fn read(path: &Path) -> Result<Vec<Given>, LoadError> {
    let text = std::fs::read_to_string(path).map_err(|source| LoadError::file(path, source))?;
    let text = without_mark(&text);
    let failed = |reason: String| LoadError::Usage(format!("{}: {reason}", path.display()));
    let users = match text.trim_start() {
        start if start.starts_with("[api]") => {
            Err("this is a zuliprc, of one account: give JSON or CSV with the columns \
            `email` and `api_key`, which are its `email` and `key`"
                .to_owned())
        }
        start if start.starts_with(['[', '{']) => parse_json(text),
        _ => parse_csv(text),
    };
    let users = users.map_err(failed)?;
    if users.is_empty() || users.len() > USERS_MAX {
        return Err(failed(format!("{} users; it must have 1 to {USERS_MAX}", users.len())));
    }
    match find_repeated(&users) {
        Some(reason) => Err(failed(reason)),
        None => Ok(users),
    }
}

/// Why an account is there twice, if one is: by its email address, in whatever case, or by its key.
fn find_repeated(users: &[Given]) -> Option<String> {
    let (mut emails, mut keys) = (HashSet::new(), HashMap::new());
    users.iter().find_map(|Given { email, api_key, .. }| {
        if !emails.insert(email.to_lowercase()) {
            return Some(format!("{email} is there twice"));
        }
        let first = keys.insert(api_key.as_str(), email)?;
        Some(format!("{first} and {email} have the same key, so they are one account"))
    })
}

fn parse_json(text: &str) -> Result<Vec<Given>, String> {
    #[derive(Deserialize)]
    struct File {
        users: Vec<Given>,
    }
    let parsed: Result<Vec<Given>, _> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(text),
        false => serde_json::from_str(text).map(|file: File| file.users),
    };
    let users = parsed.map_err(|error| error.to_string())?;
    match users.iter().position(|user| user.email.is_empty() || user.api_key.is_empty()) {
        Some(place) => Err(format!("account {}: `email` and `api_key` must not be empty", place + 1)),
        None => Ok(users),
    }
}

fn parse_csv(text: &str) -> Result<Vec<Given>, String> {
    let mut rows = csv::rows(text)?.into_iter();
    let header = rows.next().map(|row| row.cells).unwrap_or_default();
    let column = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    let (Some(email), Some(key)) = (column("email"), column("api_key")) else {
        return Err("the first line must name the columns `email` and `api_key`".to_owned());
    };
    let password = column("password");
    let mut users = Vec::new();
    for csv::Row { line, cells } in rows {
        if cells.len() != header.len() {
            let there = count_fields(cells.len());
            return Err(format!("line {line} has {there}, and the first line {}", header.len()));
        }
        if cells[email].is_empty() || cells[key].is_empty() {
            return Err(format!("line {line}: `email` and `api_key` must not be empty"));
        }
        let password = password.map(|place| cells[place].clone()).filter(|text| !text.is_empty());
        users.push(Given { email: cells[email].clone(), api_key: cells[key].clone(), password });
    }
    Ok(users)
}

fn count_fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(email: &str, api_key: &str) -> Given {
        Given { email: email.to_owned(), api_key: api_key.to_owned(), password: None }
    }

    #[test]
    fn json_and_csv_give_the_same_accounts() {
        let wanted = vec![given("a@x", "k1"), given("b@x", "k2")];
        let list = r#"[{"email":"a@x","api_key":"k1"},{"email":"b@x","api_key":"k2","user_id":7}]"#;
        assert_eq!(parse_json(list).unwrap(), wanted);
        assert_eq!(parse_json(&format!(r#"{{"url":"","users":{list}}}"#)).unwrap(), wanted);
        assert_eq!(parse_csv("api_key, email\nk1,a@x\n\nk2, b@x\n").unwrap(), wanted);
        assert_eq!(parse_csv("API_Key,Email\nk1,a@x\nk2,b@x\n").unwrap(), wanted);
        let with_password = parse_csv("email,api_key,password\na@x,k1,p\nb@x,k2,\n").unwrap();
        assert_eq!(with_password[0].password.as_deref(), Some("p"));
        assert_eq!(with_password[1], wanted[1]);
    }

    #[test]
    fn files_of_spreadsheets_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.csv");
        std::fs::write(&path, "\u{feff}\"email\",\"api_key\"\r\n\"a@x\",\"k1\"\r\nb@x,k2\r\n").unwrap();
        assert_eq!(read(&path).unwrap(), [given("a@x", "k1"), given("b@x", "k2")]);
        std::fs::write(&path, "\u{feff}[{\"email\": \"a@x\", \"api_key\": \"k1\"}]").unwrap();
        assert_eq!(read(&path).unwrap(), [given("a@x", "k1")]);
    }

    #[test]
    fn malformed_files_are_refused_with_the_reason() {
        assert!(parse_csv("a@x,k1\n").unwrap_err().contains("`api_key`"));
        assert_eq!(
            parse_csv("email,api_key\na@x\n").unwrap_err(),
            "line 2 has 1 field, and the first line 2"
        );
        assert!(parse_csv("email,api_key\na@x,\n").unwrap_err().contains("must not be empty"));
        assert!(parse_json(r#"[{"email":"a@x"}]"#).unwrap_err().contains("api_key"));
        let empty = r#"[{"email":"a@x","api_key":"k1"},{"email":"","api_key":"k2"}]"#;
        assert_eq!(parse_json(empty).unwrap_err(), "account 2: `email` and `api_key` must not be empty");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.csv");
        std::fs::write(&path, "[api]\nemail=a@x\nkey=k1\nsite=http://x\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("users.csv: this is a zuliprc"));
        std::fs::write(&path, "email,api_key\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("users.csv: 0 users"));
        std::fs::write(&path, r#"[{"email":"a@x","api_key":"k1"},{"email":"b@x","api_key":"k1"}]"#).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.ends_with("users.csv: a@x and b@x have the same key, so they are one account"),
            "{error}"
        );
        std::fs::write(&path, "email,api_key\na@x,k1\nb@x,k2\nA@x,k1\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("users.csv: A@x is there twice"));
    }
}
