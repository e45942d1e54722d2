//! `<time:…>`: a moment each reader sees in their own time zone.

use jiff::Timestamp;
use jiff::tz::Offset;

use super::html::push_text;
use super::inline::{Inline, Rewrite};
use super::parse_time::parse_moment;

const OPEN: &str = "<time:";

/// Moments; what cannot be read as one is shown as an error.
pub(super) fn times(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find(OPEN) {
        let start = from + offset;
        let body_start = start + OPEN.len();
        let Some(length) = text[body_start..].find('>') else { break };
        from = body_start + length + 1;
        let body = &text[body_start..from - 1];
        rewrite.put(start, from, time_html(inline, body), &mut inline.stash);
    }
    rewrite.finish()
}

fn time_html(inline: &Inline<'_>, body: &str) -> String {
    let now = inline.context.now_seconds().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let today = now.map(|now| Offset::UTC.to_datetime(now).date());
    let Some(moment) = parse_moment(body, today) else {
        let mut html = String::from(r#"<span class="timestamp-error">Invalid time format: "#);
        html.push_str(&inline.stash.expanded(body));
        html.push_str("</span>");
        return html;
    };
    let fraction = if moment.subsec_microsecond() == 0 { "" } else { ".%6f" };
    let form = format!("%Y-%m-%dT%H:%M:%S{fraction}Z");
    let mut html = format!(r#"<time datetime="{}">"#, moment.strftime(&form));
    push_text(&mut html, body);
    html.push_str("</time>");
    html
}
