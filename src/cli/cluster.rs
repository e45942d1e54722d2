//! `millstream cluster`: the nodes of a cluster, and what they own.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use crate::admin::Answer;
use crate::server::cluster_options;
use actors::cluster::{NodeLine, Operator, PlacedOrganization};
use serde_json::{Value, json};

/// Commands for a cluster. They need its database, not a running node.
#[derive(Debug, clap::Subcommand)]
pub enum ClusterCommand {
    /// List the nodes, and the organizations with their owners
    Status(DataArgs),
    /// Move all organizations off a node, before an upgrade; waits until it owns none
    Drain(NodeArgs),
    /// Let a node that was drained own organizations again
    Resume(NodeArgs),
    /// Move an organization to a node; waits until it is there
    Move(MoveArgs),
    /// Let all nodes store what only the newest version can read, once all run it; older versions can no longer join
    Upgrade(DataArgs),
}

/// The arguments of `cluster drain` and `cluster resume`.
#[derive(Debug, clap::Args)]
pub struct NodeArgs {
    /// Name of the node
    node: String,
    #[command(flatten)]
    data: DataArgs,
}

/// The arguments of `cluster move`.
#[derive(Debug, clap::Args)]
pub struct MoveArgs {
    /// Subdomain of the organization; - for the one without
    #[arg(value_parser = subdomain)]
    subdomain: String,
    /// Name of the node
    node: String,
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the command.
pub fn run(command: ClusterCommand) -> Result<(), CliError> {
    match command {
        ClusterCommand::Status(data) => status(&data),
        ClusterCommand::Drain(args) => {
            connect(&args.data)?.drain(&args.node, true)?;
            let line = format!("Node {} owns nothing any more.", args.node);
            args.data.print(&Answer::of(line, json!({"node": args.node})))
        }
        ClusterCommand::Resume(args) => {
            connect(&args.data)?.drain(&args.node, false)?;
            let line = format!("Node {} may own organizations again.", args.node);
            args.data.print(&Answer::of(line, json!({"node": args.node})))
        }
        ClusterCommand::Move(args) => {
            let subdomain = &args.subdomain;
            connect(&args.data)?.move_to(subdomain, &args.node)?;
            let line = format!("The organization is on node {}.", args.node);
            args.data.print(&Answer::of(line, json!({"subdomain": subdomain, "node": args.node})))
        }
        ClusterCommand::Upgrade(data) => upgrade(&data),
    }
}

fn connect(data: &DataArgs) -> Result<Operator, CliError> {
    let Some(options) = cluster_options(&data.load()?) else {
        let why =
            "cluster.database is not set: this command needs the configuration of a node (--config FILE)";
        return Err(CliError::Refused(why.to_owned()));
    };
    Ok(Operator::connect(&options)?)
}

fn upgrade(data: &DataArgs) -> Result<(), CliError> {
    let (before, now) = connect(data)?.upgrade()?;
    let line = match before == now {
        true => format!("Nodes write records of version {now} already."),
        false => format!("Nodes may write records of version {now} instead of {before} from now on."),
    };
    data.print(&Answer::of(line, json!({"before": before, "records": now})))
}

fn status(data: &DataArgs) -> Result<(), CliError> {
    let operator = connect(data)?;
    let (nodes, organizations) = (operator.nodes()?, operator.organizations()?);
    let lines = nodes.iter().map(node_line).chain(organizations.iter().map(organization_line)).collect();
    let value = json!({
        "records": operator.records()?,
        "nodes": nodes.iter().map(node_value).collect::<Vec<_>>(),
        "organizations": organizations.iter().map(organization_value).collect::<Vec<_>>(),
    });
    data.print(&Answer { table: None, lines, value })
}

fn node_line(node: &NodeLine) -> String {
    let state = match (node.is_alive, node.is_draining) {
        (false, _) => "gone",
        (true, true) => "draining",
        (true, false) => "alive",
    };
    let (name, owned, records) = (&node.node, node.organizations, node.records);
    let standby = match node.standby_slots {
        0 => String::new(),
        _ => format!(", standby, at most {} frames behind", node.standby_lag),
    };
    format!(
        "node {name} at {}: {state}, owns {owned} organizations, reads records up to version {records}{standby}",
        node.advertise
    )
}

fn organization_line(organization: &PlacedOrganization) -> String {
    let name = if organization.subdomain.is_empty() { "-" } else { &organization.subdomain };
    let node = organization.node.as_deref().unwrap_or("no node");
    let standbys: Vec<String> = organization
        .standbys
        .iter()
        .map(|(node, lag)| format!(", standby {node}, {lag} frames behind"))
        .collect();
    let (realm, epoch) = (organization.realm, organization.epoch);
    format!("organization {name} ({realm}): {node}, epoch {epoch}{}", standbys.concat())
}

fn node_value(node: &NodeLine) -> Value {
    json!({
        "node": node.node, "incarnation": node.incarnation, "advertise": node.advertise, "is_alive": node.is_alive,
        "is_draining": node.is_draining, "lease_secs": node.lease_secs, "records": node.records, "organizations": node.organizations,
        "standby_slots": node.standby_slots, "standby_lag_frames": node.standby_lag,
    })
}

fn organization_value(organization: &PlacedOrganization) -> Value {
    let standby = |(node, lag): &(String, i64)| json!({"node": node, "lag_frames": lag});
    json!({
        "standbys": organization.standbys.iter().map(standby).collect::<Vec<_>>(),
        "subdomain": organization.subdomain, "realm": organization.realm, "slot": organization.slot,
        "node": organization.node, "epoch": organization.epoch,
    })
}
