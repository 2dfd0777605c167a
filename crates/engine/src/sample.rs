//! `sample`: read a host's counters at even ticks until told to end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use wire::samples::{Line, SAMPLES_VERSION, WatchPlan};

use crate::cgroups::Hierarchies;
use crate::moment::unix_time;
use crate::stop::Stop;
use machine::Machine;
use soft::Soft;
use speed::Speed;
use ticks::Ticks;
use unit::Unit;

mod counters;
mod disks;
mod kept;
mod machine;
mod soft;
mod speed;
mod ticks;
mod unit;

/// Most samples a second; beyond it the watching would show in what is watched.
const HIGHEST_RATE: f64 = 20.0;

/// Arguments of `sample`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The plan, a JSON file (`engine-watch.schema.json`).
    #[arg(long)]
    plan: PathBuf,
    /// Directory to write `samples.jsonl` into.
    #[arg(long)]
    out: PathBuf,
}

/// Sample until TERM, INT or the parent's end; the last sample is taken then.
pub fn sample(arguments: &Arguments) -> io::Result<()> {
    let stop = Stop::heed()?;
    let plan = read_plan(arguments)?;
    let hierarchies = Hierarchies::find()?;
    let mut units: BTreeMap<&String, Unit> = plan
        .units
        .iter()
        .map(|(name, group)| (name, Unit::new(&hierarchies, group)))
        .collect();
    let mut machine = Machine::new(&plan.address);
    let mut speed = Speed::default();
    let (soft, refused) = counting(&plan);
    let mut out = File::create(arguments.out.join("samples.jsonl"))?;

    let interval = Duration::from_secs_f64(1.0 / plan.rate);
    let mut ticks = Ticks::new(Instant::now(), interval);
    let mut sample = take(&mut units, &mut machine, &mut speed, soft.as_ref())?;
    let mut absent = machine.absent_network();
    absent.extend(refused);
    let method = soft.as_ref().map(|_| soft::method());
    let head = header(&plan, &hierarchies, interval, &units, absent, method);
    write(&mut out, &head)?;
    write(&mut out, &sample)?;
    let mut samples = 1;
    loop {
        let ending = stop.by(ticks.next(Instant::now()))?;
        sample = take(&mut units, &mut machine, &mut speed, soft.as_ref())?;
        write(&mut out, &sample)?;
        samples += 1;
        if ending {
            let missed = ticks.missed();
            return write(&mut out, &Line::Footer { samples, missed });
        }
    }
}

/// Count soft interrupts for a moment, as `sample` does; the error says what is lacking.
pub fn try_soft_interrupts() -> io::Result<()> {
    Soft::begin(&BTreeMap::new())?.read().map(drop)
}

fn read_plan(arguments: &Arguments) -> io::Result<WatchPlan> {
    let plan: WatchPlan = serde_json::from_str(&std::fs::read_to_string(&arguments.plan)?)?;
    if plan.version != SAMPLES_VERSION {
        let found = plan.version;
        let what = format!("the plan has version {found}, not {SAMPLES_VERSION}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    if !(plan.rate > 0.0 && plan.rate <= HIGHEST_RATE) {
        let rate = plan.rate;
        let what = format!("{rate} samples a second: it must be above 0, at most 20");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(plan)
}

/// What counts soft interrupts where the plan names networks; or why nothing can.
fn counting(plan: &WatchPlan) -> (Option<Soft>, Option<(String, String)>) {
    if plan.networks.is_empty() {
        return (None, None);
    }
    match Soft::begin(&plan.networks) {
        Ok(soft) => (Some(soft), None),
        Err(error) => (
            None,
            Some(("soft_interrupts".to_owned(), error.to_string())),
        ),
    }
}

fn take(
    units: &mut BTreeMap<&String, Unit>,
    machine: &mut Machine,
    speed: &mut Speed,
    soft: Option<&Soft>,
) -> io::Result<Line> {
    let time = unix_time();
    let mut found: BTreeMap<String, BTreeMap<String, f64>> = units
        .iter_mut()
        .map(|(name, unit)| ((*name).clone(), unit.read()))
        .filter(|(_, counters)| !counters.is_empty())
        .collect();
    if units.contains_key(&String::new()) {
        let whole = found.entry(String::new()).or_default();
        whole.extend(machine.read_network());
    }
    let mut counters = machine.read();
    speed.probe()?;
    counters.extend(speed.counters());
    Ok(Line::Sample {
        time,
        units: found,
        machine: counters,
        soft_interrupts: soft.map(Soft::read).transpose()?,
        own_cpu: own_cpu()?,
    })
}

fn header(
    plan: &WatchPlan,
    hierarchies: &Hierarchies,
    interval: Duration,
    units: &BTreeMap<&String, Unit>,
    mut absent: BTreeMap<String, String>,
    soft_method: Option<String>,
) -> Line {
    absent.extend(machine::absent());
    for (name, unit) in units {
        absent.extend(unit.absent(name));
    }
    let whole = plan.units.get("").map_or("", String::as_str);
    if !whole.trim_matches('/').is_empty() {
        let why = "hosts of a lab share the machine's counters: only machine-wide values are known";
        absent
            .extend(["softirq", "iowait", "steal"].map(|c| (format!("host.{c}"), why.to_owned())));
    }
    Line::Header {
        version: SAMPLES_VERSION,
        host: plan.host.clone(),
        interval: interval.as_secs_f64(),
        cgroups: hierarchies.version,
        absent,
        soft_method,
    }
}

fn own_cpu() -> io::Result<f64> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    Ok((used.user_time() + used.system_time()).num_microseconds() as f64 / 1e6)
}

fn write(out: &mut File, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    out.write_all(text.as_bytes())
}
