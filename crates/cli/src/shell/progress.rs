//! A line on the terminal while a statement takes long.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tarn::Session;
use tarn::sql::session::Progress;

/// Statements faster than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line changes.
pub const INTERVAL: Duration = Duration::from_millis(200);

/// Shows how far the running statement has come.
#[derive(Debug, Clone)]
pub struct ProgressLine {
    session: Session,
    bar: ProgressBar,
    start: Instant,
}

impl ProgressLine {
    /// Nothing is drawn yet, and never when stderr is no terminal.
    pub fn new(session: &Session) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        ProgressLine {
            session: session.clone(),
            bar,
            start: Instant::now(),
        }
    }

    /// Draws what is known now.
    pub fn tick(&self) {
        let elapsed = self.start.elapsed();
        if elapsed < PATIENCE || self.bar.is_hidden() || self.bar.is_finished() {
            return;
        }
        self.bar.set_message(message(self.session.progress(), elapsed));
        self.bar.tick();
    }

    /// Takes the line away: results come.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn message(progress: Progress, elapsed: Duration) -> String {
    let mut parts = Vec::new();
    if progress.rows > 0 {
        let rows = count(progress.rows);
        parts.push(match progress.total_rows {
            Some(total) if total > 0 => {
                // Estimates may be too low.
                let percent = (progress.rows.min(total) as f64 / total as f64 * 100.0).floor();
                format!("{rows} of {} rows read ({percent} %)", count(total))
            }
            _ => format!("{rows} rows read"),
        });
    }
    if progress.bytes > 0 {
        parts.push(indicatif::HumanBytes(progress.bytes).to_string());
    }
    parts.push(format!("{:.0} s", elapsed.as_secs_f64()));
    parts.push("Ctrl-C cancels".to_string());
    parts.join(", ")
}

/// A number with three digits or so, and its magnitude.
fn count(n: u64) -> String {
    let magnitudes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let value = n as f64;
    match magnitudes.into_iter().find(|(at, _)| value >= *at) {
        Some((at, unit)) => format!("{:.1}{unit}", value / at),
        None => n.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_is_known() {
        let shown = |rows, total_rows, bytes| {
            let progress = Progress {
                rows,
                total_rows,
                bytes,
            };
            message(progress, Duration::from_millis(3_400))
        };
        assert_eq!(shown(0, None, 0), "3 s, Ctrl-C cancels");
        assert_eq!(
            shown(1_500_000, Some(6_000_000), 3 << 20),
            "1.5M of 6.0M rows read (25 %), 3.00 MiB, 3 s, Ctrl-C cancels"
        );
        assert_eq!(shown(999, None, 0), "999 rows read, 3 s, Ctrl-C cancels");
        assert_eq!(shown(7, Some(5), 0), "7 of 5 rows read (100 %), 3 s, Ctrl-C cancels");
    }
}
