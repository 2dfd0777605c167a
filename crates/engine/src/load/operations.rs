//! `operations`: print what a plan would do, without a database.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use wire::load::{Level, LoadPlan, Phase, Workload};

use self::stress::Rows;
use self::ycsb::Records;
use super::work::{Operation, Operations};
use super::{plan, share};

mod stress;
mod ycsb;

/// Arguments of `operations`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The plan, JSON of the schema `engine-load.schema.json`.
    #[arg(long)]
    plan: PathBuf,
    /// How many operations of this part to print; all records of a load phase without it.
    #[arg(long)]
    count: Option<u64>,
    /// Print the values to write, too, in hexadecimal.
    #[arg(long)]
    values: bool,
}

/// What stands in a column that an operation does not have.
const NONE: &str = "-";

/// Print one line for each operation, with tabs between: its type, its key, the records of a scan,
/// what it reads (`*`: all fields without their names), the fields that it writes, the lengths of
/// their values, and the values if they are asked for. What is added to a counter has eight bytes.
/// The virtual clients of a closed loop come in turns, and each insert is taken for answered at
/// once.
pub fn operations(arguments: &Arguments) -> io::Result<()> {
    let plan = plan::read(&arguments.plan)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match print(&plan, arguments, &mut out).and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

fn print(plan: &LoadPlan, arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let count = match (arguments.count, plan.phase) {
        (Some(count), _) => count,
        (None, Phase::Load) => u64::MAX,
        (None, Phase::Run) => {
            let what = "a run phase has no end of its own; say how many operations: --count N";
            return Err(io::Error::other(what));
        }
    };
    let mut operations = Operations::new(plan).map_err(io::Error::other)?;
    let mut lines = Lines::of(plan).map_err(io::Error::other)?;
    let clients = match plan.level {
        Level::Threads { threads } => share::count(u64::from(threads), plan.part),
        _ => 1,
    };
    let mut drawing: Vec<_> = (0..clients)
        .map(|client| operations.client(client))
        .collect();
    for number in 0..count {
        let client = (number % clients) as usize;
        let Some(operation) = operations.draw(&mut drawing[client]) else {
            break;
        };
        operations.over(&operation);
        let line = lines.line(&operation).map_err(io::Error::other)?;
        writeln!(out, "{}", line.text(arguments.values))?;
    }
    Ok(())
}

/// Lines of the operations of a workload.
enum Lines {
    Ycsb(Records),
    Stress(Box<Rows>),
}

impl Lines {
    /// The error is one sentence.
    fn of(plan: &LoadPlan) -> Result<Self, String> {
        Ok(match &plan.workload {
            Workload::Ycsb(workload) => Self::Ycsb(Records::new(workload)),
            Workload::Stress(workload) => Self::Stress(Box::new(Rows::of(workload, plan.part)?)),
        })
    }

    /// The error is one sentence, of an operation of another workload.
    fn line(&mut self, operation: &Operation) -> Result<Line, String> {
        let kind = operation.kind().name();
        match (self, operation) {
            (Self::Ycsb(records), Operation::Ycsb(operation)) => Ok(records.line(kind, operation)),
            (Self::Stress(rows), Operation::Stress(operation)) => Ok(rows.line(kind, operation)),
            _ => Err(format!(
                "the operation `{kind}` is not of the workload of this plan"
            )),
        }
    }
}

/// What is printed of one operation.
struct Line {
    kind: &'static str,
    key: String,
    /// Records that a scan returns at most.
    length: Option<u32>,
    /// What it reads.
    reads: Option<String>,
    /// Names of what it writes.
    writes: Vec<String>,
    /// What it writes there.
    values: Vec<Vec<u8>>,
}

impl Line {
    fn text(&self, with_values: bool) -> String {
        let length = self.length.map(|length| length.to_string());
        let or_none = |column: Option<String>| column.unwrap_or_else(|| NONE.to_owned());
        let mut columns = vec![
            self.kind.to_owned(),
            self.key.clone(),
            or_none(length),
            or_none(self.reads.clone()),
            listed(self.writes.iter().cloned()),
            listed(self.values.iter().map(|value| value.len().to_string())),
        ];
        if with_values {
            columns.push(listed(self.values.iter().map(|value| hexadecimal(value))));
        }
        columns.join("\t")
    }
}

/// Items with commas between them.
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        NONE.to_owned()
    } else {
        items.join(",")
    }
}

fn hexadecimal(value: &[u8]) -> String {
    value.iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a string takes everything");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::{plan, stress, ycsb};
    use wire::load::{FieldLengths, Population, ReadFields};

    fn printed(plan: &LoadPlan, count: Option<u64>, values: bool) -> io::Result<Vec<String>> {
        let arguments = Arguments {
            plan: PathBuf::new(),
            count,
            values,
        };
        let mut out = Vec::new();
        print(plan, &arguments, &mut out)?;
        let text = String::from_utf8(out).unwrap();
        Ok(text.lines().map(str::to_owned).collect())
    }

    #[test]
    fn a_load_phase_is_printed_to_its_end() {
        let mut plan = plan();
        plan.phase = Phase::Load;
        let workload = ycsb(&mut plan);
        (workload.records, workload.fields) = (3, 2);
        workload.field_lengths = FieldLengths::Constant { length: 5 };
        workload.integrity = true;
        let lines = printed(&plan, None, true).unwrap();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines[0],
            "insert\tuser6284781860667377211\t-\t-\tfield0,field1\t5,5\t7573657236,7573657236"
        );
    }

    #[test]
    fn a_run_phase_is_printed_as_far_as_it_is_asked_for() {
        let mut plan = plan();
        let refused = printed(&plan, None, false).unwrap_err().to_string();
        assert!(refused.contains("--count N"), "{refused}");
        plan.level = Level::Threads { threads: 3 };
        let mix = &mut ycsb(&mut plan).mix;
        (mix.update, mix.insert, mix.scan, mix.read_modify_write) = (1.0, 1.0, 1.0, 1.0);
        ycsb(&mut plan).read_fields = ReadFields::One;
        let lines = printed(&plan, Some(200), false).unwrap();
        assert_eq!(lines.len(), 200);
        let columns = |kind: &str| -> Vec<&str> {
            let found = lines
                .iter()
                .find(|line| line.split('\t').next() == Some(kind));
            found.unwrap().split('\t').skip(2).collect()
        };
        let one = |name: &str| {
            name.strip_prefix("field")
                .is_some_and(|rest| rest.len() == 1)
        };
        let read = columns("read");
        assert!(one(read[1]));
        assert_eq!((read[0], &read[2..]), ("-", &["-", "-"][..]));
        let update = columns("update");
        assert!(one(update[2]));
        assert_eq!((update[1], update[3]), ("-", "100"));
        assert_eq!(columns("insert")[2].split(',').count(), 10);
        let scan = columns("scan");
        assert!((1..=100).contains(&scan[0].parse::<u32>().unwrap()));
        assert_eq!(scan[2], "-");
        let both = columns("read-modify-write");
        assert!(one(both[1]) && one(both[2]));
    }

    #[test]
    fn operations_of_cassandra_stress_are_printed_with_its_keys_and_columns() {
        let mut plan = plan();
        plan.workload = stress();
        if let Workload::Stress(workload) = &mut plan.workload {
            workload.population = Population::Sequence {
                first: 1,
                last: 100,
                wrap: true,
                lookback: None,
            };
        }
        let lines = printed(&plan, Some(2), true).unwrap();
        let columns = |line: &str| -> Vec<String> { line.split('\t').map(str::to_owned).collect() };
        let first = columns(&lines[0]);
        assert_eq!(first[..4], ["write", "0P37709P21", "-", "-"]);
        let names = first[4].split(',').count();
        assert_eq!(first[5].split(',').count(), names);
        for (length, value) in first[5].split(',').zip(first[6].split(',')) {
            assert_eq!(length.parse(), Ok(value.len() / 2));
        }
        assert_ne!(columns(&lines[1])[1], first[1]);

        if let Workload::Stress(workload) = &mut plan.workload {
            (workload.mix.write, workload.mix.read) = (0.0, 1.0);
            workload.mix.counter_read = 1.0;
            workload.mix.counter_write = 1.0;
            workload.add = "fixed(5)".to_owned();
            workload.columns = vec!["C0".to_owned(), "C1".to_owned()];
        }
        let lines = printed(&plan, Some(100), true).unwrap();
        let rest = |kind: &str| {
            let lines: Vec<_> = lines.iter().map(|line| columns(line)).collect();
            let found = lines.into_iter().find(|columns| columns[0] == kind);
            found.unwrap()[2..].join(" ")
        };
        assert_eq!(rest("read"), "- C0,C1 - - -");
        assert_eq!(rest("counter_read"), "- * - - -");
        let (five, lengths) = ("0000000000000005", "8,8");
        assert_eq!(
            rest("counter_write"),
            format!("- - C0,C1 {lengths} {five},{five}")
        );
    }

    #[test]
    fn an_operation_of_another_workload_is_an_error_and_no_end() {
        let mut other = plan();
        other.workload = stress();
        let mut operations = Operations::new(&other).unwrap();
        let mut client = operations.client(0);
        let operation = operations.draw(&mut client).unwrap();
        let refused = Lines::of(&plan()).unwrap().line(&operation);
        let said = refused.err().unwrap_or_default();
        assert!(said.contains("is not of the workload"), "{said}");
    }

    #[test]
    fn a_client_is_printed_the_same_whatever_others_there_are() {
        let printed = |threads| {
            let mut plan = plan();
            plan.level = Level::Threads { threads };
            printed(&plan, Some(20 * u64::from(threads)), false).unwrap()
        };
        let second = |lines: &[String], of| -> Vec<String> {
            lines.iter().skip(1).step_by(of).take(20).cloned().collect()
        };
        let (two, five) = (printed(2), printed(5));
        assert_eq!(second(&two, 2), second(&five, 5));
        assert_ne!(two[..20], five[..20]);
    }
}
