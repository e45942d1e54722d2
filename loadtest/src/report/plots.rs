//! Plots as SVG text. A plot without data, or one that cannot be drawn, is omitted.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::expect::ratio_to_baseline;
use crate::outcome::{PhaseResult, RunResult};

const SIZE: (u32, u32) = (860, 260);
const COLORS: [RGBColor; 3] = [RGBColor(31, 92, 153), RGBColor(191, 87, 0), RGBColor(60, 130, 70)];
/// Percentile curves use the distance to 100 %, which spreads the tail.
const TAIL_MIN: f64 = 0.005;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Successful replies per second over time, a line per operation.
pub fn throughput(phase: &PhaseResult) -> Option<String> {
    let last = |points: &[(f64, f64)]| points.last().map_or(0.0, |point| point.0);
    let right = phase.operations.iter().map(|operation| last(&operation.timeline)).fold(0.0, f64::max);
    let top = highest(phase.operations.iter().flat_map(|operation| &operation.timeline));
    if right <= 0.0 || top <= 0.0 {
        return None;
    }
    draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .caption("successful replies per second", ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..right, 0.0..top * 1.1)?;
        chart.configure_mesh().x_desc("seconds, warm-up included").light_line_style(TRANSPARENT).draw()?;
        for (operation, color) in phase.operations.iter().zip(COLORS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(operation.timeline.iter().copied(), color.stroke_width(2)))?
                .label(operation.name.clone())
                .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw()?;
        Ok(())
    })
}

/// Latency percentiles, a line per operation; both axes logarithmic.
pub fn percentiles(phase: &PhaseResult) -> Option<String> {
    let curves: Vec<Vec<(f64, f64)>> =
        phase.operations.iter().map(|operation| tail_curve(&operation.curve)).collect();
    let top = highest(curves.iter().flatten());
    let bottom = curves.iter().flatten().map(|point| point.1).fold(f64::MAX, f64::min);
    if top <= 0.0 {
        return None;
    }
    draw(|area| {
        let mut chart = ChartBuilder::on(area)
            .caption("latency percentiles, ms", ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(70)
            .build_cartesian_2d(
                (1.0..1.0 / (TAIL_MIN / 100.0)).log_scale(),
                (bottom * 0.8..top * 1.2).log_scale(),
            )?;
        chart
            .configure_mesh()
            .x_desc("percentile")
            .y_labels(5)
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&|inverse| format!("{}", round(100.0 - 100.0 / inverse)))
            .draw()?;
        for ((operation, curve), color) in phase.operations.iter().zip(curves).zip(COLORS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(curve, color.stroke_width(2)))?
                .label(operation.name.clone())
                .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .draw()?;
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
                let ratio = ratio_to_baseline(phase, &scenario.baselines)?;
                Some((scenario.name.clone(), ratio))
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
            .caption("requests per second, relative to bare actix-web", ("sans-serif", 16))
            .margin(8)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..right, 0.0..top * 1.15)?;
        chart.configure_mesh().disable_x_mesh().disable_x_axis().light_line_style(TRANSPARENT).draw()?;
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

/// Percentile → 100 / (100 − percentile), so that 90, 99, 99.9 are evenly spaced on a logarithmic axis.
fn tail_curve(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    curve
        .iter()
        .filter(|(_, millis)| *millis > 0.0)
        .map(|(percentile, millis)| (100.0 / (100.0 - percentile).max(TAIL_MIN), *millis))
        .collect()
}

fn round(percentile: f64) -> f64 {
    (percentile * 1000.0).round() / 1000.0
}

fn highest<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    points.map(|point| point.1).fold(0.0, f64::max)
}

fn draw(paint: impl FnOnce(&Area) -> Drawn) -> Option<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE).ok()?;
        paint(&area).ok()?;
        area.present().ok()?;
    }
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn plots_are_drawn_from_partial_results() {
        let run = sample::run_result();
        let phase = &run.scenarios[0].phases[0];
        for svg in [throughput(phase), percentiles(phase), ratio_bars(&run)] {
            let svg = svg.unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            assert!(!svg.contains("NaN"), "{svg}");
        }
        let empty = PhaseResult::default();
        assert_eq!(throughput(&empty), None);
        assert_eq!(percentiles(&empty), None);
    }
}
