//! Servers that answer what they are asked, or fail as a test wants them to fail, whatever protocol
//! they speak.

use std::sync::Arc;

pub use self::behaviour::{Behaviour, Harm};
pub use self::cassandra::Cassandra;
pub use self::mongodb::Mongodb;
pub use self::protocol::{Asked, How, Protocol};
pub use self::redis::Redis;
pub use self::server::Server;

mod answers;
mod behaviour;
#[path = "../mongodb/bson.rs"]
mod bson;
mod cassandra;
pub mod driven;
mod mongodb;
mod protocol;
mod redis;
#[path = "../scratch/mod.rs"]
pub mod scratch;
mod seen;
mod server;

/// One server of each database.
pub fn every() -> [Arc<dyn Protocol>; 3] {
    [
        Arc::new(Cassandra::default()),
        Arc::new(Mongodb),
        Arc::new(Redis::default()),
    ]
}
