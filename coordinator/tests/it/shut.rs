//! The doors are shut to whoever has no business there: the wrong role, no token, one that ended, a plain connection, a
//! certificate of somebody else.

use std::path::Path;
use std::time::Duration;

use coordinator::config::Config;
use coordinator::doors::{DoorRules, Role, Secret, TlsFiles};
use coordinator::store::{Store, WhichTokens};
use coordinator::{Coordinator, StartError};
use proto::DOOR_TRAILER;
use proto::v1;
use proto::v1::farm_client::FarmClient;
use proto::v1::operator_client::OperatorClient;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};

use crate::fixture::{Farm, hello, space};

/// Long enough for anything that is going to happen; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// An authority and what it signs.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Authority { issuer }
    }

    /// Certificate and key for a name.
    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    fn pem(&self) -> Certificate {
        Certificate::from_pem(self.issuer.pem())
    }

    fn write(&self, dir: &Path, name: &str) {
        let (certificate, key) = self.sign(name);
        std::fs::write(dir.join("server.pem"), certificate).unwrap();
        std::fs::write(dir.join("server.key"), key).unwrap();
        std::fs::write(dir.join("ca.pem"), self.issuer.pem()).unwrap();
    }
}

struct Shut {
    coordinator: Coordinator,
    store: Store,
    authority: Authority,
    dir: TempDir,
}

impl Shut {
    async fn start(pool: &PgPool, asks_for_certificates: bool) -> Shut {
        let usual = DoorRules::default().max_connections;
        Shut::start_with(pool, asks_for_certificates, usual).await
    }

    async fn start_with(pool: &PgPool, asks_for_certificates: bool, max_connections: usize) -> Shut {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        authority.write(dir.path(), "farm.test");
        let farm = Farm::new(pool.clone());
        let path = |name: &str| dir.path().join(name);
        let config = Config {
            doors: DoorRules {
                tls: Some(TlsFiles {
                    certificate: path("server.pem"),
                    key: path("server.key"),
                    client_ca: asks_for_certificates.then(|| path("ca.pem")),
                }),
                asks_always: true,
                // Every call looks anew, so that no test waits for a memory to fade.
                memory: Duration::ZERO,
                probe: None,
                max_connections,
            },
            ..farm.config
        };
        farm.store.migrate().await.unwrap();
        // Without these nobody could come in, and it would not start.
        for role in [Role::Worker, Role::Operator] {
            let nobody = Secret::draw().digest();
            farm.store
                .create_token("nobody", role, &nobody, None)
                .await
                .unwrap();
        }
        let coordinator = Coordinator::start(config, farm.store.clone(), CancellationToken::new())
            .await
            .unwrap();
        Shut {
            coordinator,
            store: farm.store,
            authority,
            dir,
        }
    }

    async fn token(&self, role: Role) -> String {
        let secret = Secret::draw();
        self.store
            .create_token(role.as_str(), role, &secret.digest(), None)
            .await
            .unwrap();
        secret.reveal().to_owned()
    }

    async fn connect(&self, tls: ClientTlsConfig) -> Result<Channel, tonic::transport::Error> {
        let url = format!("https://{}", self.coordinator.local_addr());
        let endpoint = Endpoint::from_shared(url).unwrap().tls_config(tls).unwrap();
        endpoint
            .connect_timeout(PATIENCE)
            .timeout(PATIENCE)
            .connect()
            .await
    }

    fn known(&self) -> ClientTlsConfig {
        ClientTlsConfig::new()
            .ca_certificate(self.authority.pem())
            .domain_name("farm.test")
    }

    async fn channel(&self) -> Channel {
        self.connect(self.known()).await.unwrap()
    }

    async fn stop(self) {
        self.coordinator.shutdown();
        tokio::time::timeout(PATIENCE, self.coordinator.join())
            .await
            .unwrap();
    }
}

fn showing<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", value);
    request
}

async fn say_hello(channel: &Channel, token: &str) -> Result<v1::HelloResponse, Status> {
    let request = showing(v1::HelloRequest::from(hello("w")), token);
    Ok(FarmClient::new(channel.clone())
        .hello(request)
        .await?
        .into_inner())
}

async fn list(channel: &Channel, token: &str) -> Result<usize, Status> {
    let request = showing(v1::ListHuntsRequest {}, token);
    let hunts = OperatorClient::new(channel.clone()).list_hunts(request).await?;
    Ok(hunts.into_inner().hunts.len())
}

async fn create(channel: &Channel, token: &str, name: &str) -> Result<v1::Hunt, Status> {
    let wish = v1::CreateHuntRequest {
        name: name.to_owned(),
        space: Some((&space()).into()),
        strategy: v1::Strategy::Scatter.into(),
        ..v1::CreateHuntRequest::default()
    };
    let answer = OperatorClient::new(channel.clone())
        .create_hunt(showing(wish, token))
        .await?;
    Ok(answer.into_inner())
}

/// The code of a refusal at the door; it says that it is one.
fn shut<T: std::fmt::Debug>(answer: Result<T, Status>) -> Code {
    let status = answer.unwrap_err();
    assert!(status.metadata().contains_key(DOOR_TRAILER), "{status}");
    status.code()
}

#[sqlx::test(migrations = false)]
async fn each_role_opens_its_own_doors_and_no_other(pool: PgPool) {
    let farm = Shut::start(&pool, false).await;
    let channel = farm.channel().await;
    for role in Role::ALL {
        let token = farm.token(role).await;
        let may_search = say_hello(&channel, &token).await;
        assert_eq!(may_search.is_ok(), role == Role::Worker, "{role}");
        let may_ask = list(&channel, &token).await;
        assert_eq!(
            may_ask.is_ok(),
            matches!(role, Role::Analyst | Role::Operator),
            "{role}"
        );
        let may_act = create(&channel, &token, role.as_str()).await;
        assert_eq!(may_act.is_ok(), role == Role::Operator, "{role}");
        for code in [
            may_search.map(|_| ()).err(),
            may_ask.map(|_| ()).err(),
            may_act.map(|_| ()).err(),
        ] {
            assert!(
                code.is_none_or(|status| shut::<()>(Err(status)) == Code::PermissionDenied),
                "{role}"
            );
        }
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn no_token_a_wrong_one_an_expired_one_and_a_revoked_one_open_nothing(pool: PgPool) {
    let farm = Shut::start(&pool, false).await;
    let channel = farm.channel().await;
    let hello_request = v1::HelloRequest::from(hello("w"));
    let without = FarmClient::new(channel.clone()).hello(hello_request).await;
    assert_eq!(shut(without), Code::Unauthenticated);
    for wrong in ["", "parforce_00", "hound"] {
        assert_eq!(shut(say_hello(&channel, wrong).await), Code::Unauthenticated);
    }
    let expired = Secret::draw();
    farm.store
        .create_token("late", Role::Worker, &expired.digest(), Some(-1.0))
        .await
        .unwrap();
    let told = say_hello(&channel, expired.reveal()).await.unwrap_err();
    assert!(told.message().contains("late has expired"), "{told}");
    assert_eq!(shut::<()>(Err(told)), Code::Unauthenticated);

    let token = farm.token(Role::Worker).await;
    assert!(say_hello(&channel, &token).await.is_ok());
    let which = WhichTokens::Name(Role::Worker.as_str().to_owned());
    assert_eq!(farm.store.revoke_tokens(&which).await.unwrap(), 1);
    assert_eq!(shut(say_hello(&channel, &token).await), Code::Unauthenticated);
    let listed = farm.store.list_tokens(true).await.unwrap();
    assert!(
        listed
            .iter()
            .any(|token| token.used_at.is_some() && !token.is_good)
    );
    let kept: bool = sqlx::query_scalar("SELECT bool_or(t::text LIKE '%' || $1 || '%') FROM tokens t")
        .bind(&token)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(!kept, "the token itself is kept nowhere");
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_worker_is_known_by_its_token_and_nobody_takes_its_session_over(pool: PgPool) {
    let farm = Shut::start(&pool, false).await;
    let channel = farm.channel().await;
    let (mine, other) = (farm.token(Role::Worker).await, Secret::draw());
    farm.store
        .create_token("other", Role::Worker, &other.digest(), None)
        .await
        .unwrap();
    let request = v1::HelloRequest::from(hello("w"));
    let mut client = FarmClient::new(channel);
    let first = client
        .hello(showing(request.clone(), &mine))
        .await
        .unwrap()
        .into_inner();
    let again = client
        .hello(showing(request.clone(), &mine))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(first.session, again.session);
    let thief = client.hello(showing(request, other.reveal())).await.unwrap_err();
    assert_eq!(thief.code(), Code::PermissionDenied);
    // Nor does a session that was overheard serve another token: not for a beat, and not to take leave.
    let beat = v1::HeartbeatRequest {
        session: first.session.clone(),
        seq: 1,
        ..v1::HeartbeatRequest::default()
    };
    let leave = v1::GoodbyeRequest {
        session: first.session.clone(),
    };
    for _ in 0..2 {
        let refused = client.heartbeat(showing(beat.clone(), other.reveal())).await;
        assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
        let refused = client.goodbye(showing(leave.clone(), other.reveal())).await;
        assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
        client.heartbeat(showing(beat.clone(), &mine)).await.unwrap();
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn who_does_not_speak_tls_is_not_heard_and_who_is_no_authority_is_not_believed(pool: PgPool) {
    let farm = Shut::start(&pool, false).await;
    for addr in [
        farm.coordinator.local_addr(),
        farm.coordinator.web_addr().unwrap(),
    ] {
        let mut plain = TcpStream::connect(addr).await.unwrap();
        let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        plain.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // An alert of TLS, or the end: no HTTP.
        let _ = tokio::time::timeout(PATIENCE, plain.read_to_end(&mut answer))
            .await
            .unwrap();
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
    let url = format!("http://{}", farm.coordinator.local_addr());
    let plain = Endpoint::from_shared(url)
        .unwrap()
        .connect_timeout(PATIENCE)
        .timeout(PATIENCE)
        .connect()
        .await;
    let token = farm.token(Role::Worker).await;
    if let Ok(channel) = plain {
        assert!(say_hello(&channel, &token).await.is_err());
    }
    // A coordinator that somebody else certifies is none of ours.
    let tls = ClientTlsConfig::new()
        .ca_certificate(Authority::new().pem())
        .domain_name("farm.test");
    assert!(farm.connect(tls).await.is_err());
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn where_certificates_are_asked_for_only_those_of_the_authority_open(pool: PgPool) {
    let farm = Shut::start(&pool, true).await;
    let token = farm.token(Role::Worker).await;
    let with = |authority: &Authority| {
        let (certificate, key) = authority.sign("node-3");
        farm.known().identity(Identity::from_pem(certificate, key))
    };
    let channel = farm.connect(with(&farm.authority)).await.unwrap();
    assert!(say_hello(&channel, &token).await.is_ok());
    // With TLS 1.3 a client hears of its rejection only when it speaks.
    for tls in [farm.known(), with(&Authority::new())] {
        if let Ok(channel) = farm.connect(tls).await {
            let refused = say_hello(&channel, &token).await.unwrap_err();
            assert!(
                !refused.metadata().contains_key(DOOR_TRAILER),
                "it came as far as the door: {refused}"
            );
        }
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn new_certificates_are_taken_without_a_restart_and_broken_ones_are_not(pool: PgPool) {
    let farm = Shut::start(&pool, false).await;
    let token = farm.token(Role::Worker).await;
    let open = farm.channel().await;
    assert!(!farm.coordinator.reload_certificates().unwrap());
    std::fs::write(farm.dir.path().join("server.key"), "nothing").unwrap();
    assert!(farm.coordinator.reload_certificates().is_err());
    assert!(say_hello(&farm.channel().await, &token).await.is_ok());

    let successor = Authority::new();
    successor.write(farm.dir.path(), "farm.test");
    assert!(farm.coordinator.reload_certificates().unwrap());
    assert!(
        farm.connect(farm.known()).await.is_err(),
        "the former authority is the former"
    );
    let tls = ClientTlsConfig::new()
        .ca_certificate(successor.pem())
        .domain_name("farm.test");
    assert!(say_hello(&farm.connect(tls).await.unwrap(), &token).await.is_ok());
    assert!(
        say_hello(&open, &token).await.is_ok(),
        "a connection keeps what it began with"
    );
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn off_loopback_a_coordinator_does_not_start_without_tls_and_tokens(pool: PgPool) {
    let farm = Farm::new(pool);
    let open = Config {
        listen: "0.0.0.0:0".parse().unwrap(),
        ..farm.config.clone()
    };
    let start = async |config: &Config| {
        let started = Coordinator::start(config.clone(), farm.store.clone(), CancellationToken::new()).await;
        let coordinator = started.map_err(|error: StartError| error.to_string())?;
        coordinator.shutdown();
        coordinator.join().await;
        Ok::<_, String>(())
    };
    let told = start(&open).await.unwrap_err();
    assert!(told.contains("--tls-cert") && !told.contains('\n'), "{told}");
    let dir = tempfile::tempdir().unwrap();
    Authority::new().write(dir.path(), "farm.test");
    let mut with_tls = open;
    with_tls.doors.tls = Some(TlsFiles {
        certificate: dir.path().join("server.pem"),
        key: dir.path().join("server.key"),
        client_ca: None,
    });
    let told = start(&with_tls).await.unwrap_err();
    assert!(
        told.contains("parforce token create NAME --role worker"),
        "{told}"
    );
    let digest = Secret::draw().digest();
    farm.store
        .create_token("w", Role::Worker, &digest, None)
        .await
        .unwrap();
    assert_eq!(start(&with_tls).await, Ok(()));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn strangers_take_no_places_from_workers_that_are_known(pool: PgPool) {
    // Of 16 connections eight may be strangers', two of one address.
    let farm = Shut::start_with(&pool, false, 16).await;
    let token = farm.token(Role::Worker).await;
    let addr = farm.coordinator.local_addr();
    let mut workers = Vec::new();
    for idx in 0..6 {
        let mut worker = FarmClient::new(farm.channel().await);
        let hello = v1::HelloRequest::from(hello(&format!("w{idx}")));
        worker.hello(showing(hello, &token)).await.unwrap();
        workers.push(worker);
    }
    // The server takes connections in the order in which they come: when the third has been closed, two stand.
    let mut strangers = Vec::new();
    for _ in 0..3 {
        strangers.push(TcpStream::connect(addr).await.unwrap());
    }
    let closed = tokio::time::timeout(PATIENCE, strangers[2].read(&mut [0])).await;
    assert!(
        matches!(closed.unwrap(), Ok(0) | Err(_)),
        "the third stranger is sent away"
    );
    // Those who are known go on: what they say is heard, and is no message.
    for worker in &mut workers {
        let refused = worker
            .heartbeat(showing(v1::HeartbeatRequest::default(), &token))
            .await;
        assert_eq!(refused.unwrap_err().code(), Code::InvalidArgument);
    }
    farm.stop().await;
}
