//! `millstream routes`: the endpoints of the API.

use super::error::CliError;
use crate::admin::{Answer, Table};
use crate::http::Login;
use crate::http::route::Limit;
use crate::reference::document::document;
use crate::routes::{development_table, table};
use serde_json::json;
use std::io::Write;

/// List the endpoints: method, path, who may call, rate limit
#[derive(Debug, clap::Args)]
pub struct RoutesArgs {
    /// Also those that only development servers have
    #[arg(long)]
    dev: bool,
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
        return print(&format!("{:#}\n", document(&table())));
    }
    let mut list = Table::new(&["method", "path", "who", "rate_limit"]);
    for route in if args.dev { development_table() } else { table() } {
        let row = [route.method.as_str(), route.path, who(route.login), limit(route.limit)];
        list.push(row.map(|text| json!(text)).to_vec());
    }
    let answer = Answer::list(list);
    let text = match args.output {
        RoutesOutput::Json => answer.json(),
        RoutesOutput::Text | RoutesOutput::Openapi => answer.text(),
    };
    print(&text)
}

fn print(text: &str) -> Result<(), CliError> {
    // A closed pipe, as after `| head`, is not an error.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(())
}

fn who(login: Login) -> &'static str {
    match login {
        Login::None => "everyone",
        Login::Spectator => "accounts, spectators",
        Login::Link => "accounts, spectators, key in the URL",
        Login::AccountOrBrowser => "accounts, spectators with a browser",
        Login::Account => "accounts",
        Login::KeyInUrl => "accounts, key in the URL",
        Login::Human => "people",
        Login::NotGuest => "accounts but guests",
        Login::HumanNotGuest => "people but guests",
        Login::Administrator => "administrators",
        Login::Owner => "owners",
    }
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Free => "none",
        Limit::Api => "api",
        Limit::Events => "events",
        Limit::Login => "logins",
        Limit::Page => "pages",
        Limit::Picture => "pictures",
    }
}
