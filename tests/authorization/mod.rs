//! Authorization: one table of routes and callers, checked against a running server.
//!
//! `rows` has the table; a route without a row fails the first test here. `stage` builds the users and
//! conversations that the rows name, `outcome` has the expected responses by name.

mod files;
mod foreign;
mod outcome;
mod rows;
mod stage;
mod unknown;

use outcome::Expected;
use rows::Row;
use stage::{CALLERS, Stage};

#[test]
fn every_route_has_an_authorization_row() {
    let routes = millstream::routes::table();
    let routes: Vec<String> = routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
    let rows: Vec<&str> = rows::all().iter().map(|row| row.route).collect();
    let missing: Vec<&String> = routes.iter().filter(|route| !rows.contains(&route.as_str())).collect();
    assert!(missing.is_empty(), "nothing says who may call these; add rows: {missing:#?}");
    let gone: Vec<&&str> = rows.iter().filter(|row| !routes.contains(&(**row).to_owned())).collect();
    assert!(gone.is_empty(), "these are no routes any more: {gone:#?}");
}

/// Makes the calls of every row of a family, with an API key and with a web session, and lists the responses that differ
/// from the table.
async fn try_family(rows: Vec<Row>) {
    let mut wrong = try_rows(&rows, false).await;
    wrong.extend(try_rows(&rows, true).await);
    assert!(wrong.is_empty(), "{} cells differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The same in one way; changes of the calls stay, so that each way has a server of its own.
async fn try_rows(rows: &[Row], is_browser: bool) -> Vec<String> {
    let mut stage = Stage::set().await;
    let mut wrong = Vec::new();
    for row in rows {
        let cells = match is_browser {
            false if row.is_for_browsers() => continue,
            true if !row.is_for_both() && !row.is_for_browsers() => continue,
            false => row.cells(),
            true => row.browser_cells(),
        };
        for (name, expected) in cells {
            let expected = Expected::of(expected);
            let answer = stage.call(row, name, is_browser).await;
            let way = if is_browser { "with a session" } else { "with a key" };
            if let Some(difference) = expected.difference(&answer, &stage.scene_name()) {
                wrong.push(format!("{} {} as {name} {way}: {difference}", row.route, row.case()));
            }
            assert!(!is_browser || answer.header("WWW-Authenticate").is_empty(), "{}", row.route);
            if answer.status == 200 && !row.route.starts_with("GET") {
                stage.discard();
            }
        }
    }
    wrong
}

macro_rules! families {
    ($($family:ident),*) => {
        $(#[tokio::test]
        async fn $family() {
            try_family(rows::$family::rows()).await;
        })*

        #[test]
        fn every_family_of_rows_has_a_test() {
            let tried = [$(rows::$family::rows().len()),*].iter().sum::<usize>();
            assert_eq!(tried, rows::all().len());
            assert!(rows::all().iter().all(|row| row.cells().len() == 3 + CALLERS.len()));
        }
    };
}

families!(
    account,
    bots,
    messages,
    media,
    events,
    channels,
    subscriptions,
    groups,
    personal,
    invitations,
    pictures,
    uploads,
    organization,
    accounts
);
