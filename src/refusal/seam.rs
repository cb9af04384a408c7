/// Names the places where an owner refuses, each with its own words (`R2`).
///
/// [`Closing::refuse`](super::Closing::refuse) finds the words; each of them is a promise. It is exhaustive,
/// so that whoever walks all places is told by the compiler of a new one. A place of your own has a
/// [`Wording`](super::Wording) of its own.
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
/// use rideout::{Address, refusal::{Closing, Seam}};
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
}
