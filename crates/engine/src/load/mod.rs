//! `load`: make the load of a plan and write down what came of it.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::task::{JoinSet, LocalSet, spawn_local};
use wire::load::{LOAD_VERSION, LoadPlan, LoadResult};

use self::clock::{Clock, Deadline};
use self::connect::connect;
use self::log::Log;
use self::progress::{Lines, Listener};
use self::record::Recorder;
use self::run::{Run, Span};
use self::start::Origin;
use self::told::{Closing, Signals, Told};
use self::usage::Cpu;
use self::work::Operations;
use self::worker::Worker;
use crate::drive::Driver;
use crate::drive::connected::established;

pub use self::run::nanoseconds;

mod age;
pub mod clock;
mod connect;
pub mod core;
pub mod hash;
mod judge;
mod keys;
pub mod log;
pub mod mix;
pub mod operation;
pub mod operations;
pub mod pace;
pub mod parts;
pub mod plan;
pub mod progress;
mod record;
mod run;
pub mod share;
mod silence;
mod start;
pub mod stream;
pub mod stress;
mod timeline;
pub mod told;
mod usage;
pub mod work;
mod worker;

/// Arguments of `load`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The plan, JSON of the schema `engine-load.schema.json`.
    #[arg(long)]
    plan: PathBuf,
    /// Directory to write `latency.hlog` and, last, `result.json` into.
    #[arg(long)]
    out: PathBuf,
}

/// Make the load of the plan in a file.
pub fn load(arguments: &Arguments) -> io::Result<()> {
    let plan = plan::read(&arguments.plan)?;
    let closing = if plan.until_told {
        Closing::ByTerm
    } else {
        Closing::Never
    };
    carry_out(&plan, &arguments.out, closing, Box::new(Lines::default()))?;
    Ok(())
}

/// Make the load of a plan, which must have been checked, on this thread, and write `latency.hlog`
/// and, last, `result.json` into `out`. Signals of `closing` end its window early; all others end
/// it without a result, as each does before it has begun. `listener` learns how it goes.
pub fn carry_out(
    plan: &LoadPlan,
    out: &Path,
    closing: Closing,
    listener: Box<dyn Listener>,
) -> io::Result<LoadResult> {
    std::fs::create_dir_all(out)?;
    let result_path = out.join("result.json");
    match std::fs::remove_file(&result_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let log_path = out.join("latency.hlog");
    let result = LocalSet::new().block_on(&runtime, make(plan, &log_path, closing, listener));
    // What is still being worked out is waited for by nobody.
    runtime.shutdown_background();
    let result = result?;
    write_result(&result_path, &result)?;
    Ok(result)
}

/// What is noted when the load begins.
#[derive(Clone, Copy)]
struct Beginning {
    connections: u64,
    origin: Origin,
    /// By the clock of the host.
    started: SystemTime,
    /// Seconds since the start of the process when the load's clock read zero.
    age: f64,
}

async fn make(
    plan: &LoadPlan,
    log_path: &Path,
    closing: Closing,
    listener: Box<dyn Listener>,
) -> io::Result<LoadResult> {
    let mut signals = Signals::heed()?;
    let driver = Driver::new(plan, Clock::start())?;
    // Before the start, or the first operations would be late, and before anybody is connected.
    let (operations, span) = signals.unless(worked_out(plan)).await?;
    let sessions = signals.unless(connect(plan, &driver)).await?;
    let connections = established()?.len() as u64;
    let (age, aged) = (age::age()?, std::time::Instant::now());
    let origin = signals.unless(start::wait(plan.start)).await?;
    let Origin { clock, time } = origin;
    driver.begin(clock);
    let began = Beginning {
        connections,
        origin,
        started: SystemTime::now(),
        age: age + clock.instant(0).duration_since(aged).as_secs_f64(),
    };
    let log = Log::open(log_path, time, listener)?;
    let interval = nanoseconds(plan.interval).max(1);
    let end = span.end.unwrap_or(u64::MAX);
    let recorder = Recorder::new(log, span.begin, end, interval, plan.latencies);
    let run = Rc::new(Run::new(plan, span, operations, clock, recorder)?);
    let ringer = run.clone();
    let ring = spawn_local(async move { ringer.alarm.ring().await });
    let close = spawn_local(signals.end(run.clone(), closing));
    let mut workers: JoinSet<()> = JoinSet::new();
    for (client, session) in (0..).zip(sessions) {
        let client = run.client(client);
        workers.spawn_local(Worker::new(run.clone(), session, client).work());
    }

    let cpu = watch(&run, span, &mut workers).await?;
    ring.abort();
    let intended = run.settle().await;
    close.abort();
    // They end by being aborted; only then do they let go of the run.
    let _ = (ring.await, close.await);
    let run = Rc::into_inner(run).ok_or_else(|| io::Error::other("a worker is still running"));
    finish(plan, run?, span, began, &driver, cpu, intended)
}

/// The operations of a plan, and its window. Sums over billions of records or operations may take
/// minutes, so they are made on another thread, while this one heeds signals.
async fn worked_out(plan: &LoadPlan) -> io::Result<(Operations, Span)> {
    let plan = plan.clone();
    let sums = tokio::task::spawn_blocking(move || {
        let operations = Operations::new(&plan)?;
        Ok((operations, Span::of(&plan)))
    });
    sums.await?.map_err(|what: String| io::Error::other(what))
}

/// Wait until the measured window and everything that belongs to it is over. Returns the CPU time
/// when the window began.
async fn watch(run: &Run, span: Span, workers: &mut JoinSet<()>) -> io::Result<Cpu> {
    let mut deadline = Deadline::new();
    let mut limit = async |until: u64, workers: &mut JoinSet<()>| {
        let finished = async { while workers.join_next().await.is_some() {} };
        deadline.limit(run.clock.instant(until), finished).await
    };
    let finished = limit(span.begin, workers).await.is_some();
    // Deadlines tick once a millisecond: a shorter window may be over by the one of its beginning.
    if finished && run.clock.now() < span.begin {
        return Err(if run.closed() {
            io::Error::other(Told::TooEarly)
        } else {
            io::Error::other(
                "all operations were done before the warm-up ended, so there is nothing to measure; \
                 ask for more of them, or for a shorter warm-up (--warmup)",
            )
        });
    }
    let cpu = Cpu::now()?;
    loop {
        // At least once a second, so that progress is told while nothing is answered.
        let second = run.clock.now() + 1_000_000_000;
        let until = span.end.map_or(second, |end| second.min(end));
        let finished = limit(until, workers).await.is_some();
        // Every slot of the window is answered; the window is as long as it was meant to be.
        let idle = finished && span.end.is_some() && !run.closed() && !run.exhausted();
        if idle {
            run.alarm.until(until).await;
        }
        let now = run.clock.now();
        let ended = span.end.filter(|end| now >= *end);
        if let Some(end) = ended {
            run.close(end);
        } else if finished && !idle {
            let last = run.recorder.borrow().last_over();
            run.close(last.max(span.begin) + 1);
        }
        run.recorder.borrow_mut().advance(now);
        if run.recorder.borrow().failed() {
            // There is nothing to go on for; finishing tells why.
            run.close(now);
            workers.shutdown().await;
            return Ok(cpu);
        }
        if finished && run.closed() {
            return Ok(cpu);
        }
        if ended.is_some() {
            // Workers end by themselves, at the latest when their operations time out.
            while workers.join_next().await.is_some() {}
            return Ok(cpu);
        }
    }
}

fn finish(
    plan: &LoadPlan,
    run: Run,
    span: Span,
    began: Beginning,
    driver: &Driver,
    cpu: Cpu,
    intended: Option<u64>,
) -> io::Result<LoadResult> {
    let at_end = run.used_at_end();
    let used = at_end.cpu.since(&cpu);
    let now = run.clock.now();
    let (compares, ended_early) = (run.compares(), run.ended_early());
    let silent = run.silent_since();
    let recorder = run.recorder.into_inner();
    let measured = recorder.end().checked_sub(span.begin);
    let seconds = measured.ok_or_else(|| io::Error::other(Told::TooEarly))? as f64 / 1e9;
    // The last look may have been after the window.
    let limited = (at_end.limited as f64 / 1e9).min(seconds);
    let settled = recorder.over() + recorder.dropped();
    let backlog = intended.map_or(0, |intended| intended.saturating_sub(settled));
    let counts = recorder.finish(now)?;
    let unix = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_secs_f64()
    };
    let first = counts.first_start.map(|start| start as f64 / 1e9);
    let mut remotes: Vec<String> = driver.remotes()?.iter().map(ToString::to_string).collect();
    remotes.sort_unstable();
    Ok(LoadResult {
        version: LOAD_VERSION,
        part: plan.part,
        began: unix(began.origin.time) + span.begin as f64 / 1e9,
        seconds,
        operations: counts.operations,
        errors: counts.errors,
        late: counts.late,
        unsent: counts.unsent,
        dropped: counts.dropped,
        unfinished: counts.unfinished,
        verified: compares.then_some(counts.verified),
        messages: counts.messages,
        windows: counts.windows,
        remotes,
        shape: driver.shape().to_owned(),
        consistency: driver.consistency(),
        encryption: driver.encryption(),
        connections: began.connections,
        cpu_user: used.user,
        cpu_system: used.system,
        cpu_busiest_thread: used.busiest_thread(),
        limited,
        saturated: usage::saturated(used.busiest_thread(), limited, seconds, intended.is_some()),
        intended,
        backlog,
        started: Some(unix(began.started)),
        first_operation: first.map(|seconds| began.age + seconds),
        ended_early,
        silent_from: silent.map(|since| since.saturating_sub(span.begin) as f64 / 1e9),
    })
}

/// Written under another name first, so that a result is whole or not there.
fn write_result(path: &Path, result: &LoadResult) -> io::Result<()> {
    let unfinished = path.with_extension("json.tmp");
    std::fs::write(&unfinished, serde_json::to_string_pretty(result)? + "\n")?;
    std::fs::rename(&unfinished, path)
}
