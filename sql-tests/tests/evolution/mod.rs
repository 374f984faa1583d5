//! Random lives of tables, with fixed seeds: columns, partitioning and defaults change while rows are written, deleted and
//! updated on several branches. Every branch, tag and snapshot must read as a naive model of the table says.

mod history;
mod kept;
mod model;
mod random;
mod steps;
mod values;

use std::future::Future;

use libtest_mimic::{Failed, Trial};

use self::history::History;
use crate::slt::place::Place;

/// Lives for each way to keep a table, unless `TARN_EVOLUTION_LIVES` says how many.
const LIVES: u64 = 2;

/// Steps of a life.
const STEPS: usize = 40;

/// How a table is kept: catalog, format version, and how rows are deleted and updated.
const WAYS: [(&str, u8, &str); 5] = [
    ("memory", 1, "copy-on-write"),
    ("hadoop", 2, "merge-on-read"),
    ("sqlite", 2, "copy-on-write"),
    ("sqlite", 3, "merge-on-read"),
    ("memory", 3, "copy-on-write"),
];

/// One trial per life.
pub fn trials() -> Vec<Trial> {
    let asked = std::env::var("TARN_EVOLUTION_LIVES").ok().and_then(|n| n.parse().ok());
    let count = asked.unwrap_or(LIVES);
    let lives = WAYS.into_iter().flat_map(|way| (0..count).map(move |life| (way, life)));
    let trial = |((catalog, version, mode), life): ((&'static str, u8, &'static str), u64)| {
        let name = format!("lives/{catalog}-v{version}-{mode}-{life}");
        let seed = u64::from(version) * 1_000 + life * 10 + mode.len() as u64;
        Trial::test(name.clone(), move || live(&name, catalog, version, mode, seed))
    };
    lives.map(trial).collect()
}

fn live(name: &str, catalog: &str, version: u8, mode: &str, seed: u64) -> Result<(), Failed> {
    block_on(async {
        let place = Place::new(catalog, None).await?;
        let mut history = History::begin(place.session.clone(), seed, version, mode).await?;
        let lived = all_steps(&mut history).await;
        let lived = lived.map_err(|failure| format!("{failure}\nafter\n  {}", history.done.join(";\n  ")));
        if let Some(to) = kept::wanted().filter(|_| catalog == "sqlite") {
            let name = name.replace('/', "-");
            kept::report(&to, &name, &history, &place.keep())?;
        }
        lived.map_err(Failed::from)
    })
}

async fn all_steps(history: &mut History) -> Result<(), String> {
    for _ in 0..STEPS {
        history.step().await?;
    }
    history.check_everything().await
}

fn block_on<T>(future: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(future)
}
