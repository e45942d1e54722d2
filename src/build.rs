//! Build script: embeds files that the program reads as tables.

#[path = "reference/build.rs"]
mod answers;
#[path = "integrations/incoming/build.rs"]
mod catalog;

fn main() -> std::io::Result<()> {
    catalog::embed()?;
    answers::embed()
}
