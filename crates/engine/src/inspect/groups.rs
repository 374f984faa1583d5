//! Files shared out to the streams of a scan.

/// Bytes, as stored, that are worth a stream of their own.
const BYTES_PER_PARTITION: u64 = 1 << 20;

/// Neighbouring files together, as many groups as there is work for; at least one. `length` is in bytes.
pub(super) fn groups<F: Clone>(files: Vec<F>, length: impl Fn(&F) -> u64, target_partitions: usize) -> Vec<Vec<F>> {
    let total: u64 = files.iter().fold(0, |sum, f| sum.saturating_add(length(f)));
    let wanted = usize::try_from(total / BYTES_PER_PARTITION).unwrap_or(usize::MAX);
    let count = wanted.min(target_partitions).min(files.len()).max(1);
    let bytes_per_group = (total / count as u64).max(1);
    let mut groups = vec![Vec::new(); count];
    let mut before: u64 = 0;
    for file in files {
        let group = usize::try_from(before / bytes_per_group).unwrap_or(usize::MAX);
        before = before.saturating_add(length(&file));
        groups[group.min(count - 1)].push(file);
    }
    groups
}
