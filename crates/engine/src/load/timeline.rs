//! The time line of a load: how much was over when, in a bounded number of windows.

use wire::load::Window;

/// Most windows of a time line, 2 MB: more than three hours of windows of 0.2 s.
const MOST: usize = 1 << 16;

/// Windows in the order of time. When there would be too many, each two neighbours become one; where
/// they meet depends on nothing but the plan, so that the time lines of parts fit together. No
/// window holds both warm-up and measured time.
pub struct Timeline {
    begin: u64,
    /// How long windows may be.
    grid: u64,
    most: usize,
    stretches: Vec<Stretch>,
}

/// One window; times in nanoseconds since the load began.
struct Stretch {
    start: u64,
    length: u64,
    operations: u64,
    errors: u64,
}

impl Timeline {
    /// The measured window begins at `begin`, and windows are `interval` long until there are too
    /// many; both in nanoseconds.
    pub fn new(begin: u64, interval: u64) -> Self {
        Self::bounded(begin, interval, MOST)
    }

    /// `most` is at least 2: one window for the warm-up, and one for what is measured.
    fn bounded(begin: u64, interval: u64, most: usize) -> Self {
        Self {
            begin,
            grid: interval,
            most,
            stretches: Vec::new(),
        }
    }

    /// What was over in the `length` from `start` on; calls come in the order of time.
    pub fn add(&mut self, start: u64, length: u64, operations: u64, errors: u64) {
        self.stretches.push(Stretch {
            start,
            length,
            operations,
            errors,
        });
        if let [.., before, last] = &self.stretches[..]
            && self.cell(before) == self.cell(last)
        {
            self.fold();
        }
        while self.stretches.len() > self.most {
            self.grid *= 2;
            self.fold();
        }
    }

    /// Nothing lies beyond `end`: no operation was over there.
    pub fn cut(&mut self, end: u64) {
        self.stretches.retain(|stretch| stretch.start < end);
        if let Some(last) = self.stretches.last_mut() {
            last.length = last.length.min(end - last.start);
        }
    }

    /// All of them, as the result has them.
    pub fn windows(&self) -> Vec<Window> {
        let seconds = |stretch: &Stretch| (stretch.start as f64 - self.begin as f64) / 1e9;
        self.stretches
            .iter()
            .map(|stretch| Window {
                start: seconds(stretch),
                length: stretch.length as f64 / 1e9,
                operations: stretch.operations,
                errors: stretch.errors,
            })
            .collect()
    }

    /// Which cell of the grid a window lies in, counted from the measured window's beginning.
    fn cell(&self, stretch: &Stretch) -> (bool, u64) {
        match stretch.start.checked_sub(self.begin) {
            Some(since) => (true, since / self.grid),
            None => (false, (self.begin - stretch.start - 1) / self.grid),
        }
    }

    /// Put those of one cell together.
    fn fold(&mut self) {
        let mut folded: Vec<Stretch> = Vec::with_capacity(self.stretches.len());
        for stretch in std::mem::take(&mut self.stretches) {
            match folded.last_mut() {
                Some(last) if self.cell(last) == self.cell(&stretch) => {
                    last.length += stretch.length;
                    last.operations += stretch.operations;
                    last.errors += stretch.errors;
                }
                _ => folded.push(stretch),
            }
        }
        self.stretches = folded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_become_one_when_there_would_be_too_many() {
        let mut line = Timeline::bounded(25, 10, 4);
        // The warm-up's first interval is shorter, so that the others meet the beginning.
        line.add(0, 5, 1, 0);
        line.add(5, 10, 2, 0);
        line.add(15, 10, 4, 0);
        line.add(25, 10, 8, 1);
        assert_eq!(line.windows().len(), 4);
        line.add(35, 10, 16, 1);
        let told: Vec<_> = line
            .windows()
            .iter()
            .map(|window| (window.start * 1e9, window.length * 1e9, window.operations))
            .map(|(start, length, operations)| (start.round(), length.round(), operations))
            .collect();
        assert_eq!(told, [(-25.0, 5.0, 1), (-20.0, 20.0, 6), (0.0, 20.0, 24)]);
        line.add(45, 10, 32, 0);
        line.add(55, 10, 64, 0);
        assert_eq!(line.windows().len(), 4);
        assert_eq!(line.windows()[3].operations, 96);
    }

    proptest! {
        #[test]
        fn a_time_line_loses_nothing_and_never_joins_warm_up_and_window(
            warm in 0_u64..200, measured in 1_u64..200, most in 2_usize..20,
        ) {
            let mut line = Timeline::bounded(warm * 10, 10, most);
            for number in 0..warm + measured {
                line.add(number * 10, 10, number, 1);
                prop_assert!(line.stretches.len() <= most);
            }
            let mut next = 0;
            for stretch in &line.stretches {
                prop_assert_eq!(stretch.start, next);
                next += stretch.length;
                prop_assert!(stretch.start >= warm * 10 || next <= warm * 10);
                let numbers = stretch.start / 10..next / 10;
                prop_assert_eq!(stretch.errors, numbers.end - numbers.start);
                prop_assert_eq!(stretch.operations, numbers.sum::<u64>());
            }
            prop_assert_eq!(next, (warm + measured) * 10);
        }
    }
}
