//! The program as a process: it starts before its database, and ends where waiting would not help.

use std::process::Stdio;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Lines, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::process::{Child, ChildStderr, Command};

/// Long enough for anything that is going to happen; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_mins(1);

struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl Program {
    fn start(database_url: &str) -> Program {
        let mut child = Command::new(env!("CARGO_BIN_EXE_parforce-coordinator"))
            .args(["--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"])
            .env("PARFORCE_DATABASE_URL", database_url)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Program { child, lines }
    }

    /// Waits for a line that says this.
    async fn until(&mut self, words: &str) -> String {
        let found = async {
            loop {
                let line = self.lines.next_line().await.unwrap();
                let line = line.expect("it ended before it said so");
                if line.contains(words) {
                    return line;
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await;
        found.unwrap_or_else(|_| panic!("it never said: {words}"))
    }

    async fn ended(mut self) -> (Option<i32>, Vec<String>) {
        let ended = async {
            let mut said = Vec::new();
            while let Some(line) = self.lines.next_line().await.unwrap() {
                said.push(line);
            }
            (self.child.wait().await.unwrap().code(), said)
        };
        tokio::time::timeout(PATIENCE, ended)
            .await
            .expect("it never ended")
    }

    async fn terminate(self) -> (Option<i32>, Vec<String>) {
        let id = self.child.id().unwrap().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .await
                .unwrap()
                .success()
        );
        self.ended().await
    }
}

/// The pool's database through a port of this machine, where nobody listens yet.
async fn absent(pool: &PgPool) -> (String, std::net::SocketAddr) {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = port.local_addr().unwrap();
    let options = pool.connect_options();
    let (user, database) = (options.get_username(), options.get_database().unwrap());
    (format!("postgres://{user}:secret@{addr}/{database}"), addr)
}

/// Lets connections at the address through to the pool's server.
async fn appear(addr: std::net::SocketAddr, options: PgConnectOptions) {
    async fn through(mut here: TcpStream, mut there: impl AsyncRead + AsyncWrite + Unpin) {
        // Either side may hang up.
        let _ = copy_bidirectional(&mut here, &mut there).await;
    }
    let listener = TcpListener::bind(addr).await.unwrap();
    tokio::spawn(async move {
        while let Ok((here, _)) = listener.accept().await {
            let port = options.get_port();
            if let Some(socket) = options.get_socket() {
                let socket = socket.join(format!(".s.PGSQL.{port}"));
                tokio::spawn(through(here, UnixStream::connect(socket).await.unwrap()));
            } else {
                let there = TcpStream::connect((options.get_host(), port)).await.unwrap();
                tokio::spawn(through(here, there));
            }
        }
    });
}

#[sqlx::test(migrations = false)]
async fn a_coordinator_waits_for_its_database_and_goes_on_when_it_comes(pool: PgPool) {
    let (url, addr) = absent(&pool).await;
    let mut program = Program::start(&url);
    let told = program.until("waiting for the database").await;
    assert!(told.contains(&addr.to_string()), "{told}");
    assert!(!told.contains("secret"), "{told}");
    appear(addr, pool.connect_options().as_ref().clone()).await;
    program.until("coordinator serves").await;
    assert_eq!(program.terminate().await.0, Some(0));
}

#[sqlx::test(migrations = false)]
async fn a_coordinator_that_waits_ends_when_told_to(pool: PgPool) {
    let mut program = Program::start(&absent(&pool).await.0);
    program.until("waiting for the database").await;
    assert_eq!(program.terminate().await.0, Some(0));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_waiting_cannot_mend_ends_a_coordinator_at_once(pool: PgPool) {
    let (url, addr) = absent(&pool).await;
    appear(addr, pool.connect_options().as_ref().clone()).await;
    // Not a longer name: the server cuts names off at 63 bytes.
    let (server, _) = url.rsplit_once('/').unwrap();
    let (code, said) = Program::start(&format!("{server}/not_there")).ended().await;
    assert_eq!(code, Some(1), "{said:?}");
    assert!(said.len() == 1 && said[0].contains("does not exist"), "{said:?}");
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99999, 'newer', true, '', 0)"
    )
    .execute(&pool)
    .await
    .unwrap();
    let (code, said) = Program::start(&url).ended().await;
    assert_eq!(code, Some(1), "{said:?}");
    assert!(said.len() == 1 && said[0].contains("migration"), "{said:?}");
}
