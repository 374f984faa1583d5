//! Names that are near an unknown one: what a typo may have meant.

/// How many names are suggested where several may be meant.
const SUGGESTIONS: usize = 5;

/// The name of `among` that is most like `name` without regard to case, when one is near enough to be a typo.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count() / 3 + 1;
    let wanted = name.to_lowercase();
    let scored = among
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&wanted, &candidate.to_lowercase()), candidate));
    scored
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The end of a message about an unknown name: `; did you mean x?`, or nothing when no name is near.
pub(crate) fn did_you_mean<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(name, among);
    near.map(|n| format!("; did you mean {n}?")).unwrap_or_default()
}

/// The few names that are most like `name` without regard to case, nearest first, however far.
pub(crate) fn most_alike(name: &str, among: impl IntoIterator<Item = String>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut ranked: Vec<(usize, String)> = among
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked
        .into_iter()
        .take(SUGGESTIONS)
        .map(|(_, candidate)| candidate)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_typos_are_near() {
        let names = ["region", "item", "qty"];
        assert_eq!(nearest("ITME", names), Some("item"));
        assert_eq!(nearest("regions", names), Some("region"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(did_you_mean("qyt", names), "; did you mean qty?");
        assert_eq!(did_you_mean("colour", names), "");
    }

    #[test]
    fn the_most_alike_come_first() {
        let names = ["region", "item", "qty"].map(str::to_string);
        assert_eq!(most_alike("itme", names)[0], "item");
    }
}
