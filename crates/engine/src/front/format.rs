//! The forms in which what came of a load is printed.

use wire::load::Summary;

use super::{text, ycsb_text};

/// How it is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people
    #[default]
    Text,
    /// The content of summary.json
    Json,
    /// The lines that YCSB prints
    Ycsb,
}

impl Format {
    /// A summary in this form; its last line ends.
    pub fn of(self, summary: &Summary) -> serde_json::Result<String> {
        Ok(match self {
            Self::Text => text::of(summary),
            Self::Json => serde_json::to_string_pretty(summary)? + "\n",
            Self::Ycsb => ycsb_text::of(summary),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::summary;
    use super::*;

    #[test]
    fn json_is_the_summary_itself() {
        let told = Format::Json.of(&summary()).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&told).unwrap(), summary());
        assert!(told.ends_with("}\n"));
    }

    #[test]
    fn each_form_is_another_one() {
        let forms = [Format::Text, Format::Json, Format::Ycsb];
        let told = forms.map(|form| form.of(&summary()).unwrap());
        assert!(told[0].starts_with("fake run"));
        assert!(told[1].starts_with("{\n  \"version\": 1"));
        assert!(told[2].starts_with("[OVERALL], RunTime(ms), 2000\n"));
    }
}
