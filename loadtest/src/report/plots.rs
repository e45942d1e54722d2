//! Plots as SVG text, which take the color of the text around them. A plot without data, or one that cannot be drawn, is
//! omitted.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::outcome::{PhaseResult, RunResult};
use crate::units::format_number;

const SIZE: (u32, u32) = (860, 260);
/// Legible on white and on black.
const COLORS: [RGBColor; 6] = [
    RGBColor(45, 125, 210),
    RGBColor(217, 108, 6),
    RGBColor(46, 150, 90),
    RGBColor(170, 85, 200),
    RGBColor(200, 70, 90),
    RGBColor(120, 130, 140),
];
/// Percentile curves use the distance to 100 %, which spreads the tail.
const TAIL_MIN: f64 = 0.005;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A labeled line.
#[derive(Debug, Clone)]
pub struct Line {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

/// A line for each operation of each phase, which has the name of its server if there is one.
fn lines_of(
    phases: &[(&str, &PhaseResult)],
    points: fn(&crate::outcome::Operation) -> Vec<(f64, f64)>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for (server, phase) in phases {
        for operation in &phase.operations {
            let label = if server.is_empty() { String::new() } else { format!("{server}: ") };
            lines.push(Line { label: label + &operation.name, points: points(operation) });
        }
    }
    lines
}

/// Successful replies per second over time, a line per operation (and server).
pub fn throughput(phases: &[(&str, &PhaseResult)]) -> Option<String> {
    let lines = lines_of(phases, |operation| operation.timeline.clone());
    over_time("successful replies per second", "seconds, warm-up included", &lines)
}

/// Resident memory over time.
pub fn memory(phases: &[(&str, &PhaseResult)]) -> Option<String> {
    let line = |(server, phase): &(&str, &PhaseResult)| Line {
        label: if server.is_empty() { "server".to_owned() } else { (*server).to_owned() },
        points: phase.memory.clone(),
    };
    let lines: Vec<Line> = phases.iter().map(line).collect();
    over_time("resident memory of the server, MB", "seconds", &lines)
}

/// Lines from 0 upward.
fn over_time(title: &str, below: &str, lines: &[Line]) -> Option<String> {
    let right = lines.iter().filter_map(|line| line.points.last()).map(|point| point.0).fold(0.0, f64::max);
    let top = highest(lines.iter().flat_map(|line| &line.points));
    if right <= 0.0 || top <= 0.0 {
        return None;
    }
    draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..right, 0.0..top * 1.1)?;
        chart
            .configure_mesh()
            .x_desc(below)
            .light_line_style(TRANSPARENT)
            .bold_line_style(faint())
            .x_label_formatter(&|value| format!("{}", round(*value)))
            .y_label_formatter(&|value| axis_label(*value))
            .draw()?;
        for (line, color) in lines.iter().zip(COLORS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), color.stroke_width(2)))?
                .label(line.label.clone())
                .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        chart.configure_series_labels().position(SeriesLabelPosition::LowerLeft).draw()?;
        Ok(())
    })
}

/// Latency percentiles, a line per operation (and server); both axes logarithmic.
pub fn percentiles(phases: &[(&str, &PhaseResult)]) -> Option<String> {
    let lines = lines_of(phases, |operation| tail_curve(&operation.curve));
    let top = highest(lines.iter().flat_map(|line| &line.points));
    let bottom = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(f64::MAX, f64::min);
    if top <= 0.0 {
        return None;
    }
    let millis = bottom * 0.8..top * 1.2;
    let labels = log_labels(&millis);
    draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .caption("latency percentiles, ms", ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(70)
            .build_cartesian_2d(
                (1.0..1.0 / (TAIL_MIN / 100.0)).log_scale(),
                millis.log_scale().with_key_points(labels),
            )?;
        chart
            .configure_mesh()
            .x_desc("percentile")
            .light_line_style(TRANSPARENT)
            .bold_line_style(faint())
            .x_label_formatter(&|inverse| format!("{}", round(100.0 - 100.0 / inverse)))
            .y_label_formatter(&|millis| log_label(*millis))
            .draw()?;
        for (line, color) in lines.iter().zip(COLORS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), color.stroke_width(2)))?
                .label(line.label.clone())
                .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).draw()?;
        Ok(())
    })
}

/// The ratio of each phase to the bare server: one bar each.
pub fn ratio_bars(run: &RunResult) -> Option<String> {
    let bars: Vec<(String, f64)> = run
        .scenarios
        .iter()
        .flat_map(|scenario| {
            scenario.phases.iter().filter_map(|phase| {
                let ratio = phase.baseline.as_ref()?.rate_ratio?;
                let name = match scenario.phases.len() {
                    1 => scenario.name.clone(),
                    _ => format!("{}, {}", scenario.name, phase.name),
                };
                Some((name, ratio))
            })
        })
        .collect();
    if bars.is_empty() {
        return None;
    }
    let top = bars.iter().map(|bar| bar.1).fold(1.0, f64::max);
    draw(|area| {
        let right = crate::units::as_float(bars.len() as u64);
        let mut chart = ChartBuilder::on(area)
            .caption(
                "requests per second, relative to bare actix-web with as many clients",
                ("sans-serif", 16),
            )
            .margin(8)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..right, 0.0..top * 1.15)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(faint())
            .draw()?;
        let mut left = 0.0;
        for (name, ratio) in &bars {
            let bar = Rectangle::new([(left + 0.1, 0.0), (left + 0.9, *ratio)], COLORS[0].mix(0.8).filled());
            let label =
                Text::new(format!("{name} {ratio:.2}"), (left + 0.1, ratio + top * 0.08), ("sans-serif", 13));
            chart.draw_series([bar])?;
            chart.draw_series([label])?;
            left += 1.0;
        }
        Ok(())
    })
}

/// Lines of a grid, on any background.
fn faint() -> RGBAColor {
    RGBColor(128, 128, 128).mix(0.3)
}

/// Percentile → 100 / (100 − percentile), so that 90, 99, 99.9 are evenly spaced on a logarithmic axis.
fn tail_curve(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    curve
        .iter()
        .filter(|(_, millis)| *millis > 0.0)
        .map(|(percentile, millis)| (100.0 / (100.0 - percentile).max(TAIL_MIN), *millis))
        .collect()
}

/// Steps of labels within a decade, from coarse to fine.
const STEPS: [&[u32]; 3] = [
    &[10, 20, 50],
    &[10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95],
    &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
];
/// A range of less has labels between the powers of ten.
const POWERS_ONLY: f64 = 100.0;

/// Where a logarithmic axis has labels: at powers of ten, or below two decades in steps that leave at least two of them in the range.
fn log_labels(range: &std::ops::Range<f64>) -> Vec<f64> {
    if range.end / range.start >= POWERS_ONLY {
        return labels_at(range, &[10]);
    }
    let tried = STEPS.map(|steps| labels_at(range, steps));
    tried.into_iter().find(|labels| labels.len() >= 2).unwrap_or_default()
}

/// The multiples of powers of ten within a range. `steps` are tenths of the power.
fn labels_at(range: &std::ops::Range<f64>, steps: &[u32]) -> Vec<f64> {
    let mut labels = Vec::new();
    let mut power = 10_f64.powf(range.start.log10().floor());
    while power <= range.end {
        labels.extend(steps.iter().map(|step| power * f64::from(*step) / 10.0));
        power *= 10.0;
    }
    labels.retain(|label| range.contains(label));
    labels
}

/// A label of a logarithmic axis, without the last digits of floating-point numbers.
fn log_label(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

fn round(percentile: f64) -> f64 {
    (percentile * 1000.0).round() / 1000.0
}

/// With separators of thousands, and decimals only where they are needed.
fn axis_label(value: f64) -> String {
    if value >= 1000.0 { format_number(value) } else { format!("{}", round(value)) }
}

fn highest<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    points.map(|point| point.1).fold(0.0, f64::max)
}

fn draw(paint: impl FnOnce(&Area) -> Drawn) -> Option<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        paint(&area).ok()?;
        area.present().ok()?;
    }
    // Black is what the library draws text and axes with.
    Some(svg.replace("=\"#000000\"", "=\"currentColor\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn plots_are_drawn_from_partial_results() {
        let run = sample::run_result();
        let phase = &run.scenarios[0].phases[0];
        let phases = [("", phase)];
        for svg in [throughput(&phases), percentiles(&phases), memory(&phases), ratio_bars(&run)] {
            let svg = svg.unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            assert!(
                !svg.contains("NaN") && svg.contains("currentColor") && !svg.contains("#000000"),
                "{svg}"
            );
        }
        let empty = PhaseResult::default();
        assert_eq!(throughput(&[("", &empty)]), None);
        assert_eq!(percentiles(&[("", &empty)]), None);
    }

    #[test]
    fn narrow_ranges_have_labels_between_powers_of_ten() {
        let labels = |from: f64, to: f64| {
            log_labels(&(from..to)).into_iter().map(log_label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(1.6, 9.6), "2 5");
        assert_eq!(labels(0.08, 7.0), "0.1 0.2 0.5 1 2 5");
        assert_eq!(labels(0.8, 120.0), "1 10 100", "two decades");
        assert_eq!(labels(2.8, 4.2), "3 3.5 4");
        assert_eq!(labels(1.01, 1.49), "1.1 1.2 1.3 1.4");
        // The least range: the bounds of a plot are 0.8 and 1.2 times its only value.
        for step in 0..1_000 {
            let only = 10_f64.powf(f64::from(step) / 250.0 - 2.0);
            assert!(log_labels(&(only * 0.8..only * 1.2)).len() >= 2, "{only}");
        }
    }

    #[test]
    fn labels_of_narrow_ranges_are_drawn() {
        let mut run = sample::run_result();
        let phase = &mut run.scenarios[0].phases[0];
        phase.operations.truncate(1);
        phase.operations[0].curve = vec![(0.0, 2.0), (50.0, 4.0), (99.0, 8.0)];
        let svg = percentiles(&[("", phase)]).unwrap();
        let texts: Vec<&str> = svg.lines().map(str::trim).filter(|line| !line.starts_with('<')).collect();
        assert!(texts.contains(&"2") && texts.contains(&"5"), "{texts:?}");
    }

    #[test]
    fn bars_of_several_phases_have_their_names() {
        let mut run = sample::run_result();
        assert!(ratio_bars(&run).unwrap().contains("send 0.50"));
        let mut second = run.scenarios[0].phases[0].clone();
        "second".clone_into(&mut second.name);
        run.scenarios[0].phases.push(second);
        assert!(ratio_bars(&run).unwrap().contains("send, second 0.50"));
    }

    #[test]
    fn lines_of_two_servers_are_in_one_plot() {
        let run = sample::run_result();
        let phase = &run.scenarios[0].phases[0];
        let svg = percentiles(&[("old", phase), ("new", phase)]).unwrap();
        assert!(svg.contains("old: send") && svg.contains("new: send"), "{svg}");
        assert!(svg.matches("<polyline").count() >= 4, "two lines and two entries of the legend: {svg}");
    }
}
