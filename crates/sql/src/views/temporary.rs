//! Views of the session alone (CREATE TEMPORARY VIEW).

use std::sync::{PoisonError, RwLock};

use super::Definition;

/// A view of the session.
#[derive(Debug, Clone)]
pub(crate) struct TemporaryView {
    /// Its name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) definition: Definition,
}

/// The views of a session. Names that differ only in case are the same.
#[derive(Debug, Default)]
pub(crate) struct TemporaryViews(RwLock<Vec<TemporaryView>>);

impl TemporaryViews {
    /// The view of this name.
    pub(crate) fn get(&self, name: &str) -> Option<TemporaryView> {
        let views = self.0.read().unwrap_or_else(PoisonError::into_inner);
        views.iter().find(|v| v.name.eq_ignore_ascii_case(name)).cloned()
    }

    /// Adds a view in the place of one of its name.
    pub(crate) fn put(&self, view: TemporaryView) {
        let mut views = self.0.write().unwrap_or_else(PoisonError::into_inner);
        views.retain(|v| !v.name.eq_ignore_ascii_case(&view.name));
        views.push(view);
    }

    /// Takes a view away; whether there was one.
    pub(crate) fn remove(&self, name: &str) -> bool {
        let mut views = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = views.len();
        views.retain(|v| !v.name.eq_ignore_ascii_case(name));
        views.len() < before
    }

    /// The names, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let views = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = views.iter().map(|v| v.name.clone()).collect();
        names.sort();
        names
    }
}
