//! Run lengths of bytes and bits (ORC specification, "Byte Run Length Encoding" and "Boolean Run Length Encoding").

use arrow::array::BooleanBufferBuilder;

/// Equal bytes that make a run.
const MIN_RUN: usize = 3;
const MAX_RUN: usize = 130;
/// Bytes that stand for themselves, at most.
const MAX_LITERALS: usize = 128;

/// The runs of bytes.
fn byte_runs(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut literals, mut at) = (0, 0);
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let equal = rest
            .iter()
            .take(MAX_RUN)
            .take_while(|b| Some(*b) == rest.first())
            .count();
        if equal >= MIN_RUN {
            append_literals(bytes.get(literals..at).unwrap_or_default(), &mut out);
            out.push((equal - MIN_RUN) as u8);
            out.extend(rest.first());
            at += equal;
            literals = at;
        } else {
            at += equal;
        }
    }
    append_literals(bytes.get(literals..).unwrap_or_default(), &mut out);
    out
}

fn append_literals(literals: &[u8], out: &mut Vec<u8>) {
    for run in literals.chunks(MAX_LITERALS) {
        // Minus their number.
        out.push((run.len() as u8).wrapping_neg());
        out.extend_from_slice(run);
    }
}

/// The runs of bits, of which the first is a byte's highest.
pub(super) fn bit_runs(bits: &BooleanBufferBuilder) -> Vec<u8> {
    let bytes = bits.len().div_ceil(8);
    let bytes = bits.as_slice().get(..bytes).unwrap_or_default();
    let reversed: Vec<u8> = bytes.iter().map(|byte| byte.reverse_bits()).collect();
    byte_runs(&reversed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's examples: a hundred zeros are [0x61, 0x00], and [0x44, 0x45] are [0xfe, 0x44, 0x45].
    #[test]
    fn examples_of_the_specification() {
        assert_eq!(byte_runs(&[0; 100]), [0x61, 0x00]);
        assert_eq!(byte_runs(&[0x44, 0x45]), [0xfe, 0x44, 0x45]);
        // One true and seven false.
        let mut bits = BooleanBufferBuilder::new(8);
        bits.append(true);
        bits.append_n(7, false);
        assert_eq!(bit_runs(&bits), [0xff, 0x80]);
    }

    #[test]
    fn long_runs_are_cut() {
        assert_eq!(byte_runs(&[7; 133]), [127, 7, 0, 7]);
        let mixed: Vec<u8> = (0..=255).collect();
        let runs = byte_runs(&mixed);
        assert_eq!((runs.len(), runs[0], runs[129]), (258, 0x80, 0x80));
        assert_eq!(byte_runs(&[1, 2, 2, 2, 3, 3]), [0xff, 1, 0, 2, 0xfe, 3, 3]);
        assert!(byte_runs(&[]).is_empty());
    }
}
