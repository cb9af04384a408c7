//! Text is read as the rules are worded, and what an owner says reads back (R2–R6).

#![cfg_attr(fuzzing, no_main)]

#[path = "../../tests/refusal/hostile_words.rs"]
mod hostile_words;
#[path = "../../tests/refusal/worded.rs"]
mod worded;

use arbitrary::Unstructured;
use rideout::{
    Activation, Address, Kind, Refusal,
    address::{InvalidAddress, MAX_LENGTH},
    refusal::{Closing, Seam, Speaker, Wording, answered_by},
};

fuzz::target!(check, 3_000);

/// The input is a text that somebody reads, and the choices by which an owner is made that speaks.
fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let text = text.trim_end_matches('\n');
    for asked in addresses(text) {
        read(text, &asked);
    }
    text.lines().for_each(addressed);
    // An error says that there are too few bytes to choose by.
    let _ = minted(&mut Unstructured::new(input));
}

/// Whom one could ask who hears `text`: those that it names, and those that it does not.
fn addresses(text: &str) -> Vec<Address> {
    let named = worded::banners(text).into_iter().map(|(subject, _)| subject);
    let unrouted = text.split(", cannot route to ").skip(1);
    let words = unrouted.flat_map(|rest| rest.split([' ', '.', ',', '~']).take(2));
    let named = named.chain(words).take(8).flat_map(|it| [it, it.split('~').next().unwrap_or(it)]);
    named.chain(["x", "x/child", "AA"]).filter_map(|it| it.parse().ok()).collect()
}

fn read(text: &str, asked: &Address) {
    assert_eq!(answered_by(text, asked), worded::answered_by(text, asked));

    let kinds = [None, Some(Kind::ShuttingDown), Some(Kind::Failed), Some(Kind::Unknown)];
    for kind in kinds {
        let mut refusal = Refusal::from_text(text);
        refusal.kind = kind;
        let promise = refusal.promise(asked);
        assert_eq!(refusal.speaker(asked), worded::speaker(&refusal, asked), "{refusal:?}");
        assert_eq!(promise.map(|it| it.speaker), worded::promise(&refusal, asked), "{refusal:?}");
        assert_eq!(refusal.is_never_applied(asked), worded::never_applied(&refusal, asked));
    }
}

/// R6: what is an address shows itself, and forges nothing.
fn addressed(text: &str) {
    let words = ["Hub ", " is shutting down", "activation #"];
    let path = text.split('~').next().unwrap_or_default();
    match text.parse::<Address>() {
        Ok(address) => {
            assert!(!path.is_empty() && text.len() <= MAX_LENGTH);
            assert!(!text.contains(char::is_control) && !words.iter().any(|it| text.contains(it)));
            assert_eq!((address.as_str(), address.path()), (text, path));
            assert_eq!(address.to_string().parse().as_ref(), Ok(&address));
            assert!(path.parse::<Address>().is_ok(), "a path is an address");
        }
        Err(InvalidAddress::EmptyPath { .. }) => assert!(path.is_empty()),
        Err(InvalidAddress::TooLong { length }) => assert!(length > MAX_LENGTH),
        Err(InvalidAddress::ControlCharacter { found, at }) => {
            assert!(found.is_control() && text[at..].starts_with(found));
        }
        Err(InvalidAddress::Untrimmed { .. }) => {
            assert!(path.trim() != path || text.trim() != text);
        }
        Err(InvalidAddress::Forges { word, .. }) => assert!(format!(" {text}").contains(word)),
        Err(error) => panic!("unheard of: {error}"),
    }
}

/// R2, R6: whatever an owner is called and whatever it says, it is recognised, and nobody else is.
fn minted(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let text = |bytes: &mut Unstructured<'_>| fuzz::text(bytes, &hostile_words::WORDS);
    let Ok(address) = text(bytes)?.parse::<Address>() else {
        return Ok(());
    };
    let named: Option<[u8; 8]> = bytes.arbitrary()?;
    let activation = named.map(|it| format!("{:X}", u64::from_le_bytes(it)));
    let activation: Option<Activation> = activation.map(|it| it.parse().expect("hex digits"));
    let (host_stopping, seam): (bool, _) = (bytes.arbitrary()?, *bytes.choose(Seam::ALL)?);
    let (detail, what) = (text(bytes)?, text(bytes)?);

    let mut closing = Closing::new(address.clone()).detail(detail);
    closing = activation.clone().into_iter().fold(closing, Closing::activation);
    closing = if host_stopping { closing.host_stopping() } else { closing };

    for refusal in [Wording::turned_away(&what), Wording::accepted(&what), seam.into()]
        .map(|it| closing.refuse(it, &what))
    {
        let message = refusal.message.as_str();
        let banner = format!("Hub {address} is shutting down");
        assert!(message.starts_with(&banner) && !message.contains(char::is_control), "{message:?}");
        let banners = worded::banners(message);
        assert!(
            matches!(banners[..], [(subject, _)] if subject == address.as_str()),
            "{message:?}"
        );
        let markers = message.matches("activation #").count();
        assert_eq!(markers, usize::from(activation.is_some()), "{message:?}");

        let relayed = Refusal::from_text(format!("Delivery to '{address}' failed: {message}"));
        for heard in [Refusal::from_text(message), relayed, refusal.clone()] {
            for asked in [address.clone(), address.path().parse().expect("a path is an address")] {
                let promise = heard.promise(&asked).expect("a promise");
                assert_eq!(promise.speaker, Speaker::Owner(activation.clone()), "{message:?}");
            }
        }
        for asked in ["y", "y/child", &format!("{}y", address.path())] {
            if let Ok(asked) = asked.parse()
                && asked != address
                && Address::path(&asked) != address.path()
            {
                assert!(!answered_by(message, &asked), "{message:?} by {asked}");
            }
        }
    }
    Ok(())
}
