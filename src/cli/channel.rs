//! `millstream channel`: channels.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use super::offline::execute_and_print;
use crate::admin::AdminRequest;

/// Commands for channels.
#[derive(Debug, clap::Subcommand)]
pub enum ChannelCommand {
    /// List the channels of an organization
    List(ChannelListArgs),
    /// Create a channel
    Create(ChannelCreateArgs),
}

/// The arguments of `channel list`.
#[derive(Debug, clap::Args)]
pub struct ChannelListArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    realm: String,
}

/// The arguments of `channel create`.
#[derive(Debug, clap::Args)]
pub struct ChannelCreateArgs {
    /// Name of the channel
    name: String,
    /// Description, in Markdown
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// Only subscribers can see the channel
    #[arg(long)]
    private: bool,
    /// E-mail address of the person who creates it and is subscribed (default: the first owner)
    #[arg(long, value_name = "ADDRESS")]
    creator: Option<String>,
    #[command(flatten)]
    list: ChannelListArgs,
}

/// Runs the command.
pub fn run(command: ChannelCommand) -> Result<(), CliError> {
    match command {
        ChannelCommand::List(ChannelListArgs { data, realm }) => {
            execute_and_print(&data, AdminRequest::ChannelList { realm })
        }
        ChannelCommand::Create(args) => {
            let ChannelCreateArgs { name, description, private: is_private, creator, list } = args;
            let ChannelListArgs { data, realm } = list;
            let request = AdminRequest::ChannelCreate { realm, name, description, is_private, creator };
            execute_and_print(&data, request)
        }
    }
}
