//! One contract that every catalog keeps, as cases that any backend can run: `tarn_format::catalog::Catalog` in action.
//!
//! A case gets a fresh, empty catalog. A backend names the cases it cannot pass and why; nothing else is skipped.

pub mod cases;
pub mod fixture;
pub mod race;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tarn_format::catalog::Catalog;
use tarn_format::{Error, ErrorKind, Result};

/// A backend under test.
#[async_trait]
pub trait Backend: fmt::Debug + Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// A new, empty catalog.
    async fn fresh(&self) -> Result<Arc<dyn Catalog>>;

    /// Cases (by name) that it cannot pass, with reasons.
    fn skips(&self) -> Vec<Skip>;
}

/// A case that a backend cannot pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    /// The case.
    pub case: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// Why a case failed.
#[derive(Debug)]
pub struct Failure(pub String);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure(format!("unexpected error: {error:?}"))
    }
}

/// What a case comes to.
pub type CaseResult = Result<(), Failure>;

/// One case of the contract.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The test.
    pub run: fn(Arc<dyn Catalog>) -> BoxFuture<'static, CaseResult>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}

/// How a backend did.
#[derive(Debug, Default)]
pub struct Report {
    /// Names of cases that passed.
    pub passed: Vec<&'static str>,
    /// Cases that were skipped.
    pub skipped: Vec<Skip>,
    /// Cases that failed, and why.
    pub failed: Vec<(&'static str, String)>,
}

/// Runs the contract against a backend.
pub async fn run_contract(backend: &dyn Backend) -> Report {
    let mut report = Report::default();
    let skips = backend.skips();
    for case in cases::all() {
        if let Some(skip) = skips.iter().find(|s| s.case == case.name) {
            report.skipped.push(*skip);
            continue;
        }
        let outcome = match backend.fresh().await {
            Ok(catalog) => (case.run)(catalog).await,
            Err(e) => Err(Failure(format!("no fresh catalog: {e:?}"))),
        };
        match outcome {
            Ok(()) => report.passed.push(case.name),
            Err(Failure(why)) => report.failed.push((case.name, why)),
        }
    }
    // A skip that matches nothing is a misspelt one: the case would seem covered.
    for skip in skips.iter().filter(|s| !cases::all().iter().any(|c| c.name == s.case)) {
        report
            .failed
            .push((skip.case, "skipped, but there is no such case".to_owned()));
    }
    report
}

/// Fails the case unless the condition holds.
pub(crate) fn ensure(condition: bool, what: impl FnOnce() -> String) -> CaseResult {
    if condition { Ok(()) } else { Err(Failure(what())) }
}

/// Fails the case unless both are equal.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(found: T, expected: T, what: &str) -> CaseResult {
    ensure(found == expected, || {
        format!("{what}: found {found:?}, expected {expected:?}")
    })
}

/// Fails the case unless the result is an error of this kind.
pub(crate) fn refused<T: fmt::Debug>(result: Result<T>, kind: ErrorKind, what: &str) -> CaseResult {
    match result {
        Err(e) if e.kind() == kind => Ok(()),
        other => Err(Failure(format!(
            "{what}: found {other:?}, expected an error of kind {kind:?}"
        ))),
    }
}

#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod process_tests;
