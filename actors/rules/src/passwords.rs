//! Password strength (docs/api/conventions.md#limits).

/// Shortest password, in code points.
pub const PASSWORD_LENGTH_MIN: usize = 6;

/// Longest password, in code points.
pub const PASSWORD_LENGTH_MAX: usize = 100;

/// Minimum number of guesses of an attacker, as estimated by `zxcvbn`.
const PASSWORD_GUESSES_MIN: u64 = 10_000;

/// Whether a password is strong enough: of permitted length, and hard to guess even with `known` (address and name of its
/// owner). Takes about a millisecond.
pub fn is_strong_password(password: &str, known: &[&str]) -> bool {
    let length = password.chars().count();
    (PASSWORD_LENGTH_MIN..=PASSWORD_LENGTH_MAX).contains(&length)
        && zxcvbn::zxcvbn(password, known).guesses() >= PASSWORD_GUESSES_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessable_passwords_are_refused() {
        let known = ["hamlet@zulip.com", "King Hamlet"];
        for weak in ["", "xy7!k", "password", "123456", "aaaaaaaaaa", "qwerty", "hamlet@zulip.com"] {
            assert!(!is_strong_password(weak, &known), "{weak}");
        }
        assert!(!is_strong_password(&"correct horse ".repeat(8), &known), "longer than 100");
        for strong in ["correct horse battery", "n0t 2B guessed", "Elsinore-1603-ghost"] {
            assert!(is_strong_password(strong, &known), "{strong}");
        }
    }
}
