//! Merges small manifests (Java: `ManifestMergeManager`; properties `commit.manifest.*`).

use std::collections::{BTreeMap, HashMap};

use super::attempt::Attempt;
use super::manifest_output::ManifestOutput;
use crate::error::Result;
use crate::manifest::data_file::ManifestStatus;
use crate::manifest::manifest_file::{ManifestContent, ManifestFile};

/// Merges made so far, by what was merged, as its list told of it. Kept over attempts.
#[derive(Debug, Default)]
pub(crate) struct ManifestMerge {
    merged: HashMap<Vec<ManifestFile>, ManifestFile>,
}

impl ManifestMerge {
    /// Forgets all merges.
    pub(crate) fn clear(&mut self) {
        self.merged.clear();
    }

    /// Merges manifests of one content whose first one is new. Specs are never mixed.
    pub(crate) async fn merge(
        &mut self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        manifests: Vec<ManifestFile>,
    ) -> Result<Vec<ManifestFile>> {
        let Some(first) = manifests.first().map(|m| m.manifest_path.clone()) else {
            return Ok(manifests);
        };
        let mut by_spec: BTreeMap<i32, Vec<ManifestFile>> = BTreeMap::new();
        for manifest in manifests {
            by_spec.entry(manifest.partition_spec_id).or_default().push(manifest);
        }
        let mut merged = Vec::new();
        for group in by_spec.into_values().rev() {
            for bin in pack_from_end(group, attempt.settings.manifest_target_size_bytes) {
                // Bins that hold the new manifest wait until there are enough, so that not every append rewrites.
                let is_young = bin.len() < attempt.settings.min_manifests_to_merge
                    && bin.iter().any(|manifest| manifest.manifest_path == first);
                if bin.len() == 1 || is_young {
                    merged.extend(bin);
                } else {
                    match self.merge_bin(attempt, output, &bin).await? {
                        Some(one) => merged.push(one),
                        None => merged.extend(bin),
                    }
                }
            }
        }
        Ok(merged)
    }

    /// `None` when the manifests cannot be merged, because they hold partition values of different types.
    async fn merge_bin(
        &mut self,
        attempt: &Attempt<'_>,
        output: &mut ManifestOutput,
        bin: &[ManifestFile],
    ) -> Result<Option<ManifestFile>> {
        if let Some(merged) = self.merged.get(bin) {
            return Ok(Some(merged.clone()));
        }
        let (spec_id, content) = match bin.first() {
            Some(manifest) => (manifest.partition_spec_id, manifest.content),
            None => (attempt.base.default_spec_id, ManifestContent::Data),
        };
        let all: Vec<&ManifestFile> = bin.iter().collect();
        let Some(partition_type) = attempt.copied_type(spec_id, &all).await? else {
            return Ok(None);
        };
        let mut writer = output.copier(attempt, (spec_id, content), &partition_type)?;
        for manifest in bin {
            let entries = attempt.all_entries(manifest).await?;
            for i in 0..entries.columns.len {
                let entry = entries.entry(i);
                let is_new = entry.snapshot_id == Some(output.snapshot_id());
                match entry.status {
                    // Files that earlier snapshots removed are only told of in those snapshots' manifests.
                    ManifestStatus::Deleted if !is_new => {}
                    ManifestStatus::Deleted => writer.deleted(&entry)?,
                    ManifestStatus::Added if is_new => {
                        writer.added(&entry.data_file, entry.sequence_number)?;
                    }
                    ManifestStatus::Added | ManifestStatus::Existing => writer.existing(&entry)?,
                }
            }
        }
        let merged = output.store(attempt, writer).await?;
        self.merged.insert(bin.to_vec(), merged.clone());
        Ok(Some(merged))
    }
}

/// Packs neighbours into bins of at most `target_bytes`, from the end, so that the first bin, which the next commit
/// adds to, is the one that is not full.
fn pack_from_end(manifests: Vec<ManifestFile>, target_bytes: u64) -> Vec<Vec<ManifestFile>> {
    let mut bins: Vec<Vec<ManifestFile>> = Vec::new();
    let mut filled = 0u64;
    for manifest in manifests.into_iter().rev() {
        let weight = u64::try_from(manifest.manifest_length).unwrap_or(0);
        match bins.last_mut() {
            Some(bin) if filled.saturating_add(weight) <= target_bytes => {
                filled = filled.saturating_add(weight);
                bin.push(manifest);
            }
            _ => {
                filled = weight;
                bins.push(vec![manifest]);
            }
        }
    }
    bins.iter_mut().for_each(|bin| bin.reverse());
    bins.reverse();
    bins
}
