//! The histogram log, written by a thread of low priority so that the thread that makes load never
//! waits for a disk, a pipe or a compressor. The same thread tells how the load goes.

use std::fs::File;
use std::io::{self, LineWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};

use super::progress::Listener;

/// A histogram of nanoseconds, of three significant digits.
pub type Times = Histogram<u32>;

/// Longest time told apart from longer ones: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// Most intervals that wait to be written.
const MOST_WAITING: usize = 8;

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
    /// Operations that went wrong so far.
    pub errors: u64,
    /// Whether the measured window was over before it.
    pub after: bool,
}

impl Interval {
    /// Nanoseconds from the start of the load to the end of this.
    pub fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// The thread that writes, and the way back for empty histograms.
pub struct Log {
    intervals: Sender<Interval>,
    emptied: Receiver<Times>,
    waiting: Arc<AtomicUsize>,
    thread: JoinHandle<io::Result<()>>,
}

impl Log {
    /// Begin to write the file `path`; `began` is the origin of the intervals, of which `listener`
    /// learns.
    pub fn open(path: &Path, began: SystemTime, listener: Box<dyn Listener>) -> io::Result<Self> {
        Self::begin(File::create(path)?, began, listener)
    }

    fn begin(
        out: impl Write + Send + 'static,
        began: SystemTime,
        mut listener: Box<dyn Listener>,
    ) -> io::Result<Self> {
        let (intervals, received) = channel();
        let (give_back, emptied) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let written = waiting.clone();
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || {
                // A line at a time, so that a disk that is full is noticed at once.
                let out = LineWriter::new(out);
                write(out, began, &received, &give_back, &written, &mut *listener)
            })?;
        Ok(Self {
            intervals,
            emptied,
            waiting,
            thread,
        })
    }

    /// Whether an interval may be handed over. Where the thread is behind, the interval goes on
    /// instead: nothing is lost, and memory is bounded however slow the disk is.
    pub fn ready(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < MOST_WAITING
    }

    /// Whether nothing more is written, because something failed; [`Log::close`] tells what.
    pub fn failed(&self) -> bool {
        self.thread.is_finished()
    }

    /// Hand an interval over. A thread that failed is noticed by [`Log::failed`].
    pub fn hand_over(&self, interval: Interval) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
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
    mut out: impl Write,
    began: SystemTime,
    intervals: &Receiver<Interval>,
    give_back: &Sender<Times>,
    waiting: &AtomicUsize,
    listener: &mut dyn Listener,
) -> io::Result<()> {
    // SAFETY: a plain system call on this thread; without the right to it nothing changes.
    unsafe { nix::libc::setpriority(nix::libc::PRIO_PROCESS, 0, 19) };
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .with_start_time(began)
        .with_base_time(began)
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut out, &mut serializer)
        .map_err(|error| failed(&error))?;
    for interval in intervals {
        listener.hear(&interval);
        let start = Duration::from_nanos(interval.start);
        let length = Duration::from_nanos(interval.length);
        for (tag, mut histogram) in interval.histograms {
            log.write_histogram(&histogram, start, length, Tag::new(&tag))
                .map_err(|error| {
                    failed(&match error {
                        IntervalLogWriterError::IoError(error) => error.to_string(),
                        IntervalLogWriterError::SerializeError(error) => error.to_string(),
                    })
                })?;
            histogram.reset();
            let _ = give_back.send(histogram);
        }
        waiting.fetch_sub(1, Ordering::Relaxed);
    }
    out.flush()
}

/// The error where nothing more can be written, with what to do.
fn failed(what: &impl std::fmt::Display) -> io::Error {
    io::Error::other(format!(
        "`latency.hlog` cannot be written: {what}; make room, or name another directory: --out \
         DIRECTORY"
    ))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use data_encoding::BASE64;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use std::collections::BTreeMap;
    use std::sync::{Mutex, MutexGuard};

    /// Learns of everything in vain.
    pub struct Deaf;

    impl Listener for Deaf {
        fn hear(&mut self, _: &Interval) {}
    }

    /// A log in memory, whose disk stands still while it is held.
    #[derive(Clone, Default)]
    pub struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.hold().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Kept {
        /// A log that writes into this.
        pub fn log(&self) -> Log {
            Log::begin(self.clone(), SystemTime::UNIX_EPOCH, Box::new(Deaf)).unwrap()
        }

        /// Let nothing be written as long as the guard lives.
        pub fn hold(&self) -> MutexGuard<'_, Vec<u8>> {
            self.0.lock().unwrap()
        }

        /// Tag of each line, and how often each value stands in it.
        pub fn lines(&self) -> Vec<(String, BTreeMap<u64, u64>)> {
            let log = self.hold();
            let mut lines = Vec::new();
            for entry in IntervalLogIterator::new(&log) {
                if let LogEntry::Interval(interval) = entry.unwrap() {
                    let encoded = interval.encoded_histogram();
                    let bytes = BASE64.decode(encoded.as_bytes()).unwrap();
                    let mut deserializer = Deserializer::new();
                    let times: Histogram<u64> =
                        deserializer.deserialize(&mut bytes.as_slice()).unwrap();
                    let counts = times
                        .iter_recorded()
                        .map(|step| (step.value_iterated_to(), step.count_at_value()))
                        .collect();
                    lines.push((interval.tag().unwrap().as_str().to_owned(), counts));
                }
            }
            lines
        }
    }

    /// How often each value stands in all lines of a tag.
    pub fn added<'a>(
        lines: impl IntoIterator<Item = &'a (String, BTreeMap<u64, u64>)>,
    ) -> BTreeMap<String, BTreeMap<u64, u64>> {
        let mut sums: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
        for (tag, counts) in lines {
            let sum = sums.entry(tag.clone()).or_default();
            for (value, count) in counts {
                *sum.entry(*value).or_default() += count;
            }
        }
        sums
    }

    #[test]
    fn a_log_whose_disk_stands_still_takes_only_so_many_intervals() {
        let kept = Kept::default();
        let held = kept.hold();
        let log = kept.log();
        let mut handed_over = 0;
        // As many as fit into the buffer before the disk, which some hundreds do not.
        while log.ready() && handed_over < 10_000 {
            let mut times = log.empty();
            times.record(1_000_000 + handed_over).unwrap();
            log.hand_over(Interval {
                start: handed_over,
                length: 1,
                histograms: vec![("read.service".to_owned(), times)],
                operations: handed_over,
                errors: 0,
                after: false,
            });
            handed_over += 1;
        }
        assert!(handed_over < 10_000);
        drop(held);
        log.close().unwrap();
        assert_eq!(kept.lines().len() as u64, handed_over);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_an_error_in_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is full"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let log = Log::begin(Full, SystemTime::UNIX_EPOCH, Box::new(Deaf)).unwrap();
        let error = log.close().unwrap_err().to_string();
        assert!(error.contains("the disk is full"), "{error}");
    }
}
