//! The options of one read: Spark's `DataFrameReader` options (`SparkReadOptions`), which hints and table functions take
//! too. Keys are compared without regard to case.

use tarn_engine::scan::{AnswersFrom, ReadOptions};
use tarn_format::scan::range::{RangeEnd, RangeStart, SnapshotRange};
use tarn_format::{Error, Result};

use crate::near_names::did_you_mean;

/// Keys that choose a state, of which one may be given.
const STATES: [&str; 4] = ["snapshot-id", "as-of-timestamp", "branch", "tag"];

/// Keys with a meaning here.
pub(crate) const USED: [&str; 10] = [
    "snapshot-id",
    "as-of-timestamp",
    "branch",
    "tag",
    "start-snapshot-id",
    "end-snapshot-id",
    "split-size",
    "lookback",
    "file-open-cost",
    "aggregate-push-down-enabled",
];

/// Keys of Spark that change nothing here: how it decodes, where it runs, and what only its streams read.
const WITHOUT_EFFECT: [&str; 8] = [
    "batch-size",
    "vectorization-enabled",
    "locality",
    "stream-from-timestamp",
    "streaming-max-files-per-micro-batch",
    "streaming-max-rows-per-micro-batch",
    "streaming-skip-delete-snapshots",
    "streaming-skip-overwrite-snapshots",
];

/// A state of a table that an option chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StateOption {
    /// `snapshot-id`
    Snapshot(i64),
    /// `as-of-timestamp`, milliseconds since epoch
    AsOf(i64),
    /// `branch`
    Branch(String),
    /// `tag`
    Tag(String),
}

/// What the options of one read say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableRead {
    /// The state to read.
    pub(crate) state: Option<StateOption>,
    /// How it is read.
    pub(crate) options: ReadOptions,
}

impl TableRead {
    /// Reads options. `defaults` are those of the session, which options override.
    ///
    /// # Errors
    /// `InvalidInput` for values that are none of their option's, and for options that exclude each other
    /// (Java: `SparkScanBuilder`, `IcebergSource`).
    pub(crate) fn parse(pairs: &[(String, String)], defaults: ReadOptions) -> Result<Self> {
        let given = Given(pairs);
        given.refuse_foreign()?;
        let mut options = defaults;
        options.split_size_bytes = given.size("split-size")?.or(options.split_size_bytes);
        options.split_lookback = given.count("lookback")?.or(options.split_lookback);
        options.open_file_cost_bytes = given.number("file-open-cost")?.or(options.open_file_cost_bytes);
        if let Some(on) = given.switch("aggregate-push-down-enabled")? {
            options.answers = if on { AnswersFrom::Metadata } else { AnswersFrom::Data };
        }
        let state = given.state()?;
        let start: Option<i64> = given.number("start-snapshot-id")?;
        let end: Option<i64> = given.number("end-snapshot-id")?;
        let Some(start) = start else {
            if end.is_some() {
                return Err(Error::invalid(
                    "end-snapshot-id alone says nothing of where to begin: give start-snapshot-id too",
                ));
            }
            return Ok(TableRead { state, options });
        };
        let branch = match state {
            None => None,
            Some(StateOption::Branch(name)) => Some(name),
            Some(_) => {
                return Err(Error::invalid(
                    "start-snapshot-id and end-snapshot-id cannot be set together with snapshot-id, as-of-timestamp or tag",
                ));
            }
        };
        options.appended = Some(SnapshotRange {
            start: RangeStart::Exclusive(RangeEnd::Id(start)),
            end: end.map(RangeEnd::Id),
            branch,
        });
        Ok(TableRead { state: None, options })
    }
}

/// Whether a key, in lower case, is one of Spark's.
pub(crate) fn is_known(key: &str) -> bool {
    USED.iter().chain(&WITHOUT_EFFECT).any(|k| *k == key)
}

struct Given<'a>(&'a [(String, String)]);

impl Given<'_> {
    /// The last value of a key: options replace earlier ones.
    fn get(&self, key: &str) -> Option<&str> {
        let same = self.0.iter().rev().find(|(k, _)| k.eq_ignore_ascii_case(key));
        same.map(|(_, value)| value.as_str())
    }

    fn number<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>> {
        let parse = |text: &str| {
            text.trim()
                .parse()
                .map_err(|_| Error::invalid(format!("read option {key} takes a whole number, not '{text}'")))
        };
        self.get(key).map(parse).transpose()
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        match self.number(key)? {
            Some(0) => Err(Error::invalid(format!("read option {key} must be above 0"))),
            size => Ok(size),
        }
    }

    fn count(&self, key: &str) -> Result<Option<usize>> {
        match self.number(key)? {
            Some(0) => Err(Error::invalid(format!("read option {key} must be above 0"))),
            count => Ok(count),
        }
    }

    fn switch(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(Error::invalid(format!(
                "read option {key} must be true or false, not '{other}'"
            ))),
        }
    }

    fn state(&self) -> Result<Option<StateOption>> {
        let given: Vec<&str> = STATES.into_iter().filter(|k| self.get(k).is_some()).collect();
        if given.len() > 1 {
            return Err(Error::invalid(format!(
                "{} cannot be set together: each chooses the state to read",
                given.join(" and ")
            )));
        }
        let named = |key: &str| self.get(key).map(str::to_string);
        Ok(self
            .number("snapshot-id")?
            .map(StateOption::Snapshot)
            .or(self.number("as-of-timestamp")?.map(StateOption::AsOf))
            .or(named("branch").map(StateOption::Branch))
            .or(named("tag").map(StateOption::Tag)))
    }

    /// Options of changelogs make no sense here; unknown ones are told and let pass, as Spark lets them pass.
    fn refuse_foreign(&self) -> Result<()> {
        for (key, _) in self.0 {
            let key = key.to_ascii_lowercase();
            if matches!(key.as_str(), "start-timestamp" | "end-timestamp") {
                return Err(Error::invalid(format!(
                    "{key} is an option of changelogs only: give start-snapshot-id and end-snapshot-id"
                )));
            }
            if !is_known(&key) {
                let hint = did_you_mean(&key, USED);
                tracing::warn!("read option '{key}' is unknown and has no effect{hint}");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<TableRead> {
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        TableRead::parse(&pairs, ReadOptions::default())
    }

    #[test]
    fn one_state_is_chosen() {
        let state = |pairs| read(pairs).unwrap().state;
        assert_eq!(state(&[]), None);
        assert_eq!(state(&[("Snapshot-ID", "7")]), Some(StateOption::Snapshot(7)));
        assert_eq!(
            state(&[("as-of-timestamp", "499162860000")]),
            Some(StateOption::AsOf(499_162_860_000))
        );
        assert_eq!(
            state(&[("branch", "audit")]),
            Some(StateOption::Branch("audit".to_string()))
        );
        assert_eq!(state(&[("tag", "eoy")]), Some(StateOption::Tag("eoy".to_string())));
        for pair in [
            [("snapshot-id", "1"), ("as-of-timestamp", "1")],
            [("snapshot-id", "1"), ("branch", "b")],
            [("tag", "t"), ("as-of-timestamp", "1")],
            [("tag", "t"), ("branch", "b")],
        ] {
            assert!(read(&pair).is_err(), "{pair:?}");
        }
        assert!(read(&[("snapshot-id", "x")]).unwrap_err().to_string().contains("'x'"));
    }

    #[test]
    fn ranges_need_a_start_and_no_state() {
        let range = read(&[("start-snapshot-id", "1"), ("end-snapshot-id", "2")]).unwrap();
        assert_eq!(range.options.appended, Some(SnapshotRange::between(1, 2)));
        let open = read(&[("start-snapshot-id", "1")]).unwrap();
        assert_eq!(open.options.appended, Some(SnapshotRange::after(1)));
        for pairs in [
            &[("end-snapshot-id", "2")][..],
            &[("start-snapshot-id", "1"), ("snapshot-id", "2")],
            &[("start-snapshot-id", "1"), ("as-of-timestamp", "2")],
            &[("start-snapshot-id", "1"), ("tag", "t")],
            &[("start-timestamp", "1")],
            &[("end-timestamp", "1")],
        ] {
            assert!(read(pairs).is_err(), "{pairs:?}");
        }
    }

    #[test]
    fn options_override_the_session() {
        let session = ReadOptions {
            split_size_bytes: Some(10),
            answers: AnswersFrom::Data,
            ..ReadOptions::default()
        };
        let pair = |k: &str, v: &str| (k.to_string(), v.to_string());
        let kept = TableRead::parse(&[], session.clone()).unwrap().options;
        assert_eq!(kept, session);
        let pairs = [pair("split-size", "20"), pair("aggregate-push-down-enabled", "true")];
        let changed = TableRead::parse(&pairs, session).unwrap().options;
        assert_eq!(changed.split_size_bytes, Some(20));
        assert_eq!(changed.answers, AnswersFrom::Metadata);
        assert!(read(&[("split-size", "0")]).is_err());
        assert!(read(&[("lookback", "0")]).is_err());
    }
}
