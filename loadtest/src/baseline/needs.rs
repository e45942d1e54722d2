//! What a scenario is compared with: the bare server's GET or POST with as many clients as each phase, and each stage, has.

use crate::outcome::{BaselineShare, Baselines, PhaseResult};
use crate::scenario::stages::{Quantity, Segment};
use crate::scenario::{Asked, CLIENTS_MAX, Phase, Scenario, Step};

/// Numbers of clients with which a method is measured, unless more are needed for expectations. The rounds of a method take the
/// same time in all, so each further one has less of it.
const POINTS_MAX: usize = 4;

/// A kind of request to the bare server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Get,
    Post,
}

impl Method {
    /// As HTTP names it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
        }
    }
}

/// A load of the bare server: each client asks again as soon as it got a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    pub method: Method,
    pub clients: u32,
}

impl Point {
    /// Of as many clients, up to the most of a step.
    pub fn new(method: Method, clients: u32) -> Self {
        Self { method, clients: clients.clamp(1, CLIENTS_MAX) }
    }
}

/// The baselines that a scenario is compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// In their order, each once.
    pub points: Vec<Point>,
    /// Overwriting and fdatasync.
    pub disk: bool,
}

impl Needs {
    /// The baselines of a scenario's phases.
    pub fn of(scenario: &Scenario) -> Self {
        let (mut points, mut kept) = (Vec::new(), Vec::new());
        for phase in &scenario.phases {
            let compared = Compared::of(phase, scenario.users);
            points.extend(compared.map(|compared| compared.point));
            points.extend(stages(phase).into_iter().flatten());
            let expect = phase.expect.as_ref().unwrap_or(&scenario.expect);
            if expect.ratio_to_baseline_min.is_some() {
                // Only rates of as many clients are compared.
                kept.extend(compared.filter(|compared| compared.rates).map(|compared| compared.point));
            }
        }
        points.sort_unstable();
        points.dedup();
        for method in [Method::Get, Method::Post] {
            thin_out(&mut points, &kept, method);
        }
        Self { points, disk: scenario.phases.iter().any(|phase| waits_for_disk(&phase.step)) }
    }

    /// Points of a method.
    pub fn count(&self, method: Method) -> u32 {
        self.points.iter().map(|point| u32::from(point.method == method)).sum()
    }
}

/// Whether the median of a step is that of durable writes, or includes them.
fn waits_for_disk(step: &Step) -> bool {
    match step {
        Step::Send(_) | Step::Fanout(_) | Step::Mixed(_) | Step::Edit(_) => true,
        Step::Fetch(_)
        | Step::Get(_)
        | Step::Register(_)
        | Step::Idle(_)
        | Step::Crowd(_)
        | Step::Start(_) => false,
    }
}

/// Removes points of a method until there are not too many, each time one that is most like the one beside it, except those to be
/// kept.
fn thin_out(points: &mut Vec<Point>, kept: &[Point], method: Method) {
    while points.iter().filter(|point| point.method == method).count() > POINTS_MAX {
        let pairs = points.windows(2).enumerate().filter(|(_, pair)| pair[0].method == pair[1].method);
        let own = pairs.filter(|(_, pair)| pair[0].method == method);
        let removable = own.filter_map(|(place, pair)| {
            let distance = f64::from(pair[1].clients) / f64::from(pair[0].clients);
            let number = pair.iter().position(|point| !kept.contains(point))?;
            Some((place + number, distance))
        });
        let nearest = removable.min_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((place, _)) = nearest else { break };
        points.remove(place);
    }
}

/// What a phase is compared with.
#[derive(Debug, Clone, Copy)]
struct Compared {
    point: Point,
    /// Whether its rate is as free as the bare server's: each client asks again as soon as it got a reply, and for nothing else.
    rates: bool,
    /// Whether its CPU time is that of the requests that are counted.
    cpu: bool,
}

impl Compared {
    /// None for idle polls, which have a bare server of their own, and for starts.
    fn of(phase: &Phase, users: u32) -> Option<Self> {
        let is_free = |rate: Option<f64>| rate.is_none() && phase.stages.is_empty();
        let (method, clients, rates) = match &phase.step {
            Step::Send(step) => (Method::Post, step.clients, is_free(step.rate_per_sec)),
            Step::Fetch(step) => (Method::Get, step.clients, is_free(step.rate_per_sec)),
            Step::Get(step) => (Method::Get, step.clients, is_free(step.rate_per_sec)),
            // The clients do two operations in turn, of which the rate of one says little.
            Step::Register(step) => (Method::Post, step.clients, false),
            Step::Edit(step) => (Method::Post, step.clients, false),
            // Most requests are deliveries to polls.
            Step::Fanout(step) => (Method::Get, step.receivers, false),
            Step::Mixed(_) => (Method::Get, users, false),
            Step::Crowd(step) => match step.ask {
                Asked::Messages => (Method::Get, step.connections, false),
                Asked::Register => (Method::Post, step.connections, false),
            },
            Step::Idle(_) | Step::Start(_) => return None,
        };
        // Responses that are left unread are not counted, and cost what the others are said to.
        let cpu = !matches!(&phase.step, Step::Crowd(step) if !step.reads);
        let clients = if phase.ramp().is_some_and(|ramp| ramp.quantity == Quantity::Clients) {
            stages(phase).into_iter().flatten().map(|point| point.clients).max().unwrap_or(clients)
        } else {
            clients
        };
        Some(Self { point: Point::new(method, clients), rates, cpu })
    }
}

/// The points of the stages that last; none for one without clients.
fn stages(phase: &Phase) -> Vec<Option<Point>> {
    let (Some(ramp), Some((method, clients))) = (phase.ramp(), staged(&phase.step)) else {
        return Vec::new();
    };
    let most = |segment: &Segment| match ramp.quantity {
        Quantity::Rate => clients,
        // Not more than the clients of a step, which are whole numbers.
        Quantity::Clients => {
            (1..=clients).find(|count| f64::from(*count) >= segment.from.max(segment.to)).unwrap_or(clients)
        }
    };
    let lasting = ramp.segments.iter().filter(|segment| segment.secs > 0.0);
    lasting
        .map(|segment| (segment.from.max(segment.to) > 0.0).then(|| Point::new(method, most(segment))))
        .collect()
}

/// Method and clients of a step that can have stages.
fn staged(step: &Step) -> Option<(Method, u32)> {
    match step {
        Step::Send(step) => Some((Method::Post, step.clients)),
        Step::Fetch(step) => Some((Method::Get, step.clients)),
        Step::Get(step) => Some((Method::Get, step.clients)),
        Step::Register(step) => Some((Method::Post, step.clients)),
        Step::Edit(step) => Some((Method::Post, step.clients)),
        Step::Fanout(_) | Step::Idle(_) | Step::Mixed(_) | Step::Crowd(_) | Step::Start(_) => None,
    }
}

/// Sets what each phase, and each of its stages, is compared with.
pub fn compare(baselines: &Baselines, scenario: &Scenario, phases: &mut [PhaseResult]) {
    for (phase, result) in scenario.phases.iter().zip(phases) {
        if let Some(compared) = Compared::of(phase, scenario.users) {
            result.baseline = share_of_phase(baselines, compared, result);
        }
        for (point, stage) in stages(phase).into_iter().zip(&mut result.stages) {
            stage.baseline = point.and_then(|point| share(baselines, point, stage.server_cpu_us_per_request));
        }
    }
}

fn share_of_phase(baselines: &Baselines, compared: Compared, result: &PhaseResult) -> Option<BaselineShare> {
    let Compared { point, rates, cpu } = compared;
    let server = result.server.and_then(|server| server.cpu_us_per_request).filter(|_| cpu);
    let mut share = share(baselines, point, server)?;
    let first = result.operations.first().filter(|first| rates && first.completed > 0);
    let bare =
        baselines.near(point).filter(|bare| bare.clients == point.clients && bare.requests_per_sec > 0.0);
    share.rate_ratio = first.zip(bare).map(|(first, bare)| first.requests_per_sec / bare.requests_per_sec);
    Some(share)
}

fn share(baselines: &Baselines, point: Point, server: Option<f64>) -> Option<BaselineShare> {
    let bare = baselines.near(point)?;
    let micros = bare.server_cpu_us_per_request;
    Some(BaselineShare {
        method: bare.method.clone(),
        clients: bare.clients,
        server_cpu_us_per_request: micros,
        client_cpu_us_per_request: bare.client_cpu_us_per_request,
        cpu_ratio: server.filter(|_| micros > 0.0).map(|server| server / micros),
        rate_ratio: None,
    })
}

impl Baselines {
    /// The bare server's figures with these clients, or with the number of clients that is most like theirs.
    fn near(&self, point: Point) -> Option<&crate::outcome::WebBaseline> {
        let distance = |clients: u32| (f64::from(clients.max(1)) / f64::from(point.clients)).ln().abs();
        let own = self.bare.iter().filter(|bare| bare.method == point.method.name());
        own.min_by(|one, other| distance(one.clients).total_cmp(&distance(other.clients)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Operation, ServerUse, StageUse, WebBaseline};

    fn points(method: Method, clients: &[u32]) -> Vec<Point> {
        clients.iter().map(|clients| Point::new(method, *clients)).collect()
    }

    fn baselines(bare: &[(Method, u32)]) -> Baselines {
        let one = |(method, clients): &(Method, u32)| WebBaseline {
            method: method.name().to_owned(),
            clients: *clients,
            requests_per_sec: 1_000.0 * f64::from(*clients),
            server_cpu_us_per_request: 5.0,
            ..WebBaseline::default()
        };
        Baselines { bare: bare.iter().map(one).collect(), ..Baselines::default() }
    }

    fn result(kind: &str) -> PhaseResult {
        let first = Operation { completed: 9, requests_per_sec: 500.0, ..Operation::default() };
        let server = ServerUse { cpu_us_per_request: Some(20.0), ..ServerUse::default() };
        PhaseResult {
            kind: kind.to_owned(),
            operations: vec![first],
            server: Some(server),
            ..PhaseResult::default()
        }
    }

    #[test]
    fn baselines_have_the_clients_of_each_phase() {
        let needs = |name: &str| Needs::of(&Scenario::load(name).unwrap());
        assert_eq!(needs("send"), Needs { points: points(Method::Post, &[64]), disk: true });
        assert_eq!(needs("users_me"), Needs { points: points(Method::Get, &[64]), disk: false });
        assert_eq!(needs("start"), Needs::default());
        assert_eq!(needs("idle"), Needs::default(), "held requests are measured by the phase itself");
        let guard = [points(Method::Get, &[32, 64, 100]), points(Method::Post, &[1, 64])].concat();
        assert_eq!(needs("guard").points, guard);
        assert_eq!(needs("ramp").points, points(Method::Post, &[1, 16, 64, 128]));
        assert_eq!(needs("soak").points, points(Method::Get, &[300]));
        assert_eq!(needs("hot_channel").points, points(Method::Get, &[1_000]));
    }

    #[test]
    fn few_numbers_of_clients_are_measured_and_the_nearest_is_named() {
        let mut many = points(Method::Post, &[1, 2, 20, 21, 400, 500]);
        many.splice(0..0, points(Method::Get, &[9]));
        let all = many.clone();
        thin_out(&mut many, &[], Method::Post);
        assert_eq!(many, [points(Method::Get, &[9]), points(Method::Post, &[1, 2, 21, 500])].concat());
        many.clone_from(&all);
        thin_out(&mut many, &points(Method::Post, &[1, 20, 400, 500]), Method::Post);
        assert_eq!(many, [points(Method::Get, &[9]), points(Method::Post, &[1, 20, 400, 500])].concat());
        many.clone_from(&all);
        thin_out(&mut many, &all[1..6], Method::Post);
        assert_eq!(many, all[..6], "as many as are to be kept");
        let measured = baselines(&[(Method::Post, 2), (Method::Post, 21), (Method::Get, 20)]);
        let near = measured.near(Point::new(Method::Post, 20)).unwrap();
        assert_eq!((near.method.as_str(), near.clients), ("POST", 21));
        assert_eq!(measured.near(Point::new(Method::Post, 3)).unwrap().clients, 2);
    }

    #[test]
    fn expected_ratios_of_rates_have_their_own_clients_however_many_there_are() {
        let needs = |step: fn(u32) -> serde_json::Value, expect: serde_json::Value| {
            let phase = |clients: u32| {
                let mut phase =
                    serde_json::json!({"name": format!("p{clients}"), "secs": 1, "step": step(clients)});
                if clients == 3 {
                    phase["expect"] = serde_json::json!({});
                }
                phase
            };
            let phases: Vec<serde_json::Value> = [1, 2, 3, 4, 5, 6].map(phase).into();
            let text = serde_json::json!({
                "name": "x", "about": "x", "users": 8, "channels": [{"name": "c", "subscribers": 8}], "phases": phases,
                "expect": expect
            });
            Needs::of(&Scenario::parse(&text.to_string()).unwrap()).points
        };
        let get = |clients: u32| serde_json::json!({"do": "get", "clients": clients, "path": "/x"});
        let register =
            |clients: u32| serde_json::json!({"do": "register", "clients": clients, "whole_state": true});
        let ratio = || serde_json::json!({"ratio_to_baseline_min": 0.1});
        assert_eq!(needs(get, ratio()), points(Method::Get, &[1, 2, 4, 5, 6]), "3 has no expectation");
        assert_eq!(needs(get, serde_json::json!({})).len(), POINTS_MAX);
        assert_eq!(needs(register, ratio()).len(), POINTS_MAX, "no rates are compared");
    }

    #[test]
    fn rates_of_clients_that_do_two_operations_in_turn_are_not_compared() {
        let edit = serde_json::json!({"do": "edit", "clients": 8, "channel": "c", "chars": [24, 30], "topics": 1, "edits": 1});
        let register = serde_json::json!({"do": "register", "clients": 8, "whole_state": true});
        for step in [edit, register] {
            let share = compared(&[("step", step)], &[(Method::Post, 8)]).baseline.unwrap();
            assert_eq!((share.clients, share.cpu_ratio, share.rate_ratio), (8, Some(4.0), None));
        }
    }

    /// The comparison of a phase of `send` with this step and these stages.
    fn compared(fields: &[(&str, serde_json::Value)], bare: &[(Method, u32)]) -> PhaseResult {
        let step =
            serde_json::json!({"do": "send", "clients": 8, "channel": "c", "chars": [24, 30], "topics": 1});
        let mut phase = serde_json::json!({"name": "p", "secs": 1, "step": step});
        for (pointer, value) in fields {
            match pointer.split_once('/') {
                Some((_, field)) => phase["step"][field] = value.clone(),
                None => phase[*pointer] = value.clone(),
            }
        }
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 8, "channels": [{"name": "c", "subscribers": 8}], "phases": [phase]
        });
        let scenario = Scenario::parse(&text.to_string()).unwrap();
        let mut results = [result("send")];
        let lasting = stages(&scenario.phases[0]).len();
        results[0].stages =
            vec![StageUse { server_cpu_us_per_request: Some(10.0), ..StageUse::default() }; lasting];
        compare(&baselines(bare), &scenario, &mut results);
        let [result] = results;
        result
    }

    #[test]
    fn rates_are_compared_only_where_both_are_free_and_have_the_same_clients() {
        let share = |fields: &[(&str, serde_json::Value)], clients| {
            compared(fields, &[(Method::Post, clients), (Method::Get, 8)]).baseline.unwrap()
        };
        let free = share(&[], 8);
        assert_eq!((free.method.as_str(), free.clients), ("POST", 8));
        assert_eq!((free.cpu_ratio, free.rate_ratio), (Some(4.0), Some(0.0625)));
        let rated = share(&[("step/rate_per_sec", 500.into())], 8);
        assert_eq!((rated.cpu_ratio, rated.rate_ratio), (Some(4.0), None), "a rate is no result");
        let other = share(&[], 64);
        assert_eq!((other.clients, other.cpu_ratio, other.rate_ratio), (64, Some(4.0), None));
    }

    #[test]
    fn each_stage_is_compared_with_its_own_clients() {
        let stages = serde_json::json!([
            {"secs": 0, "clients": 1}, {"secs": 1, "clients": 1}, {"secs": 1, "clients": 8}, {"secs": 0, "clients": 0},
            {"secs": 1, "clients": 0}
        ]);
        let result =
            compared(&[("secs", 0.into()), ("stages", stages)], &[(Method::Post, 1), (Method::Post, 8)]);
        assert_eq!(result.baseline.map(|share| (share.clients, share.rate_ratio)), Some((8, None)));
        let clients: Vec<Option<(u32, Option<f64>)>> = result
            .stages
            .iter()
            .map(|stage| stage.baseline.as_ref().map(|share| (share.clients, share.cpu_ratio)))
            .collect();
        assert_eq!(clients, [Some((1, Some(2.0))), Some((8, Some(2.0))), None], "none without clients");
    }

    #[test]
    fn crowds_have_a_baseline_and_no_ratio_if_they_leave_responses_unread() {
        let crowd = |reads: bool| {
            let step = serde_json::json!({"do": "crowd", "connections": 40, "accounts": 5, "ask": "register", "reads": reads});
            let phase = serde_json::json!({"name": "p", "secs": 1, "step": step});
            let text = serde_json::json!({"name": "x", "about": "x", "users": 8, "phases": [phase]});
            let scenario = Scenario::parse(&text.to_string()).unwrap();
            assert_eq!(Needs::of(&scenario).points, points(Method::Post, &[40]));
            let mut results = [result("crowd")];
            compare(&baselines(&[(Method::Post, 40)]), &scenario, &mut results);
            results[0].baseline.as_ref().map(|share| (share.clients, share.cpu_ratio))
        };
        assert_eq!(crowd(true), Some((40, Some(4.0))));
        assert_eq!(crowd(false), Some((40, None)));
    }
}
