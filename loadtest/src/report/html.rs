//! The result as one self-contained HTML file: tables, and plots as inline SVG.

use std::fmt::Write;

use super::plots;
use super::table::{baseline_facts, facts, render_machine};
use crate::outcome::{RunResult, ScenarioResult, Verdict};
use crate::units::format_number;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\
h1{font-size:1.5rem}h2{margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem}\
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem;border:1px solid #ddd;text-align:left}\
td.n{text-align:right;font-variant-numeric:tabular-nums}.met{color:#17692f}.missed{color:#b00020;font-weight:600}\
li{font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto;margin:.5rem 0}";

/// The whole page.
pub fn render(run: &RunResult) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    let _ = write!(page, "<title>Load test</title><style>{STYLE}</style></head><body>\n<h1>Load test</h1>\n");
    let _ = writeln!(page, "<p>{}</p>", escape(&render_machine(&run.machine)));
    let _ = writeln!(page, "<p>Started at <time>{}</time> (UNIX seconds).</p>", run.started_at);
    let summary = if run.met { "Every expectation was met." } else { "Expectations were missed." };
    let _ = writeln!(page, "<p class=\"{}\">{summary}</p>", class(run.met));
    if let Some(svg) = plots::ratio_bars(run) {
        page.push_str(&svg);
    }
    for scenario in &run.scenarios {
        render_scenario(&mut page, scenario);
    }
    page.push_str("</body></html>\n");
    page
}

fn render_scenario(page: &mut String, scenario: &ScenarioResult) {
    let _ = writeln!(page, "<h2>{}</h2>\n<p>{}</p>", escape(&scenario.name), escape(&scenario.about));
    render_verdicts(page, &scenario.verdicts);
    for phase in &scenario.phases {
        let _ = writeln!(page, "<h3>{}</h3>\n<ul>", escape(&phase.name));
        for line in facts(phase, &scenario.baselines) {
            let _ = writeln!(page, "<li>{}</li>", escape(&line));
        }
        page.push_str("</ul>\n");
        for svg in [plots::throughput(phase), plots::percentiles(phase)].into_iter().flatten() {
            page.push_str(&svg);
        }
    }
    let lines = baseline_facts(&scenario.baselines);
    if !lines.is_empty() {
        page.push_str("<h3>Baselines of the same run</h3>\n<ul>\n");
        for line in lines {
            let _ = writeln!(page, "<li>{}</li>", escape(&line));
        }
        page.push_str("</ul>\n");
    }
}

fn render_verdicts(page: &mut String, verdicts: &[Verdict]) {
    page.push_str(
        "<table><tr><th>phase</th><th>expectation</th><th>limit</th><th>measured</th><th></th></tr>\n",
    );
    for verdict in verdicts {
        let measured = verdict.measured.map_or_else(|| "not measured".to_owned(), format_number);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{measured}</td>\
             <td class=\"{}\">{}</td></tr>",
            escape(&verdict.phase),
            escape(&verdict.expectation),
            format_number(verdict.limit),
            class(verdict.met),
            if verdict.met { "met" } else { "missed" }
        );
    }
    page.push_str("</table>\n");
}

fn class(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn page_is_complete_and_escaped() {
        let page = render(&sample::run_result());
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</body></html>\n"));
        assert!(page.contains("64 &lt;clients&gt;") && page.contains("Sends &amp; measures."));
        assert!(!page.contains("64 <clients>"), "a name reaches the page unescaped");
        assert_eq!(page.matches("<svg").count(), 3, "throughput, percentiles, ratios");
        assert!(page.contains("class=\"missed\">missed") && page.contains("class=\"met\">met"));
        for outside in ["<script", "src=", "href=\"http", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
