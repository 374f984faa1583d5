//! When and how often an attempt is repeated: exponential backoff with jitter under a total time limit.

use std::time::Duration;

use rand::Rng;

/// How often to repeat something that failed, and how long to wait in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub num_retries: u32,
    /// Shortest wait in milliseconds.
    pub min_wait_ms: u64,
    /// Longest wait in milliseconds.
    pub max_wait_ms: u64,
    /// No attempt is begun later than this many milliseconds after the first, but one retry is always allowed.
    pub total_timeout_ms: u64,
}

impl RetryPolicy {
    /// Whether another attempt may follow the `attempt`-th (from 1), `elapsed` after the first began.
    pub fn allows_another(&self, attempt: u32, elapsed: Duration) -> bool {
        let in_time = elapsed <= Duration::from_millis(self.total_timeout_ms) || attempt <= 1;
        attempt <= self.num_retries && in_time
    }

    /// How long to wait after the `attempt`-th attempt (from 1) failed.
    ///
    /// Uniform between the shortest wait and that wait doubled once per attempt, capped. Writers that collided spread
    /// out over the whole interval. (Java adds at most a tenth of jitter, which keeps colliding writers in step.)
    pub fn wait(&self, attempt: u32) -> Duration {
        let factor = 1u64.checked_shl(attempt.min(63)).unwrap_or(u64::MAX);
        let longest = self.min_wait_ms.saturating_mul(factor).min(self.max_wait_ms);
        let shortest = self.min_wait_ms.min(longest);
        Duration::from_millis(rand::rng().random_range(shortest..=longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        num_retries: 4,
        min_wait_ms: 100,
        max_wait_ms: 1_000,
        total_timeout_ms: 5_000,
    };

    #[test]
    fn four_retries_make_five_attempts() {
        assert!(POLICY.allows_another(4, Duration::ZERO));
        assert!(!POLICY.allows_another(5, Duration::ZERO));
    }

    #[test]
    fn one_retry_is_allowed_after_the_time_limit() {
        assert!(POLICY.allows_another(1, Duration::from_secs(6)));
        assert!(!POLICY.allows_another(2, Duration::from_secs(6)));
    }

    #[test]
    fn waits_stay_between_the_limits_and_grow() {
        for attempt in 1..200 {
            let wait = POLICY.wait(attempt).as_millis();
            assert!((100..=1_000).contains(&wait), "attempt {attempt} waits {wait} ms");
        }
        assert!((0..100).all(|_| POLICY.wait(1).as_millis() <= 200));
        assert!((0..200).any(|_| POLICY.wait(4).as_millis() > 400));
    }

    #[test]
    fn a_longest_wait_below_the_shortest_wins() {
        let policy = RetryPolicy {
            max_wait_ms: 5,
            ..POLICY
        };
        assert_eq!(policy.wait(3), Duration::from_millis(5));
    }
}
