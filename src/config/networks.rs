//! The networks of trusted proxies.

use ipnet::IpNet;
use serde::Deserialize;
use std::net::IpAddr;

/// An IP address or network of a proxy: `10.0.0.1`, `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ProxyNetwork(IpNet);

impl TryFrom<String> for ProxyNetwork {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let address = text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
        let network = address.or_else(|_| text.parse::<IpNet>());
        network.map(Self).map_err(|_| {
            format!("holds `{text}`, which is neither an IP address nor a network such as 10.0.0.0/8")
        })
    }
}

impl ProxyNetwork {
    /// Whether it contains an address; IPv4-mapped addresses must be canonical.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}
