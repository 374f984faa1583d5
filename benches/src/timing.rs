//! Fair pairs: two ways to the same result, run by turns in one process, wall and CPU time of each.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// One execution: wall time, and CPU time of all threads of the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Time that passed.
    pub wall: Duration,
    /// User and system time of the process.
    pub cpu: Duration,
}

/// A running measurement.
#[derive(Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: ProcessTime,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Stopwatch {
            wall: Instant::now(),
            cpu: ProcessTime::now(),
        }
    }

    /// What passed since the start.
    pub fn stop(&self) -> Cost {
        Cost {
            wall: self.wall.elapsed(),
            cpu: self.cpu.elapsed(),
        }
    }
}

/// The executions of one side of a pair. The first is kept apart: it finds caches empty.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// The first execution.
    pub first: Cost,
    /// The others.
    pub warm: Vec<Cost>,
}

impl Runs {
    /// Adds an execution.
    pub fn push(&mut self, round: usize, cost: Cost) {
        if round == 0 {
            self.first = cost;
        } else {
            self.warm.push(cost);
        }
    }

    /// Median wall time and median CPU time of the warm executions, in milliseconds; of the first one without others.
    pub fn median_ms(&self) -> (f64, f64) {
        let middle = |pick: fn(&Cost) -> Duration| {
            let mut times: Vec<Duration> = self.warm.iter().map(pick).collect();
            times.sort();
            let median = times.get(times.len() / 2).copied();
            median.unwrap_or(pick(&self.first)).as_secs_f64() * 1e3
        };
        (middle(|c| c.wall), middle(|c| c.cpu))
    }
}

/// The geometric mean.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    let sum: f64 = ratios.iter().map(|r| r.ln()).sum();
    (sum / ratios.len().max(1) as f64).exp()
}
