//! `<time:…>`: a time that clients show in the time zone of each reader.

use jiff::Timestamp;
use jiff::tz::Offset;

use super::html::escaped_text;
use super::inline::{Inline, replace_or_skip};
use super::parse_time::parse_moment;

const OPEN: &str = "<time:";

/// Replaces times; an invalid one is shown as an error.
pub(super) fn times(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    replace_or_skip(inline, text, OPEN, |inline, start| {
        let body_start = start + OPEN.len();
        let body_end = body_start + text[body_start..].find('>')?;
        Some((body_end + 1, Some(time_html(inline, &text[body_start..body_end]))))
    })
}

fn time_html(inline: &Inline<'_>, body: &str) -> String {
    let now = inline.context.now_seconds().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let today = now.map(|now| Offset::UTC.to_datetime(now).date());
    let Some(moment) = parse_moment(body, today) else {
        let shown = inline.stash.expanded(body);
        return format!(r#"<span class="timestamp-error">Invalid time format: {shown}</span>"#);
    };
    let fraction = if moment.subsec_microsecond() == 0 { "" } else { ".%6f" };
    let form = format!("%Y-%m-%dT%H:%M:%S{fraction}Z");
    format!(r#"<time datetime="{}">{}</time>"#, moment.strftime(&form), escaped_text(body))
}
