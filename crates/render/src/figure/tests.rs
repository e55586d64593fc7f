use super::*;

#[test]
fn a_turned_map_has_its_left_on_top_and_its_top_on_the_left() {
    let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6].map(|shade| [shade; 3]);
    // d e f above a b c.
    let map = Raster::new(3, (-0.5, -0.5), (2.5, 1.5), [a, b, c, d, e, f]);
    let (x, y) = (Axis::names("", ["l", "m", "r"]), Axis::names("", ["low", "high"]));
    let mut panel = Panel::new(x, y).raster(map);
    panel.turn();
    let turned = panel.raster.as_ref().unwrap();
    assert_eq!((turned.columns, turned.colors.as_slice()), (2, [f, c, e, b, d, a].as_slice()));
    assert_eq!((turned.from, turned.to), ((-1.5, -2.5), (0.5, 0.5)));
    assert_eq!(panel.y.ticks.unwrap()[0], (0.0, "l".to_owned()));
    assert_eq!(panel.x.ticks.unwrap()[1], (-1.0, "high".to_owned()));
}

#[test]
fn little_room_shows_panels_one_by_one_or_a_drawing_of_its_own() {
    let panel =
        || Panel::new(Axis::linear("x"), Axis::linear("y")).series(Series::line("a", [(0.0, 1.0)]));
    let one = Figure::new("f", "F").panel(panel());
    assert!(matches!(one.narrow(), Ok(Narrow::Other(svg)) if svg.contains("width=\"340\"")));
    assert!(matches!(one.clone().compact().narrow(), Ok(Narrow::Same)));
    let three = [panel(), panel()].into_iter().fold(one.columns(2), Figure::panel);
    let Ok(Narrow::Windows(windows, key)) = three.narrow() else { panic!("windows") };
    let [first, second, third] = windows.as_slice() else { panic!("three: {windows:?}") };
    let numbers = |(view, _): &(String, String)| -> Vec<i32> {
        view.split(' ').map(|number| number.parse().unwrap()).collect()
    };
    let (a, b, c) = (numbers(first), numbers(second), numbers(third));
    assert!(a[0] + a[2] <= b[0] && a[1] == b[1] && a[0] == c[0] && a[1] + a[3] <= c[1]);
    assert!(key.len() == 1 && key[0].1 == "a" && key[0].0.starts_with("<svg"));
}
