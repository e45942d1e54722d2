//! Administration by the operator: commands that work on a running server, over a socket in its data folder, as on a
//! stopped one. Both execute the same function.

mod accounts;
mod address;
mod answer;
mod audit;
mod channels;
mod erasing;
mod execute;
mod export_stream;
mod exports;
mod find;
mod organizations;
mod outbox;
mod request;
mod since;
mod socket;

pub use accounts::check_address;
pub use address::{ServerAddress, ask_address, reachable};
pub use answer::{Answer, Table, row_text, time};
pub use execute::execute;
pub use export_stream::{ExportStream, Part};
pub use exports::{export_done, send_export};
pub use find::find_realm;
pub use request::{AccountName, AdminRequest, ExportOptions, NewAccount, Permission, RoleName, UserName};
pub use since::Since;
pub use socket::{AnswerSender, ControlSocket, Pending, SOCKET_NAME, ask, ask_within, can_have_socket};
