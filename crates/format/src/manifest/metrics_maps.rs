//! Decodes the metrics maps of entries: the bulk of a manifest, of which a scan wants little.

use std::collections::{BTreeMap, HashMap};

use super::avro::cursor::{Cursor, Malformed};
use super::column_data::OptionalLongs;
use super::columns::{FieldMetrics, MetricsProjection};
use super::plan::{CollectionNulls, Metric, NullBranch};
use crate::spec::types::FieldId;

/// Most fields whose metrics one manifest may name, when all are asked for. Each costs memory even if few files have it.
const MAX_FIELDS: usize = 1 << 16;
/// Ids below this are looked up in an array.
const DENSE_IDS: usize = 1 << 12;
const NONE: u32 = u32::MAX;

/// The metrics decoded so far.
pub(super) struct MetricMaps {
    fields: Vec<(FieldId, FieldMetrics)>,
    /// Index in `fields` by id, for small ids.
    dense: Vec<u32>,
    /// For other ids.
    others: HashMap<FieldId, u32>,
    takes_all: bool,
    /// Bit `id` of each wanted id below 64; all bits when all are wanted.
    wanted: u64,
    /// Where the entry before had the wanted fields, by [`Metric`].
    layouts: [Layout; 6],
    /// Values of an entry that are not proven yet.
    values: Vec<i64>,
}

/// Where a map of counts had the wanted fields. Writers keep the order of their columns from entry to entry, so the
/// pairs between can be skipped unseen; a key that is not where it was sends the decoder back to look at each.
#[derive(Default)]
struct Layout {
    pairs: usize,
    /// Indexes of pairs and of `fields`, ascending.
    places: Vec<(usize, usize)>,
}

#[inline(always)]
fn counts_of(metrics: &mut FieldMetrics, metric: Metric) -> &mut OptionalLongs {
    match metric {
        Metric::ColumnSize => &mut metrics.column_size,
        Metric::NullCount => &mut metrics.null_count,
        Metric::NanCount => &mut metrics.nan_count,
        _ => &mut metrics.value_count,
    }
}

/// Reads the branch of a nullable type: whether a value follows.
#[inline(always)]
pub(super) fn is_present(cursor: &mut Cursor<'_>, null: NullBranch) -> Result<bool, Malformed> {
    let Some(null) = null else { return Ok(true) };
    match cursor.long()? {
        branch @ (0 | 1) => Ok(branch != i64::from(null)),
        _ => Err(Malformed::Branch),
    }
}

/// The key of the next pair; `None` when the pair has no value, which is skipped then.
#[inline(always)]
fn item_key(cursor: &mut Cursor<'_>, nulls: CollectionNulls) -> Result<Option<i64>, Malformed> {
    if nulls.items_are_plain() {
        return cursor.long().map(Some);
    }
    nullable_key(cursor, nulls)
}

#[cold]
fn nullable_key(cursor: &mut Cursor<'_>, nulls: CollectionNulls) -> Result<Option<i64>, Malformed> {
    if !is_present(cursor, nulls.item)? {
        return Ok(None);
    }
    if !is_present(cursor, nulls.key)? {
        return Err(Malformed::Null);
    }
    let key = cursor.long()?;
    Ok(is_present(cursor, nulls.value)?.then_some(key))
}

impl MetricMaps {
    pub(super) fn new(projection: &MetricsProjection) -> Self {
        let mut maps = MetricMaps {
            fields: Vec::new(),
            dense: vec![NONE; DENSE_IDS],
            others: HashMap::new(),
            takes_all: *projection == MetricsProjection::All,
            wanted: if *projection == MetricsProjection::All {
                u64::MAX
            } else {
                0
            },
            layouts: Default::default(),
            values: Vec::new(),
        };
        if let MetricsProjection::Fields(ids) = projection {
            for id in ids {
                // Only as many as the caller asks for.
                let _ = maps.add(*id);
                maps.wanted |= u32::try_from(*id)
                    .ok()
                    .and_then(|id| 1_u64.checked_shl(id))
                    .unwrap_or(0);
            }
        }
        maps
    }

    fn add(&mut self, id: FieldId) -> Result<usize, Malformed> {
        if self.takes_all && self.fields.len() >= MAX_FIELDS {
            return Err(Malformed::TooLarge);
        }
        let index = self.fields.len();
        self.fields.push((id, FieldMetrics::default()));
        match usize::try_from(id).ok().and_then(|id| self.dense.get_mut(id)) {
            Some(slot) => *slot = index as u32,
            None => {
                self.others.insert(id, index as u32);
            }
        }
        Ok(index)
    }

    /// The place of a field's metrics, when they are wanted.
    #[inline(always)]
    fn find(&mut self, id: i64) -> Result<Option<usize>, Malformed> {
        let index = match usize::try_from(id).ok().and_then(|id| self.dense.get(id)) {
            Some(index) => *index,
            None => self.find_other(id)?,
        };
        if index != NONE {
            return Ok(Some(index as usize));
        }
        if !self.takes_all {
            return Ok(None);
        }
        let id = FieldId::try_from(id).map_err(|_| Malformed::Range)?;
        self.add(id).map(Some)
    }

    fn find_other(&self, id: i64) -> Result<u32, Malformed> {
        let id = FieldId::try_from(id).map_err(|_| Malformed::Range)?;
        Ok(self.others.get(&id).copied().unwrap_or(NONE))
    }

    /// A map from field id to number.
    pub(super) fn counts(
        &mut self,
        cursor: &mut Cursor<'_>,
        metric: Metric,
        nulls: CollectionNulls,
        row: usize,
    ) -> Result<(), Malformed> {
        if !is_present(cursor, nulls.whole)? {
            return Ok(());
        }
        loop {
            let items = cursor.items()?;
            if items.count == 0 {
                return Ok(());
            }
            if !(nulls.items_are_plain() && self.counts_as_before(cursor, metric, items.count, row)?) {
                self.count_pairs(cursor, metric, nulls, items.count, row)?;
            }
            cursor.end_items(items)?;
            cursor.check()?;
        }
    }

    /// Takes the pairs from where the entry before had them. False, and nothing read, when they are not there.
    #[inline]
    fn counts_as_before(
        &mut self,
        cursor: &mut Cursor<'_>,
        metric: Metric,
        pairs: usize,
        row: usize,
    ) -> Result<bool, Malformed> {
        let layout = std::mem::take(&mut self.layouts[metric as usize]);
        // Only when all that is wanted was there can the other pairs hold nothing.
        let mut is_proven = layout.pairs == pairs && layout.places.len() == self.fields.len() && !self.takes_all;
        if is_proven {
            let start = cursor.position();
            let mut next = 0;
            self.values.clear();
            for (pair, field) in &layout.places {
                cursor.skip_varints(2 * (pair - next))?;
                let key = cursor.long()?;
                is_proven &= self.fields.get(*field).is_some_and(|(id, _)| i64::from(*id) == key);
                self.values.push(cursor.long()?);
                next = pair + 1;
            }
            cursor.skip_varints(2 * (pairs - next))?;
            if is_proven {
                for ((_, field), value) in layout.places.iter().zip(&self.values) {
                    if let Some((_, metrics)) = self.fields.get_mut(*field) {
                        counts_of(metrics, metric).push_at(row, *value);
                    }
                }
            } else {
                *cursor = cursor.at(start);
            }
        }
        self.layouts[metric as usize] = layout;
        Ok(is_proven)
    }

    /// Looks at every pair, and notes where the wanted ones are.
    fn count_pairs(
        &mut self,
        cursor: &mut Cursor<'_>,
        metric: Metric,
        nulls: CollectionNulls,
        pairs: usize,
        row: usize,
    ) -> Result<(), Malformed> {
        let mut layout = std::mem::take(&mut self.layouts[metric as usize]);
        layout.pairs = pairs;
        layout.places.clear();
        let mut left = pairs;
        while left > 0 {
            if nulls.items_are_plain() {
                left -= cursor.skip_unwanted_longs(left, self.wanted);
                if left == 0 {
                    break;
                }
            }
            left -= 1;
            let Some(id) = item_key(cursor, nulls)? else { continue };
            let Some(field) = self.find(id)? else {
                cursor.skip_varint()?;
                continue;
            };
            let value = cursor.long()?;
            if let Some((_, metrics)) = self.fields.get_mut(field) {
                counts_of(metrics, metric).push_at(row, value);
            }
            // A key that occurs twice must not pass for two.
            if !self.takes_all && layout.places.iter().all(|(_, f)| *f != field) {
                layout.places.push((pairs - left - 1, field));
            }
        }
        self.layouts[metric as usize] = layout;
        Ok(())
    }

    /// A map from field id to bytes.
    pub(super) fn bounds(
        &mut self,
        cursor: &mut Cursor<'_>,
        metric: Metric,
        nulls: CollectionNulls,
        row: usize,
    ) -> Result<(), Malformed> {
        if !is_present(cursor, nulls.whole)? {
            return Ok(());
        }
        loop {
            let items = cursor.items()?;
            if items.count == 0 {
                return Ok(());
            }
            let mut left = items.count;
            while left > 0 {
                if nulls.items_are_plain() {
                    left -= cursor.skip_unwanted_sized(left, self.wanted);
                    if left == 0 {
                        break;
                    }
                }
                left -= 1;
                let Some(id) = item_key(cursor, nulls)? else { continue };
                let Some(index) = self.find(id)? else {
                    cursor.skip_sized()?;
                    continue;
                };
                let bytes = cursor.bytes()?;
                if let Some((_, metrics)) = self.fields.get_mut(index) {
                    let column = match metric {
                        Metric::UpperBound => &mut metrics.upper_bound,
                        _ => &mut metrics.lower_bound,
                    };
                    column.push_at(row, bytes).map_err(|_| Malformed::TooLarge)?;
                }
            }
            cursor.end_items(items)?;
            cursor.check()?;
        }
    }

    /// Makes room for so many more entries like the `len` there are.
    pub(super) fn reserve(&mut self, rows: usize, len: usize) {
        self.fields.iter_mut().for_each(|(_, m)| m.reserve(rows, len));
    }

    /// The fields that have metrics.
    pub(super) fn finish(self) -> BTreeMap<FieldId, FieldMetrics> {
        self.fields.into_iter().filter(|(_, m)| !m.is_empty()).collect()
    }
}
