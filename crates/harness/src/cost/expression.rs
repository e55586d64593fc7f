//! The value of a declared cost such as `epochs n D (d + K)`.

/// Evaluates a method's declared cost; `size` gives the value of each name that it knows.
///
/// The grammar is the same as in [`mercer_learning::Cost`]:
/// - sums, differences, products written by juxtaposition, `·` or `*`, quotients, powers and brackets;
/// - `min(a, b)`, `choose(a, b)` and the like;
/// - `given(name, a)`, which is `a` where the name has no value;
/// - after commas, definitions of its own names: `epochs n P, P = 16 d + 768`.
///
/// `None` if the text is no such expression (`"-"`), has a name that nobody knows, or its value is no positive number.
pub(crate) fn evaluate(text: &str, size: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let (cost, own) = parts(text)?;
    // A definition may use those after it.
    let known = |name: &str, from: usize| defined(name, &own, from, size);
    let value = whole(cost, &|name| known(name, 0))?;
    (value.is_finite() && value > 0.0).then_some(value)
}

fn defined(
    name: &str,
    own: &[(&str, &str)],
    from: usize,
    size: &dyn Fn(&str) -> Option<f64>,
) -> Option<f64> {
    match own.iter().skip(from).position(|(defined, _)| *defined == name) {
        Some(at) => {
            let after = from + at + 1;
            whole(own[from + at].1, &|name| defined(name, own, after, size))
        }
        None => size(name),
    }
}

/// The expression, and the names that it defines.
fn parts(text: &str) -> Option<(&str, Vec<(&str, &str)>)> {
    let mut depth = 0_i32;
    let mut pieces = text.split(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    let cost = pieces.next()?;
    let own = pieces.map(|piece| piece.split_once('=').map(|(name, is)| (name.trim(), is)));
    Some((cost, own.collect::<Option<_>>()?))
}

/// The value of a text that is one expression and nothing else.
fn whole(text: &str, size: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let letters: Vec<char> = text.chars().collect();
    let mut parser = Parser { letters: &letters, at: 0, size };
    let value = parser.sum()?;
    parser.skip();
    (parser.at == letters.len()).then_some(value)
}

struct Parser<'a> {
    letters: &'a [char],
    at: usize,
    size: &'a dyn Fn(&str) -> Option<f64>,
}

impl Parser<'_> {
    fn skip(&mut self) {
        while self.letters.get(self.at).is_some_and(|letter| letter.is_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip();
        self.letters.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.power()?;
        loop {
            if self.take('/') {
                value /= self.power()?;
                continue;
            }
            let sign = self.take('·') || self.take('*');
            // Juxtaposition is a product, too.
            let next = self.peek().is_some_and(|next| next == '(' || next.is_alphanumeric());
            if !sign && !next {
                return Some(value);
            }
            value *= self.power()?;
        }
    }

    fn power(&mut self) -> Option<f64> {
        let base = self.atom()?;
        if let Some(exponent) = self.peek().and_then(superscript) {
            self.at += 1;
            return Some(base.powf(exponent));
        }
        if self.take('^') { Some(base.powf(self.atom()?)) } else { Some(base) }
    }

    fn atom(&mut self) -> Option<f64> {
        let first = self.peek()?;
        if self.take('(') {
            let value = self.sum()?;
            return self.take(')').then_some(value);
        }
        let word = |letter: &char| letter.is_alphanumeric() || *letter == '_' || *letter == '.';
        let rest = &self.letters[self.at..];
        let length = rest
            .iter()
            .take_while(|letter| word(letter) && superscript(**letter).is_none())
            .count();
        let text: String = rest[..length].iter().collect();
        self.at += length;
        if first.is_ascii_digit() {
            return text.parse().ok();
        }
        if length == 0 {
            return None;
        }
        if text == "given" && self.take('(') {
            return self.given();
        }
        if matches!(text.as_str(), "min" | "max" | "choose" | "log" | "sqrt") && self.take('(') {
            let mut value = self.sum()?;
            while self.take(',') {
                let other = self.sum()?;
                value = match text.as_str() {
                    "max" => value.max(other),
                    "choose" => choose(value, other),
                    _ => value.min(other),
                };
            }
            value = match text.as_str() {
                "log" => value.max(std::f64::consts::E).ln(),
                "sqrt" => value.sqrt(),
                _ => value,
            };
            return self.take(')').then_some(value);
        }
        (self.size)(&text)
    }

    /// The rest of `given(name, otherwise)`: the value of the name where it has one.
    fn given(&mut self) -> Option<f64> {
        self.skip();
        let rest = &self.letters[self.at..];
        let name: String = rest.iter().take_while(|letter| **letter != ',').collect();
        self.at += name.chars().count();
        let otherwise = if self.take(',') { self.sum()? } else { return None };
        self.take(')').then(|| (self.size)(name.trim()).unwrap_or(otherwise))
    }
}

/// The binomial coefficient of `all` over `some`; infinite where it is beyond all use.
fn choose(all: f64, some: f64) -> f64 {
    let some = some.min(all - some);
    let mut value = 1.0;
    let mut k = 1.0;
    while k <= some && value < 1e18 {
        value *= (all - some + k) / k;
        k += 1.0;
    }
    if value < 1e18 { value } else { f64::INFINITY }
}

const fn superscript(letter: char) -> Option<f64> {
    match letter {
        '²' => Some(2.0),
        '³' => Some(3.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        evaluate(text, &|name| match name {
            "n" => Some(10.0),
            "D" => Some(4.0),
            "d" => Some(3.0),
            "K" => Some(2.0),
            "epochs" => Some(5.0),
            "iterations" | "n_test" | "map.explicit" => Some(1.0),
            "map.implicit" => Some(0.0),
            _ => None,
        })
    }

    #[test]
    fn declared_costs_have_their_value() {
        assert_eq!(value("epochs n D (d + K)"), Some(1000.0));
        assert_eq!(value("n^3/3 + n^2 d"), Some(1000.0 / 3.0 + 300.0));
        assert_eq!(value("n D min(n, D) + min(n, D)^3"), Some(160.0 + 64.0));
        assert_eq!(value("n d + 4 D (d + K)"), Some(110.0));
        assert_eq!(value("n² d + n · iterations"), Some(310.0));
        assert_eq!(value("n_test d ΣM, ΣM = 7"), Some(21.0));
        assert_eq!(value("epochs n (P + p^2), P = 2 d + p, p = 4"), Some(5.0 * 10.0 * 26.0));
        assert_eq!(value("min(n, D) + n, n = 6"), Some(10.0));
        assert_eq!(value("choose(d + 2, 2) + choose(n, 7)"), Some(130.0));
        assert_eq!(value("choose(900 n, 800)"), None);
        assert_eq!(value("map.implicit n^2 + map.explicit n d"), Some(30.0));
        assert_eq!(value("n given(D, 7) given(pairs, 3 d)"), Some(10.0 * 4.0 * 9.0));
        assert_eq!(value("n^2, n = min(n, D)"), Some(16.0));
        assert_eq!(value("1"), Some(1.0));
        assert_eq!(value("n - 4"), Some(6.0));
    }

    #[test]
    fn what_is_no_expression_has_none() {
        for text in [
            "-",
            "",
            "n +",
            "(n",
            "n)",
            "n - n",
            "min(n",
            "given(n",
            "given(pairs)",
            "n Q",
            "n, beyond 3",
            "n P, P = n P",
            "n P, P =",
            "n^2 at most",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
