use proptest::prelude::*;

use super::*;

/// Columns of every density, long runs of nulls included.
fn column() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    let value = || prop::collection::vec(any::<u8>(), 0..4);
    let run = (0.0..=1.0, 1..150_usize)
        .prop_flat_map(move |(weight, len)| prop::collection::vec(prop::option::weighted(weight, value()), len));
    prop::collection::vec(run, 0..4).prop_map(|runs| runs.concat())
}

proptest! {
    #[test]
    fn what_is_pushed_is_got(values in column()) {
        let bytes: OptionalBytes = values.iter().map(Option::as_ref).collect();
        let longs: OptionalLongs = values.iter().map(|v| v.as_ref().map(|v| v.len() as i64)).collect();
        let (mut strings, mut lists) = (Strings::default(), LongLists::default());
        for (row, value) in values.iter().enumerate() {
            if let Some(value) = value {
                strings.push_at(row, &format!("{value:?}")).unwrap();
                value.iter().for_each(|b| lists.push_at(row, i64::from(*b)).unwrap());
            }
        }
        for (row, value) in values.iter().enumerate() {
            prop_assert_eq!(bytes.get(row), value.as_deref());
            prop_assert_eq!(longs.get(row), value.as_ref().map(|v| v.len() as i64));
            let text = value.as_ref().map(|v| format!("{v:?}"));
            prop_assert_eq!(strings.get(row), text.as_deref());
            let list: Vec<i64> = value.iter().flatten().map(|b| i64::from(*b)).collect();
            prop_assert_eq!(lists.get(row), &list[..]);
        }
        prop_assert_eq!(longs.get(values.len()), None);
        prop_assert_eq!(bytes.get(values.len()), None);
        let is_full = values.iter().all(Option::is_some);
        prop_assert_eq!(longs.all_valid(values.len()).is_some(), is_full);
    }

    #[test]
    fn a_column_takes_memory_by_its_values(rows in prop::collection::btree_set(0..1_000_000_usize, 1..50)) {
        let mut longs = OptionalLongs::default();
        for row in &rows {
            longs.push_at(*row, 1);
        }
        longs.shrink();
        // At most four places and their bits for each value, and a few to begin with.
        prop_assert!(longs.size_bytes() <= (4 * rows.len() + 5) * 8 + (rows.len() / 16 + 1) * 8);
    }
}

#[test]
fn the_last_of_two_values_of_a_row_counts() {
    for first in [0, 3, 900] {
        let (mut longs, mut bytes) = (OptionalLongs::default(), OptionalBytes::default());
        for value in [b"one".as_slice(), b"other"] {
            longs.push_at(first, value.len() as i64);
            bytes.push_at(first, value).unwrap();
        }
        bytes.push_at(first + 1, b"next").unwrap();
        assert_eq!(longs.get(first), Some(5));
        assert_eq!(bytes.get(first), Some(&b"other"[..]));
        assert_eq!(bytes.get(first + 1), Some(&b"next"[..]));
    }
}
