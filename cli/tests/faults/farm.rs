//! A farm of real processes: a private Postgres, two coordinators, a proxy, two workers. All of them can be killed,
//! stopped and started again.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Running, Temp, err, out, parforce, postmaster, run, wait_until};
use crate::proxy::Proxy;

/// How long a lease lasts, in seconds: as short as beats of a second allow.
pub(crate) const LEASE_S: u64 = 4;
/// What is hunted: many boards, each proved in microseconds.
const LOT: &str = "5x5";

pub(crate) struct Farm {
    temp: Temp,
    programs: PathBuf,
    database: Option<Running>,
    url: String,
    coordinators: [Option<Child>; 2],
    listen: [SocketAddr; 2],
    pub(crate) proxy: Proxy,
    workers: [Option<Child>; 2],
    /// Batches that the workers say were acknowledged.
    acknowledged: Arc<Mutex<BTreeSet<String>>>,
}

impl Farm {
    pub(crate) fn start() -> Farm {
        let listen = [free_address(), free_address()];
        let mut farm = Farm {
            temp: Temp::new(),
            programs: programs(),
            database: None,
            url: String::new(),
            coordinators: [None, None],
            listen,
            proxy: Proxy::start(listen.to_vec()),
            workers: [None, None],
            acknowledged: Arc::default(),
        };
        farm.start_database();
        farm.start_coordinator(0);
        farm.start_coordinator(1);
        let asked = run(&[
            "hunts",
            "new",
            "--lot",
            LOT,
            "--name",
            "faults",
            "--minutes",
            "0",
            "--database-url",
            &farm.url,
        ]);
        assert!(asked.status.success(), "{}", err(&asked));
        farm.start_worker(0);
        farm.start_worker(1);
        farm
    }

    pub(crate) fn start_database(&mut self) {
        let mut database = Running::start(parforce().args(["database", "--data", &self.temp.text("data")]));
        self.url = database.line();
        assert!(self.url.starts_with("postgres://"), "{}", self.url);
        self.database = Some(database);
    }

    pub(crate) fn start_coordinator(&mut self, which: usize) {
        let lease = LEASE_S.to_string();
        let mut command = self.program("parforce-coordinator");
        command
            .args(["--database-url", &self.url, "--database-connections", "8"])
            .args([
                "--listen",
                &self.listen[which].to_string(),
                "--web",
                &free_address().to_string(),
            ])
            .args([
                "--lease-ttl-s",
                &lease,
                "--beat-interval-s",
                "1",
                "--reap-interval-s",
                "1",
                "--job-target-s",
                "2",
            ])
            .stdout(Stdio::null())
            .stderr(self.log(&format!("coordinator-{which}.log")));
        self.coordinators[which] = Some(command.spawn().unwrap());
        let listen = self.listen[which];
        wait_until("a coordinator listens", || {
            std::net::TcpStream::connect(listen).is_ok()
        });
    }

    pub(crate) fn start_worker(&mut self, which: usize) {
        // The first goes through the proxy, the second straight to the second coordinator.
        let coordinator = [self.proxy.url(), format!("http://{}", self.listen[1])];
        // A disk that is full is a file that must not grow; the signal that comes with it is not what is tried here.
        let mut command = Command::new("sh");
        command
            .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
            .arg(self.programs.join("parforce-worker"))
            .args([
                "--coordinator",
                &coordinator[which],
                "--name",
                &format!("worker-{which}"),
            ])
            .args([
                "--threads",
                "1",
                "--spool-dir",
                &self.temp.text(&format!("spool-{which}")),
            ])
            .args(["--log", "info,worker=debug"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut worker = command.spawn().unwrap();
        let (acknowledged, log) = (
            Arc::clone(&self.acknowledged),
            self.log(&format!("worker-{which}.log")),
        );
        let said = BufReader::new(worker.stderr.take().unwrap());
        thread::spawn(move || listen_to(said, &acknowledged, log));
        self.workers[which] = Some(worker);
    }

    pub(crate) fn spool(&self, which: usize) -> PathBuf {
        self.temp.path(&format!("spool-{which}"))
    }

    pub(crate) fn kill_worker(&mut self, which: usize) {
        end(self.workers[which].take());
    }

    pub(crate) fn kill_coordinator(&mut self, which: usize) {
        end(self.coordinators[which].take());
    }

    /// The postmaster is killed, and with it whoever would have stopped it in order.
    pub(crate) fn kill_database(&mut self) {
        let postmaster = postmaster(&self.temp.path("data")).unwrap();
        kill(Pid::from_raw(postmaster), Signal::SIGKILL).unwrap();
        self.database.take().unwrap().kill();
    }

    /// The server is stopped in order, as for an upgrade.
    pub(crate) fn stop_database(&mut self) {
        let mut database = self.database.take().unwrap();
        database.signal(Signal::SIGINT);
        database.child.wait().unwrap();
    }

    /// Copies the database's files, which nobody writes just now.
    pub(crate) fn back_up(&self) {
        copy(&self.temp.path("data/postgres"), &self.temp.path("backup"));
    }

    /// Puts the copy in the place of the files.
    pub(crate) fn put_back(&self) {
        let cluster = self.temp.path("data/postgres");
        fs::remove_dir_all(&cluster).unwrap();
        copy(&self.temp.path("backup"), &cluster);
        let told = run(&["restored", "--data", &self.temp.text("data")]);
        assert!(told.status.success(), "{}", err(&told));
    }

    /// The ids of all batches that are stored.
    pub(crate) fn batches(&self) -> BTreeSet<String> {
        let rows = self.ask("SELECT batch FROM batches").unwrap();
        rows.into_iter().collect()
    }

    /// Batches that the workers were told are stored.
    pub(crate) fn acknowledged(&self) -> BTreeSet<String> {
        self.acknowledged.lock().unwrap().clone()
    }

    pub(crate) fn signal_worker(&self, which: usize, signal: Signal) {
        signal_to(self.workers[which].as_ref().unwrap().id(), signal);
    }

    pub(crate) fn signal_coordinators(&self, signal: Signal) {
        for coordinator in self.coordinators.iter().flatten() {
            signal_to(coordinator.id(), signal);
        }
    }

    /// Every process of the server.
    pub(crate) fn signal_database(&self, signal: Signal) {
        let cluster = fs::canonicalize(self.temp.path("data")).unwrap().join("postgres");
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            if fs::read_link(entry.path().join("cwd")).is_ok_and(|home| home == cluster) {
                signal_to(pid, signal);
            }
        }
    }

    /// The pid of a worker.
    pub(crate) fn worker_pid(&self, which: usize) -> u32 {
        self.workers[which].as_ref().unwrap().id()
    }

    /// The answer to a query, one line a row; `None`: the database is away.
    pub(crate) fn ask(&self, query: &str) -> Option<Vec<String>> {
        let psql = ["--", "--no-align", "--tuples-only", "--quiet"];
        let mut arguments = vec!["sql", "--database-url", &self.url, query];
        arguments.extend(psql);
        let output = run(&arguments);
        output
            .status
            .success()
            .then(|| out(&output).lines().map(String::from).collect())
    }

    /// The answer to a query for one number; 0 while the database is away.
    pub(crate) fn number(&self, query: &str) -> i64 {
        self.ask(query)
            .and_then(|rows| rows.first().and_then(|row| row.parse().ok()))
            .unwrap_or(0)
    }

    /// Every stored board: `par canonical`.
    pub(crate) fn boards(&self) -> BTreeSet<String> {
        let rows = self.ask("SELECT par || ' ' || canonical FROM boards").unwrap();
        rows.into_iter().collect()
    }

    /// Batches that a worker was told are stored, and that are not there.
    pub(crate) fn n_acknowledged_and_missing(&self) -> usize {
        self.acknowledged().difference(&self.batches()).count()
    }

    pub(crate) fn n_acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Ends the hunt and the workers in order; whatever they had found is handed in.
    pub(crate) fn drain(&mut self) {
        for which in 0..2 {
            self.signal_worker(which, Signal::SIGTERM);
            let code = self.workers[which].take().unwrap().wait().unwrap().code();
            assert_eq!(code, Some(0), "a worker did not leave in order");
        }
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        for (variable, _) in std::env::vars().filter(|(name, _)| name.starts_with("PARFORCE_")) {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null());
        command
    }

    fn log(&self, name: &str) -> File {
        let path = self.temp.path(name);
        OpenOptions::new().create(true).append(true).open(path).unwrap()
    }

    /// The last lines of every log, for a failure.
    pub(crate) fn logs(&self) -> String {
        let names = [
            "coordinator-0.log",
            "coordinator-1.log",
            "worker-0.log",
            "worker-1.log",
        ];
        let tail = |name: &&str| {
            let text = fs::read_to_string(self.temp.path(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(15).collect();
            format!(
                "{name}:\n{}\n",
                lines.into_iter().rev().collect::<Vec<_>>().join("\n")
            )
        };
        names.iter().map(tail).collect()
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.logs());
        }
        for child in self.workers.iter_mut().chain(&mut self.coordinators) {
            end(child.take());
        }
        self.signal_database(Signal::SIGCONT);
    }
}

/// Copies a folder with owners and modes.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(copied.success(), "cannot copy {}", from.display());
}

fn end(child: Option<Child>) {
    if let Some(mut child) = child {
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn signal_to(pid: u32, signal: Signal) {
    // It may have ended by itself, as a server's process for one connection does.
    let _ = kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal);
}

/// Keeps what a worker says, and the ids of the batches that it was told are stored.
fn listen_to(said: impl BufRead, acknowledged: &Mutex<BTreeSet<String>>, mut log: File) {
    for line in said.lines().map_while(Result::ok) {
        let _ = std::io::Write::write_all(&mut log, format!("{line}\n").as_bytes());
        let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) else {
            continue;
        };
        if event["message"] == "boards stored"
            && let Some(batch) = event["batch.id"].as_str()
        {
            acknowledged.lock().unwrap().insert(batch.to_owned());
        }
    }
}

/// An address that was free a moment ago.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The folder of the programs: beside the one under test; built if they are not there.
fn programs() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_parforce")).parent().unwrap();
    let names = ["parforce-coordinator", "parforce-worker"];
    if names.iter().any(|name| !folder.join(name).exists()) {
        let mut build = Command::new(std::env::var("CARGO").unwrap_or("cargo".to_owned()));
        build.args(["build", "--locked", "-p", "coordinator", "-p", "worker", "--bins"]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(
            build.status().unwrap().success(),
            "the other programs cannot be built"
        );
    }
    folder.to_path_buf()
}
