//! Running one statement and writing its result.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures::StreamExt;
use tarn::Output;
use tarn::datafusion::arrow::array::timezone::Tz;
use tarn::datafusion::execution::SendableRecordBatchStream;
use tarn::sql::ast::Statement;
use tarn::sql::config::redacted;
use tarn::sql::error::from_engine;
use tarn::sql::script::Position;

use super::failure::Failure;
use super::progress::{self, ProgressLine};
use super::{Interaction, Shell};
use crate::print::{Fit, Paint, Style, Values, printer};

/// How long rows that are not shown are counted.
const COUNTING_TIME: Duration = Duration::from_millis(500);

/// Rows of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Rows {
    shown: u64,
    /// Those that were seen and not shown.
    further: u64,
    /// Whether there are more than were seen.
    are_there_more: bool,
}

impl Shell {
    /// Runs a statement; Ctrl-C cancels it.
    pub(super) async fn statement(&mut self, sql: &str, position: Position) -> Result<(), Failure> {
        if self.interaction == Interaction::Terminal {
            self.interrupts.forget();
        }
        let interrupts = self.interrupts.clone();
        let progress = ProgressLine::new(&self.session);
        let mut ticks = tokio::time::interval(progress::INTERVAL);
        let ran = {
            let mut running = pin!(self.run_statement(sql, position, &progress));
            loop {
                tokio::select! {
                    ran = &mut running => break ran,
                    () = interrupts.next() => break Err(Failure::Interrupted),
                    _ = ticks.tick() => progress.tick(),
                }
            }
        };
        progress.clear();
        ran
    }

    async fn run_statement(&mut self, sql: &str, position: Position, progress: &ProgressLine) -> Result<(), Failure> {
        let start = Instant::now();
        let sql = self.variables.substitute(sql);
        for statement in self.session.parse_at(&sql, position)? {
            let output = self.session.execute(&statement).await?;
            if !matches!(output, Output::Rows(_)) {
                progress.clear();
            }
            match (output, &statement) {
                (
                    Output::Rows(_),
                    Statement::Set {
                        key: Some(key),
                        value: Some(value),
                    },
                ) => self.say(&format!("set {key} = {}", redacted(key, value)))?,
                (Output::Rows(stream), _) => self.write_rows(stream, start, progress).await?,
                (Output::Done(line), _) => {
                    let line = line + &self.time_since(start);
                    self.say(&line)?;
                }
                (Output::Written(report), _) => self.say(&report.to_string())?,
            }
        }
        Ok(())
    }

    async fn write_rows(
        &mut self,
        mut stream: SendableRecordBatchStream,
        start: Instant,
        progress: &ProgressLine,
    ) -> Result<(), Failure> {
        let on_terminal = self.terminal_width().is_some();
        let style = self.style()?;
        let mut printer = printer(&style, &stream.schema());
        let limit = style.max_rows.map_or(u64::MAX, |n| n as u64);
        let mut rows = Rows::default();
        let mut counting_since = None;
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(from_engine)?;
            let room = usize::try_from(limit - rows.shown).unwrap_or(usize::MAX);
            let shown = batch.slice(0, batch.num_rows().min(room));
            if shown.num_rows() > 0 {
                if on_terminal {
                    progress.clear();
                }
                printer.rows(&mut self.sink, &shown).map_err(Failure::writing)?;
            }
            rows.shown += shown.num_rows() as u64;
            rows.further += (batch.num_rows() - shown.num_rows()) as u64;
            if rows.further > 0 && counting_since.get_or_insert_with(Instant::now).elapsed() > COUNTING_TIME {
                rows.are_there_more = true;
                break;
            }
        }
        drop(stream);
        progress.clear();
        let hint = printer.finish(&mut self.sink).map_err(Failure::writing)?;
        if self.preferences.format.is_for_people() {
            let footer = footer(rows, hint) + &self.time_since(start);
            self.say(&style.paint.dim(&footer))?;
        }
        Ok(())
    }

    fn time_since(&self, start: Instant) -> String {
        if self.is_timing() {
            format!(", {:.3} s", start.elapsed().as_secs_f64())
        } else {
            String::new()
        }
    }

    pub(super) fn style(&self) -> Result<Style, Failure> {
        let zone = self.session.settings().time_zone().parse::<Tz>();
        let zone = zone.map_err(|e| Failure::Other(format!("the session's time zone is unknown: {e}")))?;
        let terminal = self.terminal_width();
        let format = self.preferences.format;
        Ok(Style {
            format,
            values: Values { zone },
            paint: match (self.preferences.colors(), self.sink.is_stdout()) {
                (true, true) => Paint::On,
                _ => Paint::Off,
            },
            fit: terminal.map_or(Fit::Full, Fit::Terminal),
            max_rows: self
                .preferences
                .max_rows
                .filter(|_| terminal.is_some() && format.is_for_people()),
        })
    }
}

fn footer(rows: Rows, hint: Option<String>) -> String {
    let mut text = if rows.further == 0 {
        let plural = if rows.shown == 1 { "" } else { "s" };
        format!("{} row{plural}", rows.shown)
    } else {
        let more = if rows.are_there_more { "more than " } else { "" };
        format!(
            "… {more}{} more rows (\\format csv or --max-rows all for everything)",
            rows.further
        )
    };
    if let Some(hint) = hint {
        text.push_str(&format!(", {hint} (\\x shows everything)"));
    }
    text
}
