//! `control`: what no platform can change, measured while there is no deployment.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
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
    let found = Control {
        arithmetic: arithmetic(time),
        loopback: loopback(time)?,
    };
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

/// Messages that go to another thread and back over loopback, in a second.
fn loopback(time: Duration) -> io::Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut near = TcpStream::connect(listener.local_addr()?)?;
    let (mut far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let echo = thread::spawn(move || -> io::Result<()> {
        let mut message = [0; MESSAGE];
        while far.read_exact(&mut message).is_ok() {
            far.write_all(&message)?;
        }
        Ok(())
    });
    let mut message = [0; MESSAGE];
    let start = Instant::now();
    let mut exchanges = 0_u32;
    while start.elapsed() < time {
        near.write_all(&message)?;
        near.read_exact(&mut message)?;
        exchanges += 1;
    }
    let rate = f64::from(exchanges) / start.elapsed().as_secs_f64();
    drop(near);
    echo.join()
        .map_err(|_| io::Error::other("the echo ended badly"))??;
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rates_are_of_work_that_was_done() {
        let time = Duration::from_millis(20);
        assert!(arithmetic(time) > 1_000.0);
        assert!(loopback(time).unwrap() > 100.0);
    }
}
