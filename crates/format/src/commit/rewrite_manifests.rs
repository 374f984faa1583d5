//! Rewrites of manifests: the same files, listed in fewer or better clustered manifests (Java: `BaseRewriteManifests`,
//! `RewriteManifestsSparkAction`).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::attempt::Attempt;
use super::change::{Change, ChangeKind};
use super::manifest_filter::abbreviated;
use super::manifest_output::ManifestOutput;
use crate::error::{Error, Result};
use crate::manifest::data_file::{ManifestEntry, PartitionTuple};
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};
use crate::manifest::writer::ManifestWriter;
use crate::spec::snapshot::Properties;
use crate::spec::types::{StructType, Type};
use crate::spec::value_order;

/// The order in which files are listed anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ManifestOrder {
    /// By partition, so that a manifest covers few.
    #[default]
    ByPartition,
    /// As they were listed.
    AsListed,
}

/// Which manifests are rewritten, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ManifestRewrite {
    /// Only manifests of this spec; `None`: of all, each in its own.
    pub spec_id: Option<i32>,
    /// Only data or only delete manifests; `None`: both.
    pub content: Option<ManifestContent>,
    /// Only these, which must all be there; `None`: all.
    pub paths: Option<BTreeSet<String>>,
    /// Order.
    pub order: ManifestOrder,
}

/// A change that rewrites manifests.
pub fn rewrite_manifests(rewrite: ManifestRewrite) -> Change {
    Change::new(ChangeKind::RewriteManifests(rewrite))
}

/// Rewrites and keeps the result over attempts.
#[derive(Debug, Default)]
pub(crate) struct ManifestRewriter {
    replaced: HashSet<ManifestFile>,
    created: Vec<ManifestFile>,
    entries: usize,
}

impl ManifestRewriter {
    /// The manifests of the new snapshot, new ones first, and what the summary tells of them.
    pub(crate) async fn rewrite(
        &mut self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        rewrite: &ManifestRewrite,
        existing: Vec<ManifestFile>,
    ) -> Result<(Vec<ManifestFile>, Properties)> {
        if let Some(paths) = &rewrite.paths {
            require_present(paths, &existing)?;
        }
        // What was rewritten for a lost race is good as long as all of it is still there, with the same sequence numbers
        // and row ids.
        let current: HashSet<&ManifestFile> = existing.iter().collect();
        if self.replaced.is_empty() || !self.replaced.iter().all(|m| current.contains(m)) {
            let selected: Vec<&ManifestFile> = existing.iter().filter(|m| is_selected(rewrite, m)).collect();
            self.rewrite_selected(attempt, output, rewrite, &selected).await?;
        }
        let kept: Vec<ManifestFile> = existing.into_iter().filter(|m| !self.replaced.contains(m)).collect();
        let properties = [
            ("manifests-created", self.created.len()),
            ("manifests-kept", kept.len()),
            ("manifests-replaced", self.replaced.len()),
            ("entries-processed", self.entries),
        ];
        let properties = properties.map(|(key, n)| (key.to_string(), n.to_string()));
        let manifests = self.created.iter().cloned().chain(kept).collect();
        Ok((manifests, properties.into()))
    }

    async fn rewrite_selected(
        &mut self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        rewrite: &ManifestRewrite,
        selected: &[&ManifestFile],
    ) -> Result<()> {
        *self = ManifestRewriter::default();
        let mut groups: BTreeMap<(ManifestContent, i32), Vec<&ManifestFile>> = BTreeMap::new();
        for manifest in selected {
            let group = groups
                .entry((manifest.content, manifest.partition_spec_id))
                .or_default();
            group.push(manifest);
        }
        for ((content, spec_id), manifests) in groups {
            let Some(partition_type) = attempt.copied_type(spec_id, &manifests).await? else {
                return Err(Error::unsupported(format!(
                    "manifests of partition spec {spec_id} hold partition values of different types"
                )));
            };
            let mut entries = live_entries(attempt, &manifests).await?;
            self.entries += entries.len();
            if rewrite.order == ManifestOrder::ByPartition {
                entries.sort_by(|a, b| compare_tuples(&a.data_file.partition, &b.data_file.partition, &partition_type));
            }
            let copier = |output: &ManifestOutput| output.copier(attempt, (spec_id, content), &partition_type);
            self.write(attempt, output, copier, &entries).await?;
            self.replaced.extend(manifests.into_iter().cloned());
        }
        Ok(())
    }

    async fn write(
        &mut self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        copier: impl Fn(&ManifestOutput) -> Result<ManifestWriter>,
        entries: &[ManifestEntry],
    ) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut writer = copier(output)?;
        let mut written = 0usize;
        for entry in entries {
            if output.is_full(attempt, &writer, written) {
                let full = std::mem::replace(&mut writer, copier(output)?);
                self.created.push(output.store(attempt, full).await?);
                written = 0;
            }
            writer.existing(entry)?;
            written += 1;
        }
        self.created.push(output.store(attempt, writer).await?);
        Ok(())
    }
}

fn is_selected(rewrite: &ManifestRewrite, manifest: &ManifestFile) -> bool {
    rewrite.spec_id.is_none_or(|id| id == manifest.partition_spec_id)
        && rewrite.content.is_none_or(|content| content == manifest.content)
        && rewrite
            .paths
            .as_ref()
            .is_none_or(|paths| paths.contains(&manifest.manifest_path))
}

fn require_present(paths: &BTreeSet<String>, existing: &[ManifestFile]) -> Result<()> {
    let current: BTreeSet<&str> = existing.iter().map(|m| m.manifest_path.as_str()).collect();
    let missing: Vec<&str> = paths
        .iter()
        .map(String::as_str)
        .filter(|p| !current.contains(p))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::validation(format!(
        "manifests to rewrite are no longer in the current snapshot: {}",
        abbreviated(&missing)
    )))
}

async fn live_entries(attempt: &Attempt<'_>, manifests: &[&ManifestFile]) -> Result<Vec<ManifestEntry>> {
    let mut entries = Vec::new();
    for manifest in manifests {
        let listed = attempt.all_entries(manifest).await?;
        let live = (0..listed.columns.len).filter(|i| listed.columns.is_live(*i));
        entries.extend(live.map(|i| listed.entry(i)));
    }
    Ok(entries)
}

/// Field by field, nulls first.
fn compare_tuples(a: &PartitionTuple, b: &PartitionTuple, partition_type: &StructType) -> Ordering {
    for ((a, b), field) in a.0.iter().zip(&b.0).zip(&partition_type.fields) {
        let ordering = match (a, b, &field.field_type) {
            (Some(a), Some(b), Type::Primitive(primitive)) => value_order::compare(a, b, primitive),
            (a, b, _) => a.is_some().cmp(&b.is_some()),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}
