//! A metastore in memory: pointers live as long as the catalog. Files may be in memory too, or anywhere else.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tarn_format::Result;
use tarn_format::catalog::{Namespace, TableIdent};
use tarn_format::spec::snapshot::Properties;
use tokio::sync::Mutex;

use crate::pointers::{
    EntryKind, Pointer, PointerStore, Swap, existing_entry, existing_namespace, filled_namespace, missing_entry,
    missing_namespace,
};

/// Pointers under one lock.
#[derive(Debug, Default)]
pub(crate) struct MemoryPointers {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    namespaces: BTreeMap<Namespace, Properties>,
    entries: BTreeMap<TableIdent, Pointer>,
}

impl State {
    /// All namespaces that were created or hold something.
    fn known(&self) -> impl Iterator<Item = &Namespace> {
        self.namespaces.keys().chain(self.entries.keys().map(|i| &i.namespace))
    }

    fn exists(&self, namespace: &Namespace) -> bool {
        namespace.is_root() || self.known().any(|n| n.0.starts_with(&namespace.0))
    }

    fn children(&self, parent: &Namespace) -> BTreeSet<Namespace> {
        let depth = parent.0.len() + 1;
        self.known()
            .filter(|n| n.0.len() >= depth && n.0.starts_with(&parent.0))
            .map(|n| Namespace(n.0.iter().take(depth).cloned().collect()))
            .collect()
    }

    fn require(&self, namespace: &Namespace) -> Result<()> {
        if self.exists(namespace) {
            Ok(())
        } else {
            Err(missing_namespace(namespace))
        }
    }

    fn require_free(&self, ident: &TableIdent) -> Result<()> {
        match self.entries.get(ident) {
            Some(taken) => Err(existing_entry(taken.kind, ident)),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl PointerStore for MemoryPointers {
    async fn child_namespaces(&self, parent: &Namespace) -> Result<Vec<Namespace>> {
        let state = self.state.lock().await;
        state.require(parent)?;
        Ok(state.children(parent).into_iter().collect())
    }

    async fn namespace_properties(&self, namespace: &Namespace) -> Result<Option<Properties>> {
        let state = self.state.lock().await;
        if !state.exists(namespace) {
            return Ok(None);
        }
        Ok(Some(state.namespaces.get(namespace).cloned().unwrap_or_default()))
    }

    async fn insert_namespace(&self, namespace: &Namespace, properties: Properties) -> Result<()> {
        let mut state = self.state.lock().await;
        if state.exists(namespace) {
            return Err(existing_namespace(namespace));
        }
        state.namespaces.insert(namespace.clone(), properties);
        Ok(())
    }

    async fn change_namespace(&self, namespace: &Namespace, removals: &[String], updates: Properties) -> Result<()> {
        let mut state = self.state.lock().await;
        state.require(namespace)?;
        let properties = state.namespaces.entry(namespace.clone()).or_default();
        properties.retain(|key, _| !removals.contains(key));
        properties.extend(updates);
        Ok(())
    }

    async fn remove_namespace(&self, namespace: &Namespace) -> Result<()> {
        let mut state = self.state.lock().await;
        state.require(namespace)?;
        if !state.children(namespace).is_empty() {
            return Err(filled_namespace(namespace, "namespaces"));
        }
        if state.entries.keys().any(|i| i.namespace == *namespace) {
            return Err(filled_namespace(namespace, "tables or views"));
        }
        state.namespaces.remove(namespace);
        Ok(())
    }

    async fn names(&self, namespace: &Namespace, kind: EntryKind) -> Result<Vec<String>> {
        let state = self.state.lock().await;
        state.require(namespace)?;
        let entries = state.entries.iter();
        Ok(entries
            .filter(|(ident, pointer)| ident.namespace == *namespace && pointer.kind == kind)
            .map(|(ident, _)| ident.name.clone())
            .collect())
    }

    async fn get(&self, ident: &TableIdent) -> Result<Option<Pointer>> {
        Ok(self.state.lock().await.entries.get(ident).cloned())
    }

    async fn insert(&self, ident: &TableIdent, pointer: &Pointer) -> Result<Swap> {
        let mut state = self.state.lock().await;
        state.require(&ident.namespace)?;
        state.require_free(ident)?;
        state.entries.insert(ident.clone(), pointer.clone());
        Ok(Swap::Done)
    }

    async fn swap(&self, ident: &TableIdent, from: &Pointer, to: &str) -> Result<Swap> {
        let mut state = self.state.lock().await;
        match state.entries.get_mut(ident) {
            Some(entry) if entry == from => {
                entry.metadata_location = to.to_owned();
                Ok(Swap::Done)
            }
            Some(entry) if entry.kind == from.kind => Ok(Swap::Lost),
            _ => Err(missing_entry(from.kind, ident)),
        }
    }

    async fn remove(&self, ident: &TableIdent, kind: EntryKind) -> Result<Option<String>> {
        let mut state = self.state.lock().await;
        if !state.entries.get(ident).is_some_and(|e| e.kind == kind) {
            return Ok(None);
        }
        // A namespace that was never created must not vanish with its last table, so it is kept from here on.
        state.namespaces.entry(ident.namespace.clone()).or_default();
        Ok(state.entries.remove(ident).map(|e| e.metadata_location))
    }

    async fn rename(&self, kind: EntryKind, from: &TableIdent, to: &TableIdent) -> Result<()> {
        let mut state = self.state.lock().await;
        let Some(pointer) = state.entries.get(from).filter(|e| e.kind == kind).cloned() else {
            return Err(missing_entry(kind, from));
        };
        state.require(&to.namespace)?;
        state.require_free(to)?;
        state.entries.remove(from);
        state.entries.insert(to.clone(), pointer);
        Ok(())
    }
}
