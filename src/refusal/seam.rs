use crate::sentence::Tail;

/// Names the places where an owner refuses, each with its own words (`R2`).
///
/// [`Closing::refuse`](super::Closing::refuse) finds the words; each of them is a promise.
///
/// | seam | it says | as | never applied |
/// |---|---|---|---|
/// | [`Door`](Seam::Door), [`Leaving`](Seam::Leaving) | cannot process the request | turned away | yes |
/// | [`Creation`](Seam::Creation) | cannot create the child | turned away | yes |
/// | [`Mailbox`](Seam::Mailbox), [`Gate`](Seam::Gate), [`Reassert`](Seam::Reassert) | cannot finish the request | accepted | yes |
/// | [`Handler`](Seam::Handler) | cannot finish the request | accepted | no: a handler ran |
///
/// # Examples
///
/// ```
/// use rideout::{Address, Closing, Seam};
///
/// let address: Address = "prices/eur".parse()?;
/// let closing = Closing::new(address.clone());
/// for &seam in Seam::ALL {
///     let refusal = closing.refuse(seam, "WriteRequest");
///     assert!(refusal.promise(&address).is_some());
///     assert_eq!(refusal.is_never_applied(&address), seam != Seam::Handler);
/// }
/// # Ok::<_, rideout::address::InvalidAddress>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seam {
    /// A request came to an owner that refuses.
    Door,
    /// A child was to be created in an owner that is ending; the request is the child's address.
    Creation,
    /// A request came to an owner that leaves with its host, which the refusal says.
    Leaving,
    /// A request that was in the queue is discarded.
    Mailbox,
    /// A request that was parked behind a gate is discarded; the request is told with its gates.
    Gate,
    /// A handler met the end of its own owner.
    Handler,
    /// The answer to a re-assertion was held until there would be a state, and the stream ended first.
    Reassert,
}

impl Seam {
    /// Every seam there is.
    pub const ALL: &'static [Seam] = &[
        Seam::Door,
        Seam::Creation,
        Seam::Leaving,
        Seam::Mailbox,
        Seam::Gate,
        Seam::Handler,
        Seam::Reassert,
    ];

    /// Returns what is said of the request, before its name and after it.
    pub(super) fn words(self) -> (&'static str, Tail) {
        match self {
            Seam::Door | Seam::Leaving => ("cannot process", Tail::AtTheDoor),
            Seam::Creation => ("cannot create", Tail::AtTheDoor),
            Seam::Mailbox | Seam::Gate | Seam::Handler | Seam::Reassert => {
                ("cannot finish", Tail::Accepted)
            }
        }
    }

    /// Returns whether no handler has seen the request (`R32`).
    pub(super) fn is_never_applied(self) -> bool {
        self != Seam::Handler
    }
}
