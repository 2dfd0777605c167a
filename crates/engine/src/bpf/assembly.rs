//! Instructions of BPF (RFC 9669), put together with labels for jumps.

use std::os::fd::{AsRawFd, BorrowedFd};

/// 0 is what a call returns, 1 to 5 are what it is given and lost by it, 6 to 9 outlive it, and 10
/// is the end of the stack. At the start, 1 is what the program is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R6 = 6,
    R7,
    R8,
    R9,
    R10,
}

/// How many bytes are read or written at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Four.
    Four = 0x00,
    /// Eight.
    Eight = 0x18,
}

/// What the kernel does for a program that calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helper {
    /// The value in a map (1) of a key (2), or 0 where there is none.
    Lookup = 1,
    /// Give a key (2) in a map (1) a value (3); 4 is 0.
    Update = 2,
    /// Nanoseconds by the clock that nobody sets.
    Time = 5,
}

/// A place of a program to which jumps may lead.
#[derive(Debug, Clone, Copy)]
pub struct Label(usize);

const LOAD: u8 = 0x61;
const STORE_VALUE: u8 = 0x62;
const STORE: u8 = 0x63;
const ADD_VALUE: u8 = 0x07;
const ADD: u8 = 0x0f;
const SUBTRACT: u8 = 0x1f;
const SET: u8 = 0xb7;
const COPY: u8 = 0xbf;
const SET_WIDE: u8 = 0x18;
/// What [`SET_WIDE`] sets is the map with this descriptor.
const A_MAP: u8 = 1;
const JUMP: u8 = 0x05;
const JUMP_EQUAL: u8 = 0x15;
const JUMP_SAME: u8 = 0x1d;
const JUMP_LESS: u8 = 0xa5;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

#[derive(Debug, Clone, Copy, Default)]
struct Instruction {
    code: u8,
    to: u8,
    from: u8,
    offset: i16,
    value: i32,
}

impl Instruction {
    fn bytes(self) -> [u8; 8] {
        let registers = if cfg!(target_endian = "big") {
            self.to << 4 | self.from
        } else {
            self.from << 4 | self.to
        };
        let (offset, value) = (self.offset.to_ne_bytes(), self.value.to_ne_bytes());
        [
            self.code, registers, offset[0], offset[1], value[0], value[1], value[2], value[3],
        ]
    }
}

/// A program in the making.
#[derive(Debug, Default)]
pub struct Assembly {
    instructions: Vec<Instruction>,
    /// Label → number of the instruction that it stands before.
    places: Vec<Option<usize>>,
    /// Number of a jump → where it leads.
    jumps: Vec<(usize, Label)>,
}

impl Assembly {
    /// A label, to be placed once.
    pub fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// The label stands before the next instruction.
    pub fn place(&mut self, label: Label) {
        self.places[label.0] = Some(self.instructions.len());
    }

    /// Set a register.
    pub fn set(&mut self, to: Register, value: i32) {
        self.push(SET, to as u8, 0, 0, value);
    }

    /// Copy a register.
    pub fn copy(&mut self, to: Register, from: Register) {
        self.push(COPY, to as u8, from as u8, 0, 0);
    }

    /// Set a register to a map, which a call is then given.
    pub fn set_map(&mut self, to: Register, map: BorrowedFd) {
        self.push(SET_WIDE, to as u8, A_MAP, 0, map.as_raw_fd());
        self.push(0, 0, 0, 0, 0);
    }

    /// Add a number to a register.
    pub fn add_value(&mut self, to: Register, value: i32) {
        self.push(ADD_VALUE, to as u8, 0, 0, value);
    }

    /// Add a register to another.
    pub fn add(&mut self, to: Register, from: Register) {
        self.push(ADD, to as u8, from as u8, 0, 0);
    }

    /// Subtract a register from another.
    pub fn subtract(&mut self, to: Register, from: Register) {
        self.push(SUBTRACT, to as u8, from as u8, 0, 0);
    }

    /// Read what lies `offset` bytes behind the address in `from`.
    pub fn load(&mut self, to: Register, size: Size, from: Register, offset: i16) {
        self.push(LOAD | size as u8, to as u8, from as u8, offset, 0);
    }

    /// Write a register to `offset` bytes behind the address in `to`.
    pub fn store(&mut self, to: Register, offset: i16, size: Size, from: Register) {
        self.push(STORE | size as u8, to as u8, from as u8, offset, 0);
    }

    /// Write a number to `offset` bytes behind the address in `to`.
    pub fn store_value(&mut self, to: Register, offset: i16, size: Size, value: i32) {
        self.push(STORE_VALUE | size as u8, to as u8, 0, offset, value);
    }

    /// Call the kernel.
    pub fn call(&mut self, helper: Helper) {
        self.push(CALL, 0, 0, 0, helper as i32);
    }

    /// Go on elsewhere.
    pub fn jump(&mut self, label: Label) {
        self.push_jump(JUMP, 0, 0, 0, label);
    }

    /// Go on elsewhere if a register holds a number.
    pub fn jump_if_equal(&mut self, register: Register, value: i32, label: Label) {
        self.push_jump(JUMP_EQUAL, register as u8, 0, value, label);
    }

    /// Go on elsewhere if a register holds less than a number, neither being below zero.
    pub fn jump_if_less(&mut self, register: Register, value: i32, label: Label) {
        self.push_jump(JUMP_LESS, register as u8, 0, value, label);
    }

    /// Go on elsewhere if two registers hold the same.
    pub fn jump_if_same(&mut self, one: Register, other: Register, label: Label) {
        self.push_jump(JUMP_SAME, one as u8, other as u8, 0, label);
    }

    /// End the program.
    pub fn exit(&mut self) {
        self.set(Register::R0, 0);
        self.push(EXIT, 0, 0, 0, 0);
    }

    /// The program as the kernel takes it, eight bytes an instruction.
    pub fn code(mut self) -> Vec<u8> {
        for (number, label) in self.jumps {
            let place = self.places[label.0].expect("every label is placed");
            self.instructions[number].offset = small(place) - small(number) - 1;
        }
        self.instructions
            .into_iter()
            .flat_map(Instruction::bytes)
            .collect()
    }

    fn push(&mut self, code: u8, to: u8, from: u8, offset: i16, value: i32) {
        self.instructions.push(Instruction {
            code,
            to,
            from,
            offset,
            value,
        });
    }

    fn push_jump(&mut self, code: u8, to: u8, from: u8, value: i32, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(code, to, from, 0, value);
    }
}

fn small(number: usize) -> i16 {
    i16::try_from(number).expect("a program has a few dozen instructions")
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::Register::{R0, R1, R6, R8, R10};
    use super::*;

    #[test]
    fn an_instruction_is_laid_out_as_the_kernel_wants_it() {
        let mut assembly = Assembly::default();
        assembly.load(R6, Size::Eight, R1, 16);
        assembly.store(R8, -4, Size::Four, R6);
        assembly.store_value(R10, -8, Size::Eight, 7);
        assembly.call(Helper::Time);
        assert_eq!(
            assembly.code(),
            [
                [0x79, 0x16, 16, 0, 0, 0, 0, 0],
                [0x63, 0x68, 0xfc, 0xff, 0, 0, 0, 0],
                [0x7a, 0x0a, 0xf8, 0xff, 7, 0, 0, 0],
                [0x85, 0x00, 0, 0, 5, 0, 0, 0],
            ]
            .concat()
        );
    }

    #[test]
    fn jumps_lead_forward_and_back_over_as_many_instructions_as_lie_between() {
        let mut assembly = Assembly::default();
        let (start, end) = (assembly.label(), assembly.label());
        assembly.place(start);
        assembly.jump_if_equal(R0, 3, end);
        assembly.set(R0, 1);
        assembly.jump(start);
        assembly.place(end);
        assembly.exit();
        let code = assembly.code();
        assert_eq!(&code[..8], [0x15, 0, 2, 0, 3, 0, 0, 0]);
        assert_eq!(&code[16..24], [0x05, 0, 0xfd, 0xff, 0, 0, 0, 0]);
        assert_eq!(&code[32..], [0x95, 0, 0, 0, 0, 0, 0, 0]);
    }
}
