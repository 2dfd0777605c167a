//! The histogram log and the progress lines, written by a thread of low priority so that the
//! thread that makes load never waits for a disk, a pipe or a compressor.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use wire::load::Progress;

/// A histogram of nanoseconds, of three significant digits.
pub type Times = Histogram<u32>;

/// Longest time told apart from longer ones: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// What the recorder hands over when an interval is over.
pub struct Interval {
    /// Nanoseconds since the load began.
    pub start: u64,
    /// Nanoseconds.
    pub length: u64,
    /// Histograms that are not empty, with their tags.
    pub histograms: Vec<(String, Times)>,
    /// Operations answered so far.
    pub operations: u64,
}

/// The thread that writes, and the way back for empty histograms.
pub struct Log {
    intervals: Sender<Interval>,
    emptied: Receiver<Times>,
    thread: JoinHandle<io::Result<()>>,
}

impl Log {
    /// Begin to write `path`; `began` is the origin of the intervals.
    pub fn open(path: &Path, began: SystemTime) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let (intervals, received) = channel();
        let (give_back, emptied) = channel();
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(file, began, &received, &give_back))?;
        Ok(Self {
            intervals,
            emptied,
            thread,
        })
    }

    /// Hand an interval over. A thread that failed is noticed by [`Log::close`].
    pub fn hand_over(&self, interval: Interval) {
        let _ = self.intervals.send(interval);
    }

    /// A histogram that is empty, used before if there is one.
    pub fn empty(&self) -> Times {
        self.emptied.try_recv().unwrap_or_else(|_| {
            Times::new_with_bounds(1, LONGEST, 3).expect("the bounds are valid")
        })
    }

    /// Wait until everything is written.
    pub fn close(self) -> io::Result<()> {
        drop(self.intervals);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the log's thread died")))
    }
}

fn write(
    mut file: BufWriter<File>,
    began: SystemTime,
    intervals: &Receiver<Interval>,
    give_back: &Sender<Times>,
) -> io::Result<()> {
    // SAFETY: a plain system call on this thread; without the right to it nothing changes.
    unsafe { nix::libc::setpriority(nix::libc::PRIO_PROCESS, 0, 19) };
    let failed = |error: &dyn std::fmt::Debug| io::Error::other(format!("latency.hlog: {error:?}"));
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .with_start_time(began)
        .with_base_time(began)
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut file, &mut serializer)
        .map_err(|error| failed(&error))?;
    let mut told = 0;
    for interval in intervals {
        let start = Duration::from_nanos(interval.start);
        let length = Duration::from_nanos(interval.length);
        for (tag, mut histogram) in interval.histograms {
            log.write_histogram(&histogram, start, length, Tag::new(&tag))
                .map_err(|error| failed(&error))?;
            histogram.reset();
            let _ = give_back.send(histogram);
        }
        let elapsed = interval.start + interval.length;
        if elapsed >= told + 1_000_000_000 {
            told = elapsed;
            tell(&Progress {
                elapsed: elapsed as f64 / 1e9,
                operations: interval.operations,
            });
        }
    }
    file.flush()
}

/// A reader that has gone away is no reason to stop.
fn tell(progress: &Progress) {
    if let Ok(line) = serde_json::to_string(progress) {
        let _ = writeln!(io::stdout(), "{line}");
    }
}
