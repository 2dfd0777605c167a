//! What the kernel does for us at the start and the end of a soft interrupt, and at each packet.
//!
//! A soft interrupt is never interrupted by another on its processor, so each processor keeps since
//! when its time belongs to whom. The time is added to a sum when it begins to belong to another: a
//! packet for the same network as the one before costs a comparison.
//!
//! The kernel lets programs read its structures only under its own licence: what is put together
//! here may be used under the MIT licence or the GNU General Public License, version 2, too.

use std::os::fd::BorrowedFd;

use crate::bpf::assembly::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
use crate::bpf::assembly::{Assembly, Helper, Label, Size};

/// To whom time belongs that is no network's; numbers of network namespaces are far higher.
pub const NOBODY: u32 = 0;
/// Soft interrupts that are not the network's: timers, disks, the scheduler.
pub const OTHER_KINDS: u32 = 1;
/// Soft interrupts of the network while no packet has arrived.
pub const NO_PACKET: u32 = 2;

/// All networks for which the map of sums had no room left.
pub const FURTHER: u32 = 3;

/// Numbers of soft interrupts of the network, `linux/interrupt.h`.
const TRANSMIT: i32 = 2;
const RECEIVE: i32 = 3;

/// What a processor keeps: since when (nanoseconds) its time belongs to whom.
pub const KEPT: u32 = 16;
const SINCE: i16 = 0;
const OWNER: i16 = 8;

/// Where on its stack a program lays a key, and a value.
const KEY: i16 = -4;
const VALUE: i16 = -16;

/// Where programs keep things and add them up.
#[derive(Clone, Copy)]
pub struct Maps<'a> {
    /// [`KEPT`] bytes for each processor.
    pub kept: BorrowedFd<'a>,
    /// Owner → nanoseconds. [`FURTHER`] has a sum from the start.
    pub sums: BorrowedFd<'a>,
}

/// The way from a packet to the number of its network: bytes from the start of each structure.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// From a packet to the device by which it arrived.
    pub device: i16,
    /// From a device to the network namespace that it is in.
    pub network: i16,
    /// From there to the namespace's number, as `/proc/PID/ns/net` has it.
    pub number: i16,
}

/// Called with the number of a soft interrupt that begins.
pub fn begin(maps: Maps) -> Vec<u8> {
    let mut a = Assembly::default();
    let (end, known) = (a.label(), a.label());
    a.load(R6, Size::Eight, R1, 0);
    a.call(Helper::Time);
    a.copy(R7, R0);
    kept(&mut a, maps, end);
    a.store(R8, SINCE, Size::Eight, R7);
    a.set(R1, NO_PACKET.cast_signed());
    a.jump_if_equal(R6, TRANSMIT, known);
    a.jump_if_equal(R6, RECEIVE, known);
    a.set(R1, OTHER_KINDS.cast_signed());
    a.place(known);
    a.store(R8, OWNER, Size::Eight, R1);
    a.place(end);
    a.exit();
    a.code()
}

/// Called with a packet that arrives. What was before the first packet is that packet's.
pub fn packet(maps: Maps, way: Way) -> Vec<u8> {
    let mut a = Assembly::default();
    let (end, first) = (a.label(), a.label());
    a.copy(R6, R1);
    kept(&mut a, maps, end);
    a.load(R7, Size::Eight, R8, OWNER);
    a.jump_if_less(R7, NO_PACKET.cast_signed(), end);
    a.load(R1, Size::Eight, R6, 0);
    for step in [way.device, way.network] {
        a.load(R1, Size::Eight, R1, step);
        a.jump_if_equal(R1, 0, end);
    }
    a.load(R9, Size::Four, R1, way.number);
    a.jump_if_same(R9, R7, end);
    a.jump_if_equal(R7, NO_PACKET.cast_signed(), first);
    charge(&mut a, maps);
    a.place(first);
    a.store(R8, OWNER, Size::Eight, R9);
    a.place(end);
    a.exit();
    a.code()
}

/// Called when a soft interrupt ends.
pub fn end(maps: Maps) -> Vec<u8> {
    let mut a = Assembly::default();
    let end = a.label();
    kept(&mut a, maps, end);
    a.load(R7, Size::Eight, R8, OWNER);
    a.jump_if_equal(R7, NOBODY.cast_signed(), end);
    charge(&mut a, maps);
    a.store_value(R8, OWNER, Size::Eight, NOBODY.cast_signed());
    a.place(end);
    a.exit();
    a.code()
}

/// Put the address of what this processor keeps into R8.
fn kept(a: &mut Assembly, maps: Maps, end: Label) {
    a.store_value(R10, KEY, Size::Four, 0);
    look_up(a, maps.kept);
    a.jump_if_equal(R0, 0, end);
    a.copy(R8, R0);
}

/// Put the address of what a map has for the key on the stack into R0.
fn look_up(a: &mut Assembly, map: BorrowedFd) {
    a.set_map(R1, map);
    a.copy(R2, R10);
    a.add_value(R2, KEY.into());
    a.call(Helper::Lookup);
}

/// Add the time until now to the sum of its owner, who is in R7; R8 has what this processor keeps.
/// Where there is no room for a further sum, the time is [`FURTHER`]'s, whose sum is there.
/// The clock is read last: what comes after it at the end of a soft interrupt counts for nobody.
fn charge(a: &mut Assembly, maps: Maps) {
    let (new, done) = (a.label(), a.label());
    a.store(R10, KEY, Size::Four, R7);
    look_up(a, maps.sums);
    a.copy(R6, R0);
    a.call(Helper::Time);
    a.load(R1, Size::Eight, R8, SINCE);
    a.store(R8, SINCE, Size::Eight, R0);
    a.subtract(R0, R1);
    a.jump_if_equal(R6, 0, new);
    a.load(R1, Size::Eight, R6, 0);
    a.add(R1, R0);
    a.store(R6, 0, Size::Eight, R1);
    a.jump(done);
    a.place(new);
    a.store(R10, VALUE, Size::Eight, R0);
    a.set_map(R1, maps.sums);
    a.copy(R2, R10);
    a.add_value(R2, KEY.into());
    a.copy(R3, R10);
    a.add_value(R3, VALUE.into());
    a.set(R4, 0);
    a.call(Helper::Update);
    a.jump_if_equal(R0, 0, done);
    a.store_value(R10, KEY, Size::Four, FURTHER.cast_signed());
    look_up(a, maps.sums);
    a.jump_if_equal(R0, 0, done);
    a.load(R1, Size::Eight, R0, 0);
    a.load(R2, Size::Eight, R10, VALUE);
    a.add(R1, R2);
    a.store(R0, 0, Size::Eight, R1);
    a.place(done);
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests;
