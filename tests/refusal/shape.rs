//! The shape of a recycling (`R30`): a pure function, and what each sentence must and must not say.

use rideout::diagnosis::Shape;

#[test]
fn a_shape_is_told_from_the_tags_and_who_spoke() {
    assert_eq!(Shape::of(0, false), Shape::RouteOnly);
    assert_eq!(Shape::of(0, true), Shape::Unnamed);
    for spoke in [false, true] {
        assert_eq!(Shape::of(1, spoke), Shape::OneActivation);
        assert_eq!(Shape::of(2, spoke), Shape::Storm(2));
        assert_eq!(Shape::of(usize::MAX, spoke), Shape::Storm(usize::MAX));
    }
}

#[test]
fn each_sentence_says_its_shape_and_no_other() {
    for (shape, must, must_not) in [
        (
            Shape::RouteOnly,
            &["every refusal was by the route"][..],
            &["storm", "same activation"][..],
        ),
        (
            Shape::Unnamed,
            &["without naming an activation"],
            &["storm", "same activation", "route", "disposal"],
        ),
        (
            Shape::OneActivation,
            &["the same activation refused every time", "look at that owner's disposal"],
            &["storm", "distinct", "recycles"],
        ),
        (
            Shape::Storm(7),
            &["a storm of 7 distinct activations", "look at who asks for the recycles"],
            &["never reactivated", "same activation", "disposal"],
        ),
    ] {
        let text = shape.to_string();
        for part in must {
            assert!(text.contains(part), "{text:?} must say {part:?}");
        }
        for part in must_not {
            assert!(!text.contains(part), "{text:?} must not say {part:?}");
        }
    }
}
