//! The programs, carried out by an interpreter of others.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use rbpf::EbpfVmRaw;

use super::*;

const CLIENT: u32 = 0xf000_0001;
const SERVER: u32 = 0xf000_0002;
const WAY: Way = Way {
    device: 16,
    network: 8,
    number: 24,
};
/// What the kernel answers where a map has no room.
const E2BIG: u64 = (-7_i64).cast_unsigned();

/// What the functions of the kernel work on, which are given numbers only.
struct Kernel {
    now: u64,
    /// What stands for the map of what a processor keeps.
    kept_map: u64,
    kept: Box<[Cell<u64>; 2]>,
    sums: BTreeMap<u32, Box<Cell<u64>>>,
    /// How many owners the map of sums has room for.
    room: usize,
}

thread_local! {
    static KERNEL: RefCell<Kernel> = RefCell::new(Kernel::new(0));
}

impl Kernel {
    fn new(kept_map: u64) -> Self {
        Self {
            now: 0,
            kept_map,
            kept: Box::default(),
            sums: BTreeMap::new(),
            room: usize::MAX,
        }
    }

    /// Where programs may read and write beside their stack.
    fn reachable(&self) -> Vec<(u64, u64)> {
        let kept = (address(&*self.kept), KEPT.into());
        let sums = self.sums.values().map(|sum| (address(&**sum), 8));
        sums.chain([kept]).collect()
    }
}

fn address<T>(of: &T) -> u64 {
    ptr::from_ref(of) as u64
}

fn time(_: u64, _: u64, _: u64, _: u64, _: u64) -> u64 {
    KERNEL.with_borrow(|kernel| kernel.now)
}

fn lookup(map: u64, key: u64, _: u64, _: u64, _: u64) -> u64 {
    // SAFETY: programs lay keys on their stack.
    let key = unsafe { ptr::read_unaligned(key as *const u32) };
    KERNEL.with_borrow(|kernel| {
        if map == kernel.kept_map {
            assert_eq!(key, 0);
            return address(&*kernel.kept);
        }
        kernel.sums.get(&key).map_or(0, |sum| address(&**sum))
    })
}

fn update(map: u64, key: u64, value: u64, flags: u64, _: u64) -> u64 {
    // SAFETY: programs lay keys and values on their stack.
    let (key, value) = unsafe {
        (
            ptr::read_unaligned(key as *const u32),
            ptr::read_unaligned(value as *const u64),
        )
    };
    KERNEL.with_borrow_mut(|kernel| {
        assert_eq!((map == kernel.kept_map, flags), (false, 0));
        if kernel.sums.len() >= kernel.room {
            return E2BIG;
        }
        kernel.sums.insert(key, Box::new(Cell::new(value)));
        0
    })
}

/// A processor: its programs, carried out by an interpreter that others wrote, and packets.
struct Processor {
    programs: [Vec<u8>; 3],
    /// Network → a packet, its device and its namespace, one after the other.
    packets: BTreeMap<u32, Box<[u64; 12]>>,
}

impl Processor {
    fn new() -> Self {
        let (one, other) = (tempfile(), tempfile());
        let maps = Maps {
            kept: one.as_fd(),
            sums: other.as_fd(),
        };
        KERNEL.set(Kernel::new(u64::from(
            maps.kept.as_raw_fd().cast_unsigned(),
        )));
        Self {
            programs: [begin(maps), packet(maps, WAY), end(maps)],
            packets: [CLIENT, SERVER]
                .map(|network| {
                    let mut packet = Box::new([0; 12]);
                    lead(&mut packet, network);
                    (network, packet)
                })
                .into(),
        }
    }

    fn begin(&self, kind: u64, now: u64) {
        self.run(0, kind, now);
    }

    fn packet(&self, network: u32, now: u64) {
        self.run(1, address(&*self.packets[&network]), now);
    }

    fn end(&self, now: u64) {
        self.run(2, 0, now);
    }

    fn run(&self, program: usize, given: u64, now: u64) {
        let mut called_with = given.to_ne_bytes();
        let mut machine = EbpfVmRaw::new(Some(&self.programs[program])).unwrap();
        let known: [(Helper, rbpf::Helper); 3] = [
            (Helper::Time, time),
            (Helper::Lookup, lookup),
            (Helper::Update, update),
        ];
        for (helper, function) in known {
            machine.register_helper(helper as u32, function).unwrap();
        }
        let packets = self.packets.values().map(|packet| (address(&**packet), 96));
        let reachable = KERNEL.with_borrow_mut(|kernel| {
            kernel.now = now;
            kernel.reachable()
        });
        for (at, bytes) in reachable.into_iter().chain(packets) {
            machine.register_allowed_memory(at..at + bytes);
        }
        assert_eq!(machine.execute_program(&mut called_with).unwrap(), 0);
    }
}

/// Have a packet lead to the number of a network, as [`WAY`] goes from where it lies.
fn lead(packet: &mut [u64; 12], network: u32) {
    let at = address(packet);
    packet[2] = at + 32;
    packet[5] = at + 64;
    packet[11] = network.into();
}

fn charged() -> BTreeMap<u32, u64> {
    KERNEL.with_borrow(|kernel| {
        let sums = kernel.sums.iter();
        sums.map(|(owner, sum)| (*owner, sum.get())).collect()
    })
}

/// A descriptor that nothing is done with but to tell it from others.
fn tempfile() -> std::fs::File {
    std::fs::File::open("/proc/self/stat").unwrap()
}

#[test]
fn time_belongs_to_the_network_of_the_packet_before_and_at_first_of_the_first() {
    let processor = Processor::new();
    processor.begin(3, 100);
    processor.packet(CLIENT, 110);
    processor.packet(CLIENT, 150);
    processor.packet(SERVER, 170);
    processor.packet(CLIENT, 200);
    processor.end(205);
    let found = charged();
    assert_eq!(found, BTreeMap::from([(CLIENT, 75), (SERVER, 30)]));
}

#[test]
fn one_soft_interrupt_after_the_other_is_added_up_without_the_time_between_them() {
    let processor = Processor::new();
    for start in [1000, 5000] {
        processor.begin(3, start);
        processor.packet(SERVER, start + 1);
        processor.end(start + 10);
    }
    assert_eq!(charged(), BTreeMap::from([(SERVER, 20)]));
}

#[test]
fn without_a_packet_time_is_of_no_network_and_other_kinds_are_apart() {
    let processor = Processor::new();
    processor.begin(2, 10);
    processor.end(14);
    processor.begin(1, 20);
    processor.packet(CLIENT, 22);
    processor.end(27);
    let found = charged();
    assert_eq!(found, BTreeMap::from([(NO_PACKET, 4), (OTHER_KINDS, 7)]));
}

#[test]
fn without_room_for_a_further_network_its_time_is_kept_with_that_of_all_others() {
    let processor = Processor::new();
    KERNEL.with_borrow_mut(|kernel| {
        kernel.sums.insert(FURTHER, Box::default());
        kernel.room = 2;
    });
    for start in [100, 200] {
        processor.begin(3, start);
        processor.packet(CLIENT, start + 1);
        processor.packet(SERVER, start + 10);
        processor.end(start + 13);
    }
    let found = charged();
    assert_eq!(found, BTreeMap::from([(CLIENT, 20), (FURTHER, 6)]));
}

#[test]
fn what_arrives_outside_of_soft_interrupts_is_left_alone() {
    let processor = Processor::new();
    processor.packet(CLIENT, 5);
    processor.end(9);
    processor.begin(3, 10);
    processor.end(12);
    processor.packet(SERVER, 20);
    assert_eq!(charged(), BTreeMap::from([(NO_PACKET, 2)]));
}
