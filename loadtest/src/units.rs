//! Conversions and formats of figures.

use std::time::Duration;

/// Bytes as MB of 1,000,000.
pub fn megabytes(bytes: u64) -> f64 {
    as_float(bytes) / 1_000_000.0
}

/// A count as a divisor.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn as_float(count: u64) -> f64 {
    count as f64
}

/// A time in µs, divided by a number of requests; none without a request.
pub fn micros_each(time: Duration, requests: u64) -> Option<f64> {
    (requests > 0).then(|| time.as_secs_f64() * 1_000_000.0 / as_float(requests))
}

/// A number, or a dash for a value that was not measured.
pub fn format_measured(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), format_number)
}

/// A count, or a number that is often whole: without decimals if it is.
pub fn format_whole(value: f64) -> String {
    if value.fract().abs() < 1e-9 { group_thousands(value) } else { format_number(value) }
}

/// A number with as many decimals as are significant.
pub fn format_number(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        group_thousands(value)
    } else if size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size < 0.0005 {
        "0".to_owned()
    } else {
        format!("{value:.3}")
    }
}

fn group_thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if value < 0.0 { format!("-{grouped}") } else { grouped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let cases = [
            (0.0, "0"),
            (0.123, "0.123"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1_234_567.0, "1,234,567"),
            (-1500.0, "-1,500"),
        ];
        for (value, text) in cases {
            assert_eq!(format_number(value), text);
        }
        assert_eq!(format_whole(16.0), "16");
        assert_eq!(format_whole(12_345.0), "12,345");
        assert_eq!(format_whole(2.5), "2.500");
        assert_eq!([format_measured(Some(12.34)), format_measured(None)], ["12.3", "–"]);
    }

    #[test]
    fn time_is_not_divided_by_no_requests() {
        assert_eq!(micros_each(Duration::from_millis(20), 0), None);
        assert_eq!(micros_each(Duration::from_millis(20), 4), Some(5_000.0));
    }
}
