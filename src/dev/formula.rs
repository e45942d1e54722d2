//! The formula of the sample organization with its HTML. Without it a development server would start the engine for formulas, which
//! takes 30 ms and 4 MB.

use rules::formulas::{self, Display};

const TEX: &str = r"v = \sqrt{2gh}";
const HTML: &str = include_str!("formula.html");
const STEPS: u32 = 1;

/// Makes the formula known, for texts that are rendered afterwards.
pub fn make_known() {
    formulas::make_known(TEX, Display::Inline, HTML.trim_end(), STEPS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dev::seed::SeedDocument;

    #[test]
    fn html_is_that_of_the_engine() {
        let (html, steps) = formulas::render_with_engine(TEX, Display::Inline).unwrap();
        assert_eq!((&*html, steps), (HTML.trim_end(), STEPS));
    }

    #[test]
    fn sample_has_no_other_formula() {
        let sample = SeedDocument::sample().to_json();
        let formulas: Vec<&str> = sample.split("$$").skip(1).step_by(2).collect();
        assert_eq!(formulas, [TEX.replace('\\', "\\\\")]);
    }
}
