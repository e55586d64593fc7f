use super::*;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Colour {
    Red,
    DarkBlue,
}

parameters! {
    /// Settings of nobody.
    struct Params {
        /// Which one: the method's name says it.
        #[serde(skip)]
        hidden: Option<Colour> = Some(Colour::Red);
        /// A weight of
        /// [`tests::Colour`], `w > 0`.
        weight: Option<f64> = None, Allowed::POSITIVE;
        /// Widths.
        widths: Vec<usize> = vec![3, 4], Allowed::COUNT;
        /// A colour.
        colour: Colour = Colour::DarkBlue;
        /// A colour by name, or a number.
        other: Value = Value::Null => "red, or JSON";
    }
}

#[test]
fn a_declaration_is_the_type_its_defaults_and_its_ranges() {
    let settings = declared::<Params>();
    let told: Vec<(&str, String, String)> =
        settings.iter().map(|s| (s.name, s.default.to_string(), s.allowed())).collect();
    let expected = [
        ("weight", "null", "a number, positive and finite, or null"),
        ("widths", "[3,4]", "[a whole number, at least 1, ...]"),
        ("colour", "\"dark-blue\"", "red, dark-blue"),
        ("other", "null", "red, or JSON"),
    ];
    let expected = expected.map(|(name, default, allowed)| (name, default.into(), allowed.into()));
    assert_eq!(told, expected);
    assert_eq!(settings[0].meaning, "A weight of Colour, w > 0.");
    assert_eq!(Params::default().hidden, Some(Colour::Red));
    let read = |settings: &Settings| {
        let params: Params = settings.parse("nobody")?;
        params.in_range().map(|()| params)
    };
    assert_eq!(read(&Settings::new()).unwrap(), Params::default());
    assert_eq!(read(&Settings::new().with("weight", 2.0)).unwrap().weight, Some(2.0));
    for (name, value) in [("weight", 0.0.into()), ("widths", Value::from(vec![3, 0]))] {
        let refused = read(&Settings::new().with(name, value)).unwrap_err();
        assert!(matches!(refused, LearningError::Setting { name: found, .. } if found == name));
    }
    for name in ["hidden", "weigth"] {
        assert!(read(&Settings::new().with(name, 1)).is_err(), "{name}");
    }
}

#[test]
fn a_range_holds_its_own_ends_or_not() {
    assert!(Allowed::SHARE.holds(1.0) && !Allowed::SHARE.holds(0.0));
    assert!(Allowed::BELOW_ONE.holds(0.0) && !Allowed::BELOW_ONE.holds(1.0));
    for range in [Allowed::POSITIVE, Allowed::NOT_NEGATIVE, Allowed::COUNT, Allowed::SHARE] {
        for bad in range.outside().into_iter().chain([f64::NAN, f64::INFINITY]) {
            assert!(!range.holds(bad), "{} holds {bad}", range.must);
        }
        assert!(range.holds(1.0));
    }
    assert_eq!(Allowed::PAIR.outside(), [0.0]);
}
