//! The name that a misspelled one may mean.

/// Longer names are not compared: the time is quadratic.
const NAME_BYTES_MAX: usize = 64;

/// The known name with the fewest different letters, if these are at most a third.
pub(super) fn near_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let (letters, found) = known.map(|known| (strsim::osa_distance(name, known), known)).min()?;
    (letters <= (name.len() / 3).max(1)).then_some(found)
}

/// The question behind an error, if there is such a name.
pub(super) fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    near_name(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_few_different_letters_are_near() {
        let known = ["subscribers", "name", "by"];
        for (name, near) in [
            ("subscriber", Some("subscribers")),
            ("nmae", Some("name")),
            ("colour", None),
            ("yb", Some("by")),
        ] {
            assert_eq!(near_name(name, known.into_iter()), near);
        }
        assert_eq!(near_name(&"n".repeat(65), [&*"n".repeat(65)].into_iter()), None);
        assert_eq!(did_you_mean("nam", known.into_iter()), "; did you mean `name`?");
    }
}
