//! Reads the server's counters from `GET /metrics` (Prometheus text), to compute the storage cost of a send.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::client::Api;
use crate::error::LoadError;
use crate::text::one_line;

/// The trees are written after the journal; the counters are read once they have not changed for this long.
const STILL: Duration = Duration::from_millis(700);
/// Characters of the names of the counters that a server has, in an error.
const KNOWN_CHARS_MAX: usize = 10_000;
const STILL_WAIT: Duration = Duration::from_secs(30);

/// Reads the named counters once they stop changing. If the server lacks one of them, the error lists
/// those that it has.
pub async fn read_still(api: &mut Api, names: &[String]) -> Result<BTreeMap<String, f64>, LoadError> {
    let begun = std::time::Instant::now();
    let mut last = read(api, names).await?;
    while begun.elapsed() < STILL_WAIT {
        tokio::time::sleep(STILL).await;
        let now = read(api, names).await?;
        if now == last {
            return Ok(now);
        }
        last = now;
    }
    Err(LoadError::Server(format!("the counters still move {} s after the load ended", STILL_WAIT.as_secs())))
}

async fn read(api: &mut Api, names: &[String]) -> Result<BTreeMap<String, f64>, LoadError> {
    let text = api.get_text("/metrics").await?;
    let all = parse(&text);
    let mut found = BTreeMap::new();
    for name in names {
        let Some(value) = all.get(name) else {
            let known: Vec<&str> = all.keys().map(String::as_str).collect();
            let known = one_line(&known.join(", "), KNOWN_CHARS_MAX);
            return Err(LoadError::Server(format!("/metrics has no {name}; it has {known}")));
        };
        found.insert(name.clone(), *value);
    }
    Ok(found)
}

/// Metric values by name, summed over all label sets.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name_end = line.find(['{', ' ']).unwrap_or(line.len());
        let after_labels = line.rfind('}').map_or(name_end, |position| position + 1);
        let Some(value) = line[after_labels..].split_whitespace().next() else { continue };
        if let Ok(value) = value.parse::<f64>() {
            *values.entry(line[..name_end].to_owned()).or_insert(0.0) += value;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn label_sets_are_added_up() {
        let text = "# HELP a b\n# TYPE a counter\na{shard=\"0\",x=\"} {\"} 3\na{shard=\"1\"} 4.5\n\nb 7 1700000000\nc\n";
        let values = parse(text);
        assert!((values["a"] - 7.5).abs() < 1e-9, "{values:?}");
        assert!((values["b"] - 7.0).abs() < 1e-9, "{values:?}");
        assert_eq!(values.len(), 2);
    }
}
