//! `millstream routes`: the endpoints of the API.

use super::error::CliError;
use super::print::print_text;
use crate::admin::{Answer, Table};
use crate::reference::access::{counted, permission};
use crate::reference::document::document;
use crate::reference::operation::Operation;
use crate::reference::operations::operations;
use crate::routes::{development_table, table};
use serde_json::json;

/// The tools for testing clients are below this path.
const TOOLS_PREFIX: &str = "/dev/";

/// The other paths that only development servers offer.
const DEVELOPMENT_PATHS: &[&str] =
    &["/devlogin/", "/emails", "/emails.json", "/api/v1/dev_fetch_api_key", "/api/v1/dev_list_users"];

/// List the endpoints: method, path, what a call counts as for rate limits, who may call
///
/// Those that only a development server (`millstream dev`) has are marked as "development only".
#[derive(Debug, clap::Args)]
pub struct RoutesArgs {
    /// How to print the list
    #[arg(long, value_enum, default_value_t)]
    output: RoutesOutput,
}

/// The form of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum RoutesOutput {
    /// A table for people
    #[default]
    Text,
    /// One line of JSON
    Json,
    /// The OpenAPI document with parameters and answers, from which clients can be generated
    Openapi,
}

/// Prints the list.
pub fn run(args: &RoutesArgs) -> Result<(), CliError> {
    if args.output == RoutesOutput::Openapi {
        return print_text(&format!("{:#}\n", document(&table())));
    }
    let answer = Answer::list(list());
    let text = match args.output {
        RoutesOutput::Json => answer.json(),
        RoutesOutput::Text | RoutesOutput::Openapi => answer.text(),
    };
    print_text(&text)
}

/// All endpoints, those of development servers too.
fn list() -> Table {
    let mut list = Table::new(&["method", "path", "rate_limit", "who"]);
    let operations = operations();
    for route in development_table() {
        let row = format!("{route:?}");
        let is_of_row = |operation: &&Operation| operation.routes.contains(&row.as_str());
        let permission = permission(&route, operations.iter().find(is_of_row));
        let who = match is_development_only(route.path) {
            true => format!("Development only. {permission}"),
            false => permission.to_owned(),
        };
        list.push(vec![
            json!(route.method.as_str()),
            json!(route.path),
            json!(counted(&route).map_or("none", |counted| counted.what)),
            json!(who),
        ]);
    }
    list
}

/// Whether other servers refuse the path.
fn is_development_only(path: &str) -> bool {
    path.starts_with(TOOLS_PREFIX) || DEVELOPMENT_PATHS.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::origins::Origins;

    #[test]
    fn endpoints_of_development_servers_are_listed_and_marked() {
        let table = table();
        for path in DEVELOPMENT_PATHS {
            assert!(table.iter().any(|route| route.path == *path), "{path} is not in the table");
        }
        // Keys and e-mails are given out to developers; only these two paths log in on every server.
        let logins = ["/api/v1/fetch_api_key", "/api/v1/jwt/fetch_api_key"];
        for route in development_table().iter().filter(|route| route.origins == Origins::Developers) {
            assert_eq!(is_development_only(route.path), !logins.contains(&route.path), "{route:?}");
        }
        let text = Answer::list(list()).text();
        let line = |path: &str| text.lines().find(|line| line.contains(path)).unwrap();
        for path in ["/dev/reset", "/emails ", "/devlogin/", "/api/v1/dev_fetch_api_key"] {
            assert!(line(path).contains("Development only. Needs no account."), "{}", line(path));
        }
        assert!(!line("/api/v1/server_settings").contains("Development"));
    }
}
