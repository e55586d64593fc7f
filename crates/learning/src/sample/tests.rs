use super::*;
use ndarray::array;

#[test]
fn a_sample_refuses_what_no_learner_can_use() {
    let x = array![[0.0, 1.0], [2.0, f64::NAN]];
    assert!(matches!(
        Sample::classification(x, vec![0, 1], 2),
        Err(LearningError::InputNotFinite { row: 1, column: 1, .. })
    ));
    let x = array![[0.0], [1.0]];
    assert!(matches!(
        Sample::classification(x.clone(), vec![0, 2], 2),
        Err(LearningError::Label { row: 1, label: 2, classes: 2 })
    ));
    assert!(matches!(
        Sample::regression(x.clone(), array![1.0]),
        Err(LearningError::Length { inputs: 2, targets: 1 })
    ));
    assert!(matches!(
        Sample::regression(x, array![1.0, f64::INFINITY]),
        Err(LearningError::TargetNotFinite { row: 1, .. })
    ));
    assert_eq!(
        Sample::regression(Array2::zeros((0, 2)), Array1::zeros(0)),
        Err(LearningError::NoRows)
    );
}

#[test]
fn selection_keeps_order_and_repeats() {
    let sample = Sample::regression(array![[0.0], [1.0], [2.0]], array![0.0, 10.0, 20.0]);
    let picked = sample.unwrap().select(&[2, 0, 2]).unwrap();
    assert_eq!(picked.inputs(), array![[2.0], [0.0], [2.0]]);
    assert_eq!(picked.values().unwrap(), array![20.0, 0.0, 20.0]);
}

#[test]
fn weights_go_with_their_rows() {
    let sample = Sample::classification(array![[0.0], [1.0], [2.0]], vec![0, 1, 2], 3).unwrap();
    let weighted = sample.weighted(&[0.5, 0.0, 4.0]).unwrap();
    let picked = weighted.select(&[1, 0, 1]).unwrap().against_rest(2).unwrap();
    assert_eq!(picked.weights(), Some(array![4.0, 0.5, 4.0].view()));
    assert_eq!((picked.labels().unwrap(), picked.total_weight()), (&[1, 0, 1][..], 8.5));
    let halved = picked.map_inputs(|inputs| *inputs *= 0.5).unwrap();
    assert_eq!(halved.root_weights().unwrap()[0].to_bits(), 2f64.to_bits());
    for bad in [f64::NAN, f64::INFINITY, -1e-300] {
        let refused = halved.clone().weighted(&[1.0, 1.0, bad]);
        assert!(matches!(refused, Err(LearningError::Weight { row: 2, .. })), "{refused:?}");
    }
}

#[test]
fn one_class_is_named() {
    let sample = Sample::classification(array![[0.0], [1.0]], vec![1, 1], 2).unwrap();
    assert_eq!(sample.require_two_classes(), Err(LearningError::OneClass { rows: 2 }));
}
