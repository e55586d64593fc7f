//! From a spec to trials: refusals, what a cut says, whose settings win.

use crate::bench::{STUDY, all, one_method};
use crate::doubles::METHODS;
use mercer_harness::{HarnessError, Selection, Spec, Trial, TuningSource, plan};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn plan_of(spec: &str, profile: &str, selection: &Selection) -> Result<Vec<Trial>, HarnessError> {
    let spec = Spec::parse(spec, Path::new("test.toml"))?;
    plan(&spec, METHODS, profile, selection, &|_| None)
}

#[test]
fn every_trial_has_a_name_of_its_own() {
    let trials = all(STUDY);
    let names: BTreeSet<String> = trials.iter().map(|trial| trial.key.digest()).collect();
    assert_eq!((trials.len(), names.len()), (24, 24));
    assert!(trials.iter().all(|trial| trial.repeats_of_paper == 4 && trial.complete));
}

#[test]
fn a_selection_takes_what_it_names_and_refuses_strangers() {
    let of = |selection: &Selection| plan_of(STUDY, "paper", selection).map(|t| t.len());
    let tuned = Selection { variants: vec!["tuned".to_owned()], ..Selection::default() };
    let closed = Selection { methods: vec!["closed-mean".to_owned()], ..Selection::default() };
    let twice = Selection { repeats: Some(2), ..Selection::default() };
    assert_eq!((of(&tuned).unwrap(), of(&closed).unwrap(), of(&twice).unwrap()), (12, 8, 12));
    let strange = |name: &str| vec![name.to_owned()];
    for (selection, kind) in [
        (Selection { variants: strange("tunned"), ..Selection::default() }, "variant"),
        (Selection { datasets: strange("irises"), ..Selection::default() }, "dataset"),
        (Selection { methods: strange("closed-men"), ..Selection::default() }, "method"),
    ] {
        let error = of(&selection).unwrap_err().to_string();
        assert!(error.contains(kind) && error.contains("did you mean"), "{error}");
    }
    let error = plan_of(STUDY, "quick", &Selection::default()).unwrap_err().to_string();
    assert!(error.contains("unknown profile `quick`"), "{error}");
}

#[test]
fn a_guest_joins_the_first_variant_with_a_search_of_its_own() {
    let board = STUDY.replace(
        "candidates = 9, rungs = [0.1111111111111111, 0.3333333333333333, 1.0]",
        "candidates = 5, rungs = [1.0]",
    );
    let (head, tuned) = board.split_once("[[variants]]\nname = \"given\"").unwrap();
    let (_, tuned) = tuned.split_once("[[variants]]").unwrap();
    let alone = tuned
        .replace("{ name = \"drifting-mean\" }, ", "")
        .replace(", { name = \"plain-mean\" }", "");
    let spec = format!("{head}[[variants]]{alone}");
    let with = |guests: &[&str], study: &str| {
        let guests = guests.iter().map(|name| (*name).to_owned()).collect();
        let guests = [(study.to_owned(), guests)].into();
        plan_of(&spec, "paper", &Selection { guests, ..Selection::default() })
    };
    let before = with(&[], "test/study").unwrap();
    let after = with(&["drifting-mean", "plain-mean", "closed-mean"], "test/study").unwrap();
    assert_eq!((before.len(), after.len()), (4, 12), "a method that is there joins no second time");
    assert_eq!(before[0].key, after[0].key, "the others are what they were");
    let tuner = |method: &str| {
        let of = |trial: &&Trial| trial.key.method == method;
        match &after.iter().find(of).unwrap().tuning {
            TuningSource::Tuner { tuner, .. } => Some((tuner.candidates, tuner.rungs.clone())),
            TuningSource::None => None,
        }
    };
    assert_eq!(tuner("closed-mean"), Some((5, vec![1.0])));
    assert_eq!(tuner("drifting-mean"), Some((9, vec![1.0 / 3.0, 1.0])), "it is trained in epochs");
    assert_eq!(tuner("plain-mean"), None, "it has nothing to tune");
    assert_eq!(with(&["drifting-mean"], "test/other").unwrap().len(), 4);
    let error = with(&["drifting-men"], "test/study").unwrap_err().to_string();
    assert!(error.contains("did you mean `drifting-mean`"), "{error}");
}

#[test]
fn a_spec_with_a_slip_is_refused_with_its_place() {
    let grid = |folds: &str, axes: &str, methods: &str| {
        format!(
            "[grid]\nfolds = {folds}\naxes = {{ {axes} }}\nmethods = {{ {methods} }}\n[protocol]"
        )
    };
    for (from, to, told) in [
        ("repeats = 4", "repeats = 0", "needs repeats"),
        ("seed = 11", "sede = 11", "sede"),
        ("[protocol]", "[given.letter]\nrate = 1.0\n[protocol]", "`letter` has rules"),
        ("summary = \"as given\"", "summary = \"\"\nsettings = { rte = 1.0 }", "`rte`"),
        ("\"iris\"", "\"no-such-data\"", "no-such-data"),
        ("{ name = \"plain-mean\" }", "{ name = \"plane-mean\" }", "plane-mean"),
        ("kind = \"random\"", "kind = \"randum\"", "randum"),
        ("[protocol]", &grid("1", "rate = [0.1]", "closed-mean = []"), "two folds"),
        ("[protocol]", &grid("2", "rate = []", "drifting-mean = [\"rate\"]"), "every axis"),
        ("[protocol]", &grid("2", "rate = [0.1]", "drifting = [\"rate\"]"), "`drifting`"),
        ("[protocol]", &grid("2", "rate = [0.1]", "drifting-mean = [\"rat\"]"), "`rat`"),
        ("[protocol]", &grid("2", "rate = [0.1]", "drifting-mean = []"), "no method searches"),
        ("[protocol]", "[grid]\nfold = 2\n[protocol]", "`fold`"),
        ("tuner = { candidates", "tuner = { folds = 1, candidates", "two folds, or none"),
    ] {
        let spec = STUDY.replacen(from, to, 1);
        let error = plan_of(&spec, "paper", &Selection::default()).unwrap_err().to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn a_cut_is_part_of_the_key_and_makes_a_trial_incomplete() {
    let cut = format!(
        "{STUDY}\n[profiles.small]\nrepeats = 3\ncut = {{ rows = 60, at_most = {{ epochs = 4 }} }}\n\
         [profiles.small.dataset.iris]\nrepeats = 2\nrows = 80\n"
    );
    let small = plan_of(&cut, "small", &Selection::default()).unwrap();
    assert_eq!(small.len(), 12);
    let whole = all(STUDY);
    for trial in &small {
        assert!(!trial.complete);
        assert_eq!(trial.key.protocol["rows"], 60, "the smaller of the two cuts");
        assert_eq!(trial.protocol.rows, Some(60));
        assert!(whole.iter().all(|other| other.key.digest() != trial.key.digest()));
        if trial.key.method == "drifting-mean" {
            // A whole number stays one.
            assert_eq!(trial.key.settings["epochs"], json!(4));
            assert_eq!(trial.settings.get("epochs"), Some(&json!(4)));
        }
        if let TuningSource::Tuner { key, .. } = &trial.tuning {
            assert_eq!(key.protocol["rows"], 60);
        }
    }
}

#[test]
fn a_variant_of_some_datasets_runs_on_those() {
    let spec = STUDY
        .replace("[\"iris\"]", "[\"iris\", \"wine\"]")
        .replace("summary = \"as given\"", "summary = \"as given\"\ndatasets = [\"wine\"]");
    let trials = plan_of(&spec, "paper", &Selection::default()).unwrap();
    let of = |variant: &str, dataset: &str| {
        trials.iter().filter(|t| t.key.variant == variant && t.key.dataset == dataset).count()
    };
    assert_eq!((of("given", "iris"), of("given", "wine")), (0, 12));
    assert_eq!((of("tuned", "iris"), of("tuned", "wine")), (12, 12));
    let strange = spec.replace("datasets = [\"wine\"]", "datasets = [\"heart\"]");
    let error = plan_of(&strange, "paper", &Selection::default()).unwrap_err().to_string();
    assert!(error.contains("`heart`"), "{error}");
}

/// What a dataset is given may be meant for some methods only.
#[test]
fn given_settings_reach_the_methods_that_they_are_given_to() {
    let spec = STUDY.replacen(
        "[protocol]",
        "given_to = [\"closed-mean\"]\n[given.iris]\nshrink = 0.5\nrate = 0.5\n[protocol]",
        1,
    );
    for trial in all(&spec) {
        let given = trial.anchor.get("shrink").or_else(|| trial.settings.get("shrink"));
        assert_eq!(given.is_some(), trial.key.method == "closed-mean");
        let rate = trial.anchor.get("rate").or_else(|| trial.settings.get("rate"));
        assert_eq!(rate, None);
    }
}

#[test]
fn a_limit_and_the_partner_are_in_the_key() {
    let plain = all(&one_method("", ""));
    let digests = |top: &str| all(&one_method("", top))[0].key.digest();
    let limited = digests("seconds = 3.0");
    assert_ne!(limited, plain[0].key.digest());
    assert_ne!(limited, digests("seconds = 4.0"));
    assert_ne!(digests("bytes = 1000"), plain[0].key.digest());
    assert_ne!(digests("paired_with = \"test/study\""), plain[0].key.digest());
}

/// The nearer wins: the method's settings over the dataset's, the dataset's over the variant's; with a tuner, what the
/// variant fixes stays fixed and the dataset's values are a candidate.
#[test]
fn the_nearer_settings_win() {
    let spec = |tuner: &str, own: &str| {
        format!(
            "artefact = \"test/one\"\nquestion = \"?\"\nseed = 5\nrepeats = 1\ndatasets = [\"iris\"]\n\
             [given.iris]\nepochs = 3\nrate = 0.25\n\
             [[variants]]\nname = \"only\"\nsummary = \"only\"\nsettings = {{ epochs = 7 }}\n{tuner}\n\
             methods = [{{ name = \"drifting-mean\", settings = {{ {own} }} }}]\n"
        )
    };
    let setting = |trial: &Trial, name: &str| trial.settings.get(name).and_then(Value::as_f64);
    let given = &all(&spec("", ""))[0];
    assert_eq!((setting(given, "epochs"), setting(given, "rate")), (Some(3.0), Some(0.25)));
    let own = &all(&spec("", "rate = 0.5"))[0];
    assert_eq!((setting(own, "epochs"), setting(own, "rate")), (Some(3.0), Some(0.5)));
    let tuner = "tuner = { candidates = 9, rungs = [1.0], train = 0.8 }";
    let tuned = &all(&spec(tuner, ""))[0];
    assert_eq!((setting(tuned, "epochs"), setting(tuned, "rate")), (Some(7.0), None));
    assert_eq!(tuned.anchor.get("rate"), Some(&json!(0.25)));
    assert_eq!(tuned.anchor.get("epochs"), Some(&json!(7)));
}

/// What one method's tuner tries first is a fact of its tuning and of nothing else. The other methods and datasets keep
/// their names. A result tuned with another first candidate is not taken for this.
#[test]
fn a_method_may_have_a_first_candidate_of_its_own() {
    let spec = |first: &str| {
        format!(
            "artefact = \"test/one\"\nquestion = \"?\"\nseed = 5\nrepeats = 1\ndatasets = [\"iris\", \"wine\"]\n\
             [given.iris]\nepochs = 3\nrate = 0.25\n\
             [[variants]]\nname = \"only\"\nsummary = \"only\"\n\
             tuner = {{ candidates = 9, rungs = [1.0], train = 0.8 }}\n\
             methods = [{{ name = \"drifting-mean\"{first} }}]\n"
        )
    };
    let digest = |trial: &Trial| match &trial.tuning {
        TuningSource::Tuner { key, .. } => key.digest(),
        TuningSource::None => panic!("not tuned"),
    };
    let (shared, own) = (all(&spec("")), all(&spec(", first.iris = { rate = 0.5 }")));
    assert_eq!((own[0].key.dataset.as_str(), own[1].key.dataset.as_str()), ("iris", "wine"));
    assert_eq!(shared[0].anchor.get("rate"), Some(&json!(0.25)));
    assert_eq!(own[0].anchor.get("rate"), Some(&json!(0.5)));
    assert_eq!(own[0].anchor.get("epochs"), Some(&json!(3)));
    assert_eq!(own[0].settings.get("rate"), None);
    assert_ne!(own[0].key.digest(), shared[0].key.digest());
    assert_ne!(digest(&own[0]), digest(&shared[0]));
    assert_eq!(own[1].key.digest(), shared[1].key.digest());
    assert_eq!(digest(&own[1]), digest(&shared[1]));
    for (slip, named) in
        [("first.iris = { rte = 0.5 }", "`rte`"), ("first.letter = { rate = 0.5 }", "`letter`")]
    {
        let text = spec(&format!(", {slip}"));
        let error = Spec::parse(&text, Path::new("test.toml"))
            .and_then(|spec| {
                plan(&spec, METHODS, "paper", &Selection::default(), &|_| None).map(drop)
            })
            .unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn looks_at_losses_are_other_trials_and_change_nothing_elsewhere() {
    let spec = |more: &str| {
        let both = STUDY.replace("[\"iris\"]", "[\"iris\", \"wine\"]");
        format!("{both}\n[dataset.iris]\nlook_every = 5\n{more}\n[dataset.wine]\nlook_every = 5\n")
    };
    let (without, with) = (all(&spec("")), all(&spec("look_at_losses = true")));
    for (a, b) in without.iter().zip(&with) {
        let asked = a.key.dataset == "iris";
        assert_eq!((a.look_at_losses, b.look_at_losses), (false, asked));
        assert_eq!(a.key.digest() != b.key.digest(), asked, "{}", a.key.dataset);
    }
}

#[test]
fn a_profile_that_does_not_tune_falls_back_on_what_is_given_and_says_so() {
    let spec = format!("{STUDY}\n[profiles.quick]\ntune = false\n");
    let trials = plan_of(&spec, "quick", &Selection::default()).unwrap();
    let tuned: Vec<_> = trials.iter().filter(|trial| trial.key.variant == "tuned").collect();
    for trial in tuned {
        assert_eq!(trial.tuning, TuningSource::None);
        let said = trial.key.tuning.as_str().is_some_and(|said| said.contains("no tuning"));
        // A method without anything to tune falls back on nothing.
        assert_eq!(said, trial.key.method != "plain-mean");
    }
}
