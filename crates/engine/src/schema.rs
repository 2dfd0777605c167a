//! `schema`: the JSON Schemas of the border, for `schema/` and its drift check.

use std::path::PathBuf;

/// Arguments of `schema`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Directory to write into.
    #[arg(long)]
    out: PathBuf,
}

/// Write every schema of [`wire::schemas`] as indented JSON.
pub fn write(arguments: &Arguments) -> std::io::Result<()> {
    std::fs::create_dir_all(&arguments.out)?;
    for (name, schema) in wire::schemas() {
        let text = serde_json::to_string_pretty(&schema)?;
        std::fs::write(arguments.out.join(name), text + "\n")?;
    }
    Ok(())
}
