//! Installing PostgreSQL with Debian's package manager, for root on a fresh machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::unistd::Uid;

use super::{OpenError, io};

/// Debian's package creates a cluster of its own and starts it, unless this file says otherwise beforehand.
const CREATE_CLUSTER: &str = "/etc/postgresql-common/createcluster.conf";
/// The same for a machine that has that file already, which then includes this folder.
const CREATE_CLUSTER_EXTRA: &str = "/etc/postgresql-common/createcluster.d/parforce.conf";

/// Are we root on a system with apt?
pub(super) fn is_possible() -> bool {
    Uid::effective().is_root() && Path::new("/usr/bin/apt-get").exists()
}

/// Installs PostgreSQL, saying so; creates and starts no cluster.
pub(super) fn postgres() -> Result<(), OpenError> {
    say!("PostgreSQL is missing: installing it with apt-get (once; no server of its own is started)");
    let setting = if Path::new(CREATE_CLUSTER).exists() {
        CREATE_CLUSTER_EXTRA
    } else {
        CREATE_CLUSTER
    };
    let setting = Path::new(setting);
    let parent = setting.parent().expect("both settings lie in a folder");
    fs::create_dir_all(parent).map_err(io("create", parent))?;
    fs::write(
        setting,
        "# Written by parforce, which needs PostgreSQL's programs only.\ncreate_main_cluster = false\n",
    )
    .map_err(io("write", setting))?;
    let install = [
        "install",
        "-y",
        "--no-install-recommends",
        "-o",
        "Dpkg::Options::=--force-confold",
        "postgresql",
    ];
    if apt_get(&install).is_err() {
        // The lists of a fresh container are empty, those of an old machine name packages that are gone.
        apt_get(&["update"])?;
        apt_get(&install)?;
    }
    Ok(())
}

fn apt_get(arguments: &[&str]) -> Result<(), OpenError> {
    let command = format!("apt-get {}", arguments.join(" "));
    say!("  {command}");
    // Its chatter goes to standard error: standard output is for answers.
    let status = Command::new("apt-get")
        .arg("-qq")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(std::process::Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .map_err(io("run", Path::new("apt-get")))?;
    if status.success() {
        Ok(())
    } else {
        Err(OpenError::Install {
            command,
            status: status.to_string(),
        })
    }
}
