//! `parforce completions`: what a shell needs to complete commands and options.

use std::io::Write;

use clap_complete::Shell;

use super::Outcome;

/// Print the completions of a shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce completions bash > /etc/bash_completion.d/parforce
  parforce completions zsh > \"${fpath[1]}/_parforce\"
  parforce completions fish > ~/.config/fish/completions/parforce.fish")]
pub(crate) struct Arguments {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: clap::Command) -> anyhow::Result<Outcome> {
    // Into memory first: a reader that has gone (`| head`) is no failure of ours, and the generator would panic.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "parforce", &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(Outcome::Done)
}
