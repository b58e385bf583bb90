//! What can happen to a farm, as a list that is drawn from a seed, written down, and cut short when it fails.
//!
//! Every number in an operation is taken modulo what there is at that moment, so that any list of operations means
//! something and a failing one can be shortened by leaving operations out.

use board::stream::Stream;

/// Honest workers come first, then those that lie.
pub(crate) const N_HONEST: usize = 3;
pub(crate) const N_WORKERS: usize = 4;
pub(crate) const N_COORDINATORS: usize = 2;

/// Whose token each worker shows, where tokens are asked for.
pub(crate) const TOKENS: [&str; N_WORKERS] = ["one", "two", "one", "three"];

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// From now on (the beginning) the doors ask for tokens, and each is one party.
    Tokens,
    /// An operator asks for a hunt, or for one of the same name again.
    Hunt(Wish),
    Extend(u8),
    Pause(u8),
    Resume(u8),
    Cancel(u8),
    Boost(u8, i8),
    /// Every parked job goes back to the queue.
    Requeue,
    /// Boards come in from a file.
    Import,
    /// A worker is told to finish and leave.
    Drain(u8),
    /// A worker makes a call, and the network does this to it.
    Do(u8, Act, Fate),
    /// A worker lies.
    Lie(u8, Lie, Fate),
    /// A request, or an answer, that was under way arrives.
    Request(u8),
    Answer(u8),
    /// A worker is killed; what it spooled stays on its disk.
    Kill(u8),
    /// No call of a worker gets through, until it does again.
    Cut(u8),
    Mend(u8),
    /// A coordinator dies with all answers that are under way from it, and comes back.
    Fall(u8),
    Rise(u8),
    /// So many seconds pass on the database's clock; negative: it is set back.
    Jump(i8),
    /// The database is copied; and the copy, or none yet, is put in its place under coordinators that go on.
    Backup,
    Restore,
    /// A coordinator looks for what nobody reports.
    Reap(u8),
    /// All workers make their next call at once, on all coordinators, while each of these reaps; some calls are torn off
    /// when the coordinator has waited this often.
    Storm(u8),
}

/// What an operator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// So many jobs of random boards.
    Scatter(u8),
    /// So many jobs, mixed.
    Mixed(u8),
    /// Until a board of this par is found.
    UntilPar(u8),
    /// For so many seconds.
    Timed(u8),
    /// Until it is cancelled.
    Endless,
    /// Every board of a small lot; so many ranges of a thousand counted twice.
    Census(u16),
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Whatever a worker in its state does next.
    Next,
    Hello,
    Acquire,
    Beat,
    /// Search a little; what is found is spooled. No call.
    Work,
    Submit,
    Complete,
    Release(Why),
    Goodbye,
}

/// Why an honest worker gives a job back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Drain,
    Error,
    Unsupported,
}

/// What the network does to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Well,
    RequestLost,
    AnswerLost,
    RequestLate,
    AnswerLate,
    /// It arrives now and once more later.
    Twice,
}

/// What a lying worker sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A board with another par, size, minimality, spelling, place in its cluster, or lot.
    Par,
    States,
    Minimal,
    Spelling,
    Beside,
    Lot,
    /// Bytes that are no board.
    Noise,
    /// Messages that break the contract.
    Nonsense,
    /// A call about another worker's lease, under its own session.
    OtherClaim,
    OtherBeat,
    OtherRelease,
    OtherSubmit,
    /// A claim under a token that was not granted yet, or was another's.
    TokenAhead,
    TokenBehind,
    /// Counters beyond all measure, at a claim and at a beat.
    Counters,
    Rate,
    /// The claim of a job it ended, said again with other numbers.
    Rewrite,
    /// A batch of another worker under its id, or its own id with other boards.
    BatchId,
}

const LIES: [Lie; 18] = [
    Lie::Par,
    Lie::States,
    Lie::Minimal,
    Lie::Spelling,
    Lie::Beside,
    Lie::Lot,
    Lie::Noise,
    Lie::Nonsense,
    Lie::OtherClaim,
    Lie::OtherBeat,
    Lie::OtherRelease,
    Lie::OtherSubmit,
    Lie::TokenAhead,
    Lie::TokenBehind,
    Lie::Counters,
    Lie::Rate,
    Lie::Rewrite,
    Lie::BatchId,
];

/// The operations of a seed. A seed divisible by 5 has storms, whose outcome the database's locks decide: the same seed
/// may then take another way. In one divisible by 7 a backup is made and put back. In odd ones the doors ask for tokens.
pub(crate) fn drawn(seed: u64) -> Vec<Op> {
    let mut draws = Stream::new("simulation", seed, 0);
    let n_ops = 20 + draws.index(35);
    let mut ops = vec![Op::Hunt(wish(&mut draws))];
    if seed % 2 == 1 {
        ops.insert(0, Op::Tokens);
    }
    if draws.chance(1, 2) {
        ops.push(Op::Hunt(wish(&mut draws)));
    }
    let is_stormy = seed.is_multiple_of(5);
    while ops.len() < n_ops {
        if seed.is_multiple_of(7) && draws.chance(1, 10) {
            ops.push(if draws.chance(1, 2) {
                Op::Backup
            } else {
                Op::Restore
            });
        }
        ops.push(if is_stormy && draws.chance(1, 4) {
            Op::Storm(small(&mut draws, 40))
        } else {
            one(&mut draws)
        });
    }
    ops
}

fn one(draws: &mut Stream) -> Op {
    let who = small(draws, u32::try_from(N_WORKERS).expect("few"));
    let n = small(draws, 250);
    match draws.below(100) {
        0..50 => Op::Do(who, Act::Next, fate(draws)),
        50..57 => Op::Do(who, Act::Beat, fate(draws)),
        57..60 => Op::Do(who, Act::Acquire, fate(draws)),
        60..63 => Op::Do(who, act(draws), fate(draws)),
        63..69 => Op::Request(n),
        69..73 => Op::Answer(n),
        73..76 => Op::Kill(n),
        76..78 => Op::Cut(n),
        78..80 => Op::Mend(n),
        80..82 => Op::Fall(n),
        82..84 => Op::Rise(n),
        84..87 => Op::Jump([61, 61, 30, 20, 100, -30, -100][draws.index(7)]),
        87..91 => Op::Reap(n),
        91..96 => Op::Lie(n, LIES[draws.index(LIES.len())], fate(draws)),
        _ => by_operator(draws, n),
    }
}

fn act(draws: &mut Stream) -> Act {
    match draws.below(8) {
        0 => Act::Hello,
        1 => Act::Work,
        2 => Act::Submit,
        3 => Act::Complete,
        4 => Act::Release(Why::Drain),
        5 => Act::Release(Why::Error),
        6 => Act::Release(Why::Unsupported),
        _ => Act::Goodbye,
    }
}

fn by_operator(draws: &mut Stream, n: u8) -> Op {
    match draws.below(16) {
        0..3 => Op::Hunt(wish(draws)),
        3..5 => Op::Extend(n),
        5..7 => Op::Pause(n),
        7..9 => Op::Resume(n),
        9..11 => Op::Cancel(n),
        11 => Op::Boost(n, [-1, 0, 1][draws.index(3)]),
        12 => Op::Requeue,
        13 => Op::Drain(n),
        _ => Op::Import,
    }
}

fn wish(draws: &mut Stream) -> Wish {
    match draws.below(12) {
        0..3 => Wish::Scatter(1 + small(draws, 3)),
        3..6 => Wish::Mixed(1 + small(draws, 4)),
        6 => Wish::UntilPar(3 + small(draws, 6)),
        7 => Wish::Timed(30 + small(draws, 90)),
        8 => Wish::Endless,
        9 => Wish::Census(0),
        10 => Wish::Census(300),
        _ => Wish::Census(1_000),
    }
}

fn fate(draws: &mut Stream) -> Fate {
    match draws.below(20) {
        0..13 => Fate::Well,
        13 => Fate::RequestLost,
        14..16 => Fate::AnswerLost,
        16 => Fate::RequestLate,
        17 => Fate::AnswerLate,
        _ => Fate::Twice,
    }
}

fn small(draws: &mut Stream, n: u32) -> u8 {
    u8::try_from(draws.below(n)).expect("numbers of operations are small")
}
