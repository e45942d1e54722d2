//! Finds the row of the table of routes for a method and a path.
//!
//! A small tree over path segments: literal segments before numbers, numbers before texts, texts before rests. The
//! path is percent-decoded first, so an encoded slash is an ordinary one. Below `/json` are the rows of `/api/v1` that
//! are offered everywhere, besides rows of its own.

use super::call::Segment;
use super::route::{Offered, Route};
use actix_web::http::Method;
use std::collections::{BTreeMap, HashMap};

/// The tree, and the table that it was built from.
pub struct Router {
    /// Rows of the paths without placeholders, which most requests ask for. They are in the tree, too, for other spellings.
    plain: HashMap<&'static str, Vec<usize>>,
    root: Node,
    routes: Vec<Route>,
}

#[derive(Default)]
struct Node {
    words: BTreeMap<&'static str, Node>,
    number: Option<Box<Node>>,
    text: Option<Box<Node>>,
    /// Rows of a path that ends in `{…:rest}` here.
    rest: Vec<usize>,
    /// Rows of the path that ends here, in the order of the table.
    rows: Vec<usize>,
}

/// A path that exists.
pub struct RouteMatch<'r> {
    routes: &'r [Route],
    rows: &'r [usize],
    /// Whether a row of `/api/v1` was found below `/json`.
    pub is_json: bool,
    /// The values of its placeholders, in their order.
    pub segments: Vec<Segment>,
}

impl<'r> RouteMatch<'r> {
    /// The row for a method, and its index in the table. HEAD is GET without the body, unless it has a row of its own.
    pub fn route(&self, method: &Method) -> Option<(usize, &'r Route)> {
        let row_of = |method: &Method| self.offered().find(|(_, route)| route.method == *method);
        match row_of(method) {
            None if *method == Method::HEAD => row_of(&Method::GET),
            found => found,
        }
    }

    /// The first row of this path in the table.
    pub fn first(&self) -> Option<&'r Route> {
        self.offered().next().map(|(_, route)| route)
    }

    /// The rows of this path, without those that are not offered below `/json`.
    fn offered(&self) -> impl Iterator<Item = (usize, &'r Route)> + use<'r> {
        let (is_json, routes) = (self.is_json, self.routes);
        let all = self.rows.iter().map(move |row| (*row, &routes[*row]));
        all.filter(move |(_, route)| !is_json || route.offered == Offered::Everywhere)
    }

    /// The methods of this path: those of the table in its order, then HEAD if there is GET.
    pub fn methods(&self) -> Vec<&'r str> {
        let mut methods: Vec<&str> = self.offered().map(|(_, route)| route.method.as_str()).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods
    }
}

impl Router {
    /// Builds the tree. Panics on a malformed pattern or a duplicate row: the table is part of the program, and a
    /// test builds it.
    pub fn new(routes: Vec<Route>) -> Self {
        let mut root = Node::default();
        let mut plain = HashMap::<_, Vec<usize>>::new();
        for (row, route) in routes.iter().enumerate() {
            let rows = root.rows_at(route.path);
            let twice = rows.iter().any(|other| routes[*other].method == route.method);
            assert!(!twice, "two rows for {} {}", route.method, route.path);
            rows.push(row);
            if !route.path.contains('{') {
                plain.entry(route.path).or_default().push(row);
            }
        }
        Self { plain, root, routes }
    }

    /// Every row, in the order of the table.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The index of the row for a method and a raw path, if there is one.
    pub fn row(&self, method: &Method, path: &str) -> Option<usize> {
        self.find(path)?.route(method).map(|(row, _)| row)
    }

    /// Looks a raw path up; `None` if there is no such path.
    pub fn find(&self, path: &str) -> Option<RouteMatch<'_>> {
        if let Some(rows) = self.plain.get(path) {
            return Some(RouteMatch { routes: &self.routes, rows, is_json: false, segments: Vec::new() });
        }
        let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
        let path = path.strip_prefix('/')?;
        let mut segments = Vec::new();
        if let Some(rows) = self.root.find(path, &mut segments) {
            return Some(RouteMatch { routes: &self.routes, rows, is_json: false, segments });
        }
        let inside = path.strip_prefix("json/")?;
        segments.clear();
        let rows = self.root.find(&["api/v1/", inside].concat(), &mut segments)?;
        let found = RouteMatch { routes: &self.routes, rows, is_json: true, segments };
        found.first().is_some().then_some(found)
    }
}

impl Node {
    fn rows_at(&mut self, pattern: &'static str) -> &mut Vec<usize> {
        let mut node = self;
        let inside = pattern.strip_prefix('/').expect("a path in the table starts with a slash");
        for piece in inside.split('/') {
            let Some(name) = piece.strip_prefix('{') else {
                node = node.words.entry(piece).or_default();
                continue;
            };
            match name.strip_suffix('}').and_then(|name| name.split_once(':')) {
                Some((_, "int")) => node = node.number.get_or_insert_default(),
                Some((_, "text")) => node = node.text.get_or_insert_default(),
                Some((_, "rest")) => {
                    assert!(pattern.ends_with(piece), "{pattern}: a rest must be the last piece");
                    return &mut node.rest;
                }
                _ => panic!("{pattern}: {piece} is none of int, text, rest"),
            }
        }
        &mut node.rows
    }

    fn find(&self, path: &str, segments: &mut Vec<Segment>) -> Option<&[usize]> {
        let (piece, rest) = match path.split_once('/') {
            Some((piece, rest)) => (piece, Some(rest)),
            None => (path, None),
        };
        if let Some(rows) = self.words.get(piece).and_then(|node| node.go_on(rest, segments)) {
            return Some(rows);
        }
        let depth = segments.len();
        if let (Some(node), Some(number)) = (&self.number, parse_number(piece)) {
            segments.push(Segment::Number(number));
            if let Some(rows) = node.go_on(rest, segments) {
                return Some(rows);
            }
            segments.truncate(depth);
        }
        if let (Some(node), false) = (&self.text, piece.is_empty()) {
            segments.push(Segment::Text(piece.to_owned()));
            if let Some(rows) = node.go_on(rest, segments) {
                return Some(rows);
            }
            segments.truncate(depth);
        }
        if self.rest.is_empty() || path.is_empty() {
            return None;
        }
        segments.push(Segment::Text(path.to_owned()));
        Some(&self.rest)
    }

    /// After one segment: searches the rest of the path, or returns the rows that end here.
    fn go_on(&self, rest: Option<&str>, segments: &mut Vec<Segment>) -> Option<&[usize]> {
        match rest {
            Some(rest) => self.find(rest, segments),
            None => Some(self.rows.as_slice()).filter(|rows| !rows.is_empty()),
        }
    }
}

fn parse_number(piece: &str) -> Option<u64> {
    let is_number = !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| piece.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::caller::Login;
    use super::super::reply::reply_ok;
    use super::super::route::Limit;
    use super::*;

    fn router(rows: &[(Method, &'static str)]) -> Router {
        let handler = || async { reply_ok() };
        let row = |(method, path): &(Method, &'static str)| {
            Route::new(method.clone(), path, Login::None, Limit::Free, handler)
        };
        Router::new(rows.iter().map(row).collect())
    }

    fn sample() -> Router {
        router(&[
            (Method::GET, "/api/v1/messages"),
            (Method::POST, "/api/v1/messages"),
            (Method::GET, "/api/v1/messages/{message_id:int}"),
            (Method::GET, "/api/v1/messages/matches_narrow"),
            (Method::GET, "/api/v1/users/me"),
            (Method::GET, "/api/v1/users/{user_id:int}"),
            (Method::GET, "/api/v1/users/{email:text}"),
            (Method::GET, "/api/v1/users/me/{stream_id:int}/topics"),
            (Method::POST, "/api/v1/users/{user_id:int}/reactivate"),
            (Method::GET, "/user_uploads/{realm_id:int}/{file:rest}"),
            (Method::POST, "/api/v1/fetch_api_key"),
        ])
    }

    #[test]
    fn rows_of_the_api_are_found_below_json() {
        let handler = || async { reply_ok() };
        let row = |method, path| Route::new(method, path, Login::None, Limit::Free, handler);
        let router = Router::new(vec![
            row(Method::GET, "/api/v1/users/{user_id:int}"),
            row(Method::POST, "/api/v1/fetch_api_key").with_key_only(),
            row(Method::GET, "/api/v1/settings"),
            row(Method::DELETE, "/api/v1/settings").with_key_only(),
            row(Method::POST, "/json/only"),
            row(Method::GET, "/avatar/{email:text}").file(),
        ]);
        let found = router.find("/json/users/7").unwrap();
        assert!(found.is_json && found.segments == [Segment::Number(7)]);
        assert_eq!(router.find("/json/settings").unwrap().methods(), ["GET", "HEAD"]);
        assert!(router.find("/json/settings").unwrap().route(&Method::DELETE).is_none());
        assert!(!router.find("/api/v1/settings").unwrap().is_json);
        assert_eq!(router.find("/json/only").unwrap().methods(), ["POST"]);
        for path in ["/json/fetch_api_key", "/api/v1/only", "/json/", "/json/avatar/x", "/json/json/users/7"]
        {
            assert!(router.find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn paths_find_their_rows() {
        let router = sample();
        let text = |text: &str| Segment::Text(text.to_owned());
        let cases = [
            ("/api/v1/messages", "/api/v1/messages", vec![]),
            ("/api/v1/messages/42", "/api/v1/messages/{message_id:int}", vec![Segment::Number(42)]),
            ("/api/v1/messages/matches_narrow", "/api/v1/messages/matches_narrow", vec![]),
            ("/api/v1/users/me", "/api/v1/users/me", vec![]),
            ("/api/v1/users/007", "/api/v1/users/{user_id:int}", vec![Segment::Number(7)]),
            (
                "/api/v1/users/99999999999999999999",
                "/api/v1/users/{user_id:int}",
                vec![Segment::Number(u64::MAX)],
            ),
            ("/api/v1/users/a%40b.c", "/api/v1/users/{email:text}", vec![text("a@b.c")]),
            (
                "/api/v1/users/me/3/topics",
                "/api/v1/users/me/{stream_id:int}/topics",
                vec![Segment::Number(3)],
            ),
            ("/api%2Fv1/users/me", "/api/v1/users/me", vec![]),
            (
                "/user_uploads/2/ab%2Fcd%2Ffile.txt",
                "/user_uploads/{realm_id:int}/{file:rest}",
                vec![Segment::Number(2), text("ab/cd/file.txt")],
            ),
        ];
        for (path, pattern, segments) in cases {
            let found = router.find(path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(
                (found.route(&Method::GET).unwrap().1.path, &found.segments),
                (pattern, &segments),
                "{path}"
            );
        }
    }

    #[test]
    fn unknown_paths_are_not_found() {
        let router = sample();
        let paths = [
            "",
            "/",
            "/api",
            "/api/v1",
            "/api/v1/",
            "/api/v1/messages/",
            "/api/v1/messages/abc",
            "/api/v1/messages/-1",
            "/api/v1/messages/1.5",
            "//api/v1/messages",
            "/api/v1/users/",
            "/api/v1/users/1/2",
            "/api/v1/users/me/x/topics",
            "/user_uploads/2",
            "/user_uploads/2/",
            "/user_uploads/x/y",
            "/api/v1/users/%ff",
        ];
        for path in paths {
            assert!(router.find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn methods_are_listed_in_the_tables_order() {
        let router = sample();
        let methods = |path| router.find(path).unwrap().methods().join(", ");
        assert_eq!(methods("/api/v1/messages"), "GET, POST, HEAD");
        assert_eq!(methods("/api/v1/fetch_api_key"), "POST");
        let found = router.find("/api/v1/messages/1").unwrap();
        assert_eq!(found.route(&Method::HEAD).unwrap().1.method, Method::GET);
        assert!(found.route(&Method::PUT).is_none());
    }

    #[test]
    #[should_panic(expected = "two rows for GET /a/{id:int}")]
    fn duplicate_row_panics() {
        router(&[(Method::GET, "/a/{id:int}"), (Method::GET, "/a/{id:int}")]);
    }
}
