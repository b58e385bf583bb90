//! Cycles of blockers: vehicles each in another's way, so that none of them can ever leave.
//!
//! A set of vehicles is such a cycle exactly if it is a strongly connected component of the graph "is blocked by" with
//! two members or more (nobody stands on its own path, so one vehicle alone is never one).

use crate::bits::Bits;
use crate::blockers::Blockers;

/// The cycles among the pieces `within`, each as the set of its members, ordered by smallest member.
pub fn cycles(blockers: &Blockers, within: Bits) -> Vec<Bits> {
    let mut search = Tarjan::new(blockers, within);
    for piece in within.iter() {
        if search.index[piece].is_none() {
            search.visit(piece);
        }
    }
    search.found.sort_unstable_by_key(|members| members.first());
    search.found
}

/// Tarjan's algorithm, with its recursion kept on a list.
struct Tarjan<'a> {
    blockers: &'a Blockers,
    within: Bits,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    n_indexed: usize,
    stack: Vec<usize>,
    on_stack: Bits,
    found: Vec<Bits>,
}

impl<'a> Tarjan<'a> {
    fn new(blockers: &'a Blockers, within: Bits) -> Self {
        let n = within.iter().last().map_or(0, |largest| largest + 1);
        Self {
            blockers,
            within,
            index: vec![None; n],
            low: vec![0; n],
            n_indexed: 0,
            stack: Vec::new(),
            on_stack: Bits::EMPTY,
            found: Vec::new(),
        }
    }

    fn visit(&mut self, root: usize) {
        let mut open = vec![(root, self.enter(root))];
        while let Some((piece, rest)) = open.last_mut() {
            let piece = *piece;
            let Some(next) = rest.first() else {
                open.pop();
                self.leave(piece);
                if let Some((parent, _)) = open.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[piece]);
                }
                continue;
            };
            rest.remove(next);
            match self.index[next] {
                None => open.push((next, self.enter(next))),
                Some(index) if self.on_stack.contains(next) => self.low[piece] = self.low[piece].min(index),
                Some(_) => {}
            }
        }
    }

    /// Numbers a piece and gives the pieces it points at.
    fn enter(&mut self, piece: usize) -> Bits {
        self.index[piece] = Some(self.n_indexed);
        self.low[piece] = self.n_indexed;
        self.n_indexed += 1;
        self.stack.push(piece);
        self.on_stack.insert(piece);
        self.blockers.of(piece) & self.within
    }

    /// Closes a piece; if it is the root of a component, takes the component off the stack.
    fn leave(&mut self, piece: usize) {
        if self.index[piece] != Some(self.low[piece]) {
            return;
        }
        let mut members = Bits::EMPTY;
        while let Some(member) = self.stack.pop() {
            self.on_stack.remove(member);
            members.insert(member);
            if member == piece {
                break;
            }
        }
        if members.len() > 1 {
            self.found.push(members);
        }
    }
}
