//! Load that changes during a phase: each stage goes evenly from where the one before ended to its own clients or rate.

use serde::Deserialize;

/// A part of a phase. A stage of 0 seconds is a jump.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagePlan {
    /// Length in seconds.
    pub secs: f64,
    /// Clients at its end.
    #[serde(default)]
    pub clients: Option<u32>,
    /// Requests per second at its end, of all clients together.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
}

/// What the stages change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Clients,
    Rate,
}

/// A stage with the values between which it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Seconds since the beginning.
    pub starts: f64,
    pub secs: f64,
    pub from: f64,
    pub to: f64,
    /// Requests due before it, if it is about rates.
    before: f64,
}

/// The load of a phase over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Ramp {
    pub quantity: Quantity,
    pub segments: Vec<Segment>,
}

impl Ramp {
    /// The stages as segments; none without stages. The first stage begins at 0.
    pub fn new(stages: &[StagePlan]) -> Result<Option<Self>, String> {
        let Some(first) = stages.first() else { return Ok(None) };
        let quantity = if first.clients.is_some() { Quantity::Clients } else { Quantity::Rate };
        let (mut starts, mut from, mut before) = (0.0, 0.0, 0.0);
        let mut segments = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            let to = match (quantity, stage.clients, stage.rate_per_sec) {
                (Quantity::Clients, Some(clients), None) => f64::from(clients),
                (Quantity::Rate, None, Some(rate)) => rate,
                _ => {
                    return Err(format!(
                        "stages[{number}]: all stages have `clients`, or all `rate_per_sec`"
                    ));
                }
            };
            if !(0.0..=3_600.0).contains(&stage.secs) {
                return Err(format!("stages[{number}].secs is {}, and goes from 0 to 3,600", stage.secs));
            }
            if !(0.0..=1_000_000.0).contains(&to) {
                return Err(format!("stages[{number}].rate_per_sec is {to}, and goes from 0 to 1,000,000"));
            }
            segments.push(Segment { starts, secs: stage.secs, from, to, before });
            before += f64::midpoint(from, to) * stage.secs;
            starts += stage.secs;
            from = to;
        }
        Ok(Some(Self { quantity, segments }))
    }

    /// The clients, or the rate, after some seconds; 0 after the end.
    pub fn value_at(&self, secs: f64) -> f64 {
        let inside = |segment: &&Segment| secs >= segment.starts && secs < segment.starts + segment.secs;
        self.segments.iter().find(inside).map_or(0.0, |segment| {
            segment.from + (segment.to - segment.from) * (secs - segment.starts) / segment.secs
        })
    }

    /// When the request of a number is due, in seconds: the inverse of the area below the rates. None after the last.
    pub fn due(&self, number: f64) -> Option<f64> {
        let area = |segment: &Segment| f64::midpoint(segment.from, segment.to) * segment.secs;
        let segment = self.segments.iter().find(|segment| number < segment.before + area(segment))?;
        let wanted = number - segment.before;
        let slope = (segment.to - segment.from) / segment.secs;
        // from · t + slope · t² / 2 = wanted, in the form that also holds for a slope of 0.
        let root = (segment.from * segment.from + 2.0 * slope * wanted).max(0.0).sqrt();
        let sum = segment.from + root;
        Some(segment.starts + if sum > 0.0 { 2.0 * wanted / sum } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(stages: &[(f64, f64)]) -> Ramp {
        let plan =
            |(secs, rate): &(f64, f64)| StagePlan { secs: *secs, clients: None, rate_per_sec: Some(*rate) };
        Ramp::new(&stages.iter().map(plan).collect::<Vec<_>>()).unwrap().unwrap()
    }

    #[test]
    fn requests_are_due_as_the_rate_grows() {
        let ramp = rates(&[(10.0, 100.0), (10.0, 100.0), (0.0, 20.0), (5.0, 20.0)]);
        assert_eq!(ramp.due(0.0), Some(0.0));
        // A rate that grows by 10 a second reaches 500 requests after 10 s, a quarter of them after half of the time.
        assert!((ramp.due(125.0).unwrap() - 5.0).abs() < 1e-9);
        assert!((ramp.due(600.0).unwrap() - 11.0).abs() < 1e-9);
        assert!((ramp.due(1520.0).unwrap() - 21.0).abs() < 1e-9, "{:?}", ramp.due(1520.0));
        assert_eq!(ramp.due(1600.0), None);
    }

    #[test]
    fn clients_grow_evenly_and_jump() {
        let plan = |secs, clients| StagePlan { secs, clients: Some(clients), rate_per_sec: None };
        let ramp = Ramp::new(&[plan(10.0, 20), plan(0.0, 4), plan(2.0, 4)]).unwrap().unwrap();
        assert!((ramp.value_at(5.0) - 10.0).abs() < 1e-9);
        assert!((ramp.value_at(11.0) - 4.0).abs() < 1e-9);
        assert!(ramp.value_at(12.5).abs() < 1e-9);
    }

    #[test]
    fn mixed_stages_are_refused_by_number() {
        let clients = StagePlan { secs: 1.0, clients: Some(1), rate_per_sec: None };
        let rate = StagePlan { secs: 1.0, clients: None, rate_per_sec: Some(1.0) };
        assert!(Ramp::new(&[clients, rate]).unwrap_err().contains("stages[1]"));
        assert!(Ramp::new(&[StagePlan { secs: -1.0, ..rate }]).unwrap_err().contains("stages[0].secs is -1"));
        let endless = StagePlan { rate_per_sec: Some(1e9), ..rate };
        assert!(Ramp::new(&[rate, endless]).unwrap_err().contains("stages[1].rate_per_sec"));
        assert_eq!(Ramp::new(&[]), Ok(None));
    }
}
