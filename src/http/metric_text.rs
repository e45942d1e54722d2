//! The text of `GET /metrics`: sorted, with explanations, and without series of routes that nothing has called.

use super::metric_names::help;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Families of which there is a series for each route: those that never counted are left out.
const BY_ROUTE: [&str; 2] = ["millstream_http_request_seconds", "millstream_http_requests_total"];

/// A metric with all its series.
#[derive(Default)]
struct Family<'t> {
    kind: &'t str,
    /// Lines by their labels, without the bounds of buckets, whose order stays.
    series: BTreeMap<String, Vec<&'t str>>,
}

/// Arranges what the recorder writes.
pub fn arrange(text: &str) -> String {
    let mut families: BTreeMap<&str, Family<'_>> = BTreeMap::new();
    let mut name = "";
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            let (family, kind) = typed.split_once(' ').unwrap_or((typed, "untyped"));
            name = family;
            families.entry(family).or_default().kind = kind;
        } else if !line.starts_with('#') {
            families.entry(name).or_default().series.entry(labels(line)).or_default().push(line);
        }
    }
    let mut arranged = String::with_capacity(text.len());
    for (name, mut family) in families {
        if BY_ROUTE.contains(&name) {
            family.series.retain(|_, lines| lines.iter().any(|line| !line.ends_with(" 0")));
        }
        if let Some(help) = help(name) {
            let _ = writeln!(arranged, "# HELP {name} {help}");
        }
        let _ = writeln!(arranged, "# TYPE {name} {}", family.kind);
        for line in family.series.values().flatten() {
            let _ = writeln!(arranged, "{line}");
        }
    }
    arranged
}

/// The labels of a line, without the bound of a bucket.
fn labels(line: &str) -> String {
    let Some((_, rest)) = line.split_once('{') else { return String::new() };
    let labels = rest.rsplit_once('}').map_or(rest, |(labels, _)| labels);
    match labels.find("le=\"") {
        Some(at) => labels[..at].trim_end_matches(',').to_owned(),
        None => labels.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_series_are_sorted_and_unused_routes_left_out() {
        let text = "# TYPE millstream_queues gauge\nmillstream_queues{realm=\"2\"} 0\nmillstream_queues{realm=\"1\"} 3\n\n\
            # TYPE millstream_http_requests_total counter\nmillstream_http_requests_total{route=\"/b\"} 0\nmillstream_http_requests_total{route=\"/a\"} 2\n\n\
            # TYPE millstream_http_request_seconds histogram\n\
            millstream_http_request_seconds_bucket{route=\"/a\",le=\"0.5\"} 0\nmillstream_http_request_seconds_bucket{route=\"/a\",le=\"+Inf\"} 2\n\
            millstream_http_request_seconds_sum{route=\"/a\"} 3\nmillstream_http_request_seconds_count{route=\"/a\"} 2\n\
            millstream_http_request_seconds_bucket{route=\"/b\",le=\"+Inf\"} 0\nmillstream_http_request_seconds_count{route=\"/b\"} 0\n";
        let arranged = arrange(text);
        let lines: Vec<&str> = arranged.lines().filter(|line| !line.starts_with("# HELP")).collect();
        let expected = [
            "# TYPE millstream_http_request_seconds histogram",
            "millstream_http_request_seconds_bucket{route=\"/a\",le=\"0.5\"} 0",
            "millstream_http_request_seconds_bucket{route=\"/a\",le=\"+Inf\"} 2",
            "millstream_http_request_seconds_sum{route=\"/a\"} 3",
            "millstream_http_request_seconds_count{route=\"/a\"} 2",
            "# TYPE millstream_http_requests_total counter",
            "millstream_http_requests_total{route=\"/a\"} 2",
            "# TYPE millstream_queues gauge",
            "millstream_queues{realm=\"1\"} 3",
            "millstream_queues{realm=\"2\"} 0",
        ];
        assert_eq!(lines, expected);
        assert!(arranged.starts_with("# HELP millstream_http_request_seconds Duration"), "{arranged}");
    }
}
