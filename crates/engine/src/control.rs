//! What no platform can change: measured by `control` while there is no deployment, and by `turns`
//! after each turn.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use wire::control::Control;

use crate::arithmetic::{ROUNDS, work};

/// Bytes of one message, about a record.
const MESSAGE: usize = 1024;

/// Arguments of `control`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds for each of the two.
    #[arg(long, default_value_t = 0.1)]
    seconds: f64,
}

/// Print both rates as a line of JSON.
pub fn control(arguments: &Arguments) -> io::Result<()> {
    if !(0.01..=10.0).contains(&arguments.seconds) {
        let what = "the seconds must be from 0.01 to 10";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let time = Duration::from_secs_f64(arguments.seconds);
    let found = Probe::open()?.measure(time)?;
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// Pieces of work in a second.
fn arithmetic(time: Duration) -> f64 {
    let start = Instant::now();
    let mut pieces = 0_u32;
    while start.elapsed() < time {
        work(ROUNDS);
        pieces += 1;
    }
    f64::from(pieces) / start.elapsed().as_secs_f64()
}

/// Both ends of a connection over loopback.
pub struct Probe {
    near: TcpStream,
    far: TcpStream,
}

impl Probe {
    pub fn open() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        Ok(Self { near, far })
    }

    /// Both rates, each measured for `time`.
    pub fn measure(&mut self, time: Duration) -> io::Result<Control> {
        Ok(Control {
            arithmetic: arithmetic(time),
            loopback: self.loopback(time)?,
        })
    }

    /// Messages that go to the other end and back, in a second. One thread has both ends, so that
    /// no scheduler has a say in it.
    fn loopback(&mut self, time: Duration) -> io::Result<f64> {
        let mut message = [0; MESSAGE];
        let start = Instant::now();
        let mut exchanges = 0_u32;
        while start.elapsed() < time {
            self.near.write_all(&message)?;
            self.far.read_exact(&mut message)?;
            self.far.write_all(&message)?;
            self.near.read_exact(&mut message)?;
            exchanges += 1;
        }
        Ok(f64::from(exchanges) / start.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rates_are_of_work_that_was_done() {
        let time = Duration::from_millis(20);
        let found = Probe::open().unwrap().measure(time).unwrap();
        assert!(found.arithmetic > 1_000.0);
        assert!(found.loopback > 100.0);
    }
}
