//! Packing of weighted items into bins of about one weight (Java: `BinPacking`).
//!
//! Items keep their order inside a bin, and only the last few bins are looked at for each item, so neighbours
//! mostly stay together.

use std::collections::VecDeque;

use crate::error::{Error, Result};

/// Which bin is closed when more are open than are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseFirst {
    /// The one opened first.
    Oldest,
    /// The heaviest; of equal ones the one opened first.
    Heaviest,
}

/// How to pack.
#[derive(Debug, Clone, Copy)]
pub struct BinPacking {
    /// The weight no bin passes, unless a single item does.
    pub target_weight: u64,
    /// How many bins are open at a time; at least 1.
    pub lookback: usize,
    /// Which of them is closed first.
    pub close_first: CloseFirst,
    /// The most items in a bin.
    pub max_items: usize,
}

struct Bin<T> {
    items: Vec<T>,
    weight: u64,
}

impl BinPacking {
    /// Packing without a limit on the number of items.
    ///
    /// # Errors
    /// `InvalidInput` when `lookback` is 0.
    pub fn new(target_weight: u64, lookback: usize, close_first: CloseFirst) -> Result<Self> {
        if lookback == 0 {
            return Err(Error::invalid("bin packing must look back at least one bin"));
        }
        Ok(BinPacking {
            target_weight,
            lookback,
            close_first,
            max_items: usize::MAX,
        })
    }

    /// Packs from the front: the last bin is the one that may stay small.
    pub fn pack<T>(&self, items: impl IntoIterator<Item = T>, weight: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
        let mut open: VecDeque<Bin<T>> = VecDeque::new();
        let mut closed = Vec::new();
        for item in items {
            let weight = weight(&item);
            let has_room = |bin: &&mut Bin<T>| {
                bin.weight.saturating_add(weight) <= self.target_weight && bin.items.len() < self.max_items
            };
            if let Some(bin) = open.iter_mut().find(has_room) {
                bin.weight = bin.weight.saturating_add(weight);
                bin.items.push(item);
                continue;
            }
            open.push_back(Bin {
                items: vec![item],
                weight,
            });
            if open.len() > self.lookback
                && let Some(bin) = self.close(&mut open)
            {
                closed.push(bin.items);
            }
        }
        closed.extend(open.into_iter().map(|bin| bin.items));
        closed
    }

    /// Packs from the end, keeping the order of items and bins: the first bin is the one that may stay small.
    pub fn pack_end<T>(&self, items: Vec<T>, weight: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
        let mut bins = self.pack(items.into_iter().rev(), weight);
        bins.reverse();
        bins.iter_mut().for_each(|bin| bin.reverse());
        bins
    }

    fn close<T>(&self, open: &mut VecDeque<Bin<T>>) -> Option<Bin<T>> {
        let mut chosen = 0;
        if self.close_first == CloseFirst::Heaviest {
            let mut heaviest = 0;
            for (i, bin) in open.iter().enumerate() {
                if bin.weight > heaviest {
                    (chosen, heaviest) = (i, bin.weight);
                }
            }
        }
        open.remove(chosen)
    }
}

#[cfg(test)]
mod tests {
    //! Expected bins were worked out by hand from the rules of Java's `BinPacking`.

    use super::*;

    fn pack(items: &[u64], target: u64, lookback: usize, close_first: CloseFirst) -> Vec<Vec<u64>> {
        let packing = BinPacking::new(target, lookback, close_first).unwrap();
        packing.pack(items.iter().copied(), |w| *w)
    }

    fn pack_end(items: &[u64], target: u64, lookback: usize) -> Vec<Vec<u64>> {
        let packing = BinPacking::new(target, lookback, CloseFirst::Oldest).unwrap();
        packing.pack_end(items.to_vec(), |w| *w)
    }

    #[test]
    fn an_item_goes_to_the_first_open_bin_with_room() {
        let items = [1, 2, 3, 4, 5];
        assert_eq!(
            pack(&items, 3, 100, CloseFirst::Oldest),
            [vec![1, 2], vec![3], vec![4], vec![5]]
        );
        assert_eq!(pack(&items, 9, 100, CloseFirst::Oldest), [vec![1, 2, 3], vec![4, 5]]);
        assert_eq!(
            pack(&[6, 3, 6, 3], 9, 100, CloseFirst::Oldest),
            [vec![6, 3], vec![6, 3]]
        );
    }

    #[test]
    fn bins_beyond_the_lookback_are_closed() {
        let items = [6, 2, 6, 2, 6, 2];
        assert_eq!(pack(&items, 12, 9, CloseFirst::Oldest), [vec![6, 2, 2, 2], vec![6, 6]]);
        assert_eq!(
            pack(&items, 10, 9, CloseFirst::Oldest),
            [vec![6, 2, 2], vec![6, 2], vec![6]]
        );
        assert_eq!(
            pack(&items, 10, 1, CloseFirst::Oldest),
            [vec![6, 2], vec![6, 2], vec![6, 2]]
        );
    }

    #[test]
    fn the_heaviest_bin_may_be_closed_first() {
        let items = [5, 9, 8, 3];
        assert_eq!(
            pack(&items, 10, 2, CloseFirst::Oldest),
            [vec![5], vec![9], vec![8], vec![3]]
        );
        assert_eq!(
            pack(&items, 10, 2, CloseFirst::Heaviest),
            [vec![9], vec![5, 3], vec![8]]
        );
        // Of equal weights the one opened first.
        assert_eq!(
            pack(&[7, 7, 9, 3], 10, 1, CloseFirst::Heaviest),
            [vec![7], vec![9], vec![7, 3]]
        );
    }

    #[test]
    fn packing_from_the_end_leaves_the_first_bin_small() {
        assert_eq!(pack_end(&[1, 2, 3, 4, 5], 7, 1), [vec![1, 2], vec![3, 4], vec![5]]);
        assert_eq!(pack_end(&[1, 2, 3, 4, 5], 14, 1), [vec![1], vec![2, 3, 4, 5]]);
        assert_eq!(
            pack_end(&[1, 2, 3, 4, 5], 4, 100),
            [vec![2], vec![1, 3], vec![4], vec![5]]
        );
    }

    #[test]
    fn bins_hold_no_more_items_than_allowed_and_weights_do_not_overflow() {
        let mut packing = BinPacking::new(u64::MAX, 10, CloseFirst::Oldest).unwrap();
        packing.max_items = 2;
        assert_eq!(packing.pack([1u64, 1, 1], |w| *w), [vec![1, 1], vec![1]]);
        packing.max_items = usize::MAX;
        assert_eq!(packing.pack([u64::MAX, u64::MAX], |w| *w).len(), 1);
        assert!(BinPacking::new(1, 0, CloseFirst::Oldest).is_err());
    }
}
