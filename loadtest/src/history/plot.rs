//! The plot of the history as SVG: a panel for each figure, from 0 upward, the newest value in words, with its version if the
//! newest line has none.

use std::fmt::Write;

use super::lines::{COLUMNS, Line};
use crate::units::{as_float, format_number};

const WIDTH: f64 = 840.0;
const COLUMNS_OF_PANELS: usize = 2;
const PANEL_WIDTH: f64 = 400.0;
const PANEL_HEIGHT: f64 = 130.0;
/// Above the lines of a panel, for its title.
const TITLE_HEIGHT: f64 = 34.0;
const MARGIN: f64 = 16.0;

const STYLE: &str = "svg{background:#fff}text{font:13px system-ui,sans-serif;fill:#1f2328}.faint{fill:#59636e;font-size:11px}\
polyline{fill:none;stroke:#2d7dd2;stroke-width:2}circle{fill:#2d7dd2}line{stroke:#d1d9e0}\
@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.faint{fill:#9198a1}line{stroke:#3d444d}}";

/// The whole file.
pub fn render(lines: &[Line]) -> String {
    let rows = COLUMNS.len().div_ceil(COLUMNS_OF_PANELS);
    let height = as_float(rows as u64) * (PANEL_HEIGHT + MARGIN) + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
         <title>Figures of each recorded version</title>\n<style>{STYLE}</style>\n"
    );
    for (number, column) in COLUMNS.iter().enumerate() {
        let left = MARGIN + as_float((number % COLUMNS_OF_PANELS) as u64) * (PANEL_WIDTH + MARGIN);
        let top = MARGIN + as_float((number / COLUMNS_OF_PANELS) as u64) * (PANEL_HEIGHT + MARGIN);
        let values: Vec<Option<f64>> = lines.iter().map(|line| line.figures[number]).collect();
        panel(&mut svg, (left, top), column.title, &values, lines);
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, (left, top): (f64, f64), title: &str, values: &[Option<f64>], lines: &[Line]) {
    let measured = lines.iter().zip(values).rposition(|(_, value)| value.is_some());
    let shown = match measured.and_then(|place| Some((place + 1, values[place]?))) {
        None => "not measured".to_owned(),
        Some((count, value)) if count == lines.len() => format_number(value),
        Some((count, value)) => format!("{} ({})", format_number(value), lines[count - 1].version),
    };
    let bottom = top + PANEL_HEIGHT - MARGIN;
    let _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"{:.1}\">{}: {}</text>",
        top + 14.0,
        escape(title),
        escape(&shown)
    );
    let right = left + PANEL_WIDTH - MARGIN;
    let _ = writeln!(svg, "<line x1=\"{left}\" y1=\"{bottom:.1}\" x2=\"{right:.1}\" y2=\"{bottom:.1}\"/>");
    let highest = values.iter().flatten().copied().fold(0.0, f64::max);
    if highest <= 0.0 {
        return;
    }
    let step = (PANEL_WIDTH - 2.0 * MARGIN) / as_float(values.len().saturating_sub(1).max(1) as u64);
    let scale = (PANEL_HEIGHT - TITLE_HEIGHT - MARGIN) / highest;
    let points: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .filter_map(|(place, value)| Some((left + as_float(place as u64) * step, bottom - (*value)? * scale)))
        .collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(svg, "<polyline points=\"{}\"/>", path.join(" "));
    for (x, y) in points {
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
    }
    let label = |line: &Line| escape(&format!("{} ({})", line.version, line.date));
    let below = bottom + 12.0;
    if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
        let _ = writeln!(svg, "<text class=\"faint\" x=\"{left}\" y=\"{below:.1}\">{}</text>", label(first));
        if lines.len() > 1 {
            let _ = writeln!(
                svg,
                "<text class=\"faint\" x=\"{right:.1}\" y=\"{below:.1}\" text-anchor=\"end\">{}</text>",
                label(last)
            );
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_panel_and_every_value_a_point() {
        let line = |version: &str, value: f64| Line {
            date: "2026-01-01".to_owned(),
            version: version.to_owned(),
            machine: String::new(),
            figures: COLUMNS.iter().map(|_| Some(value)).collect(),
        };
        let mut lines = vec![line("<1>", 2.0), line("2", 4.0)];
        lines[0].figures[1] = None;
        let svg = render(&lines);
        assert_eq!(svg.matches("<polyline").count(), COLUMNS.len());
        assert_eq!(svg.matches("<circle").count(), 2 * COLUMNS.len() - 1);
        assert!(svg.contains("&lt;1&gt;") && !svg.contains("<1>") && !svg.contains("NaN"), "{svg}");
        assert!(svg.contains(&format!(">{}: 4.000</text>", COLUMNS[0].title)), "{svg}");
        lines[1].figures[0] = None;
        let older = format!(">{}: 2.000 (&lt;1&gt;)</text>", escape(COLUMNS[0].title));
        assert!(render(&lines).contains(&older), "a value of an earlier version is with its name");
        assert!(render(&[]).contains("not measured"));
    }
}
