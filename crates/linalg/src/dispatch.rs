use std::sync::OnceLock;

/// The instruction set that the vectorised loops use, chosen once a process.
///
/// The environment variable `MERCER_DISPATCH` (`avx512`, `avx2` or `baseline`) lowers it, to
/// measure what it changes; a level that this machine lacks is never used.
///
/// ```
/// use mercer_linalg::Dispatch;
/// assert_eq!(Dispatch::available()[0], Dispatch::Baseline); // every machine has it
/// assert!(Dispatch::Baseline < Dispatch::Avx2 && Dispatch::Avx2 < Dispatch::Avx512);
/// assert_eq!(Dispatch::Avx512.name(), "avx512"); // MERCER_DISPATCH=avx512
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dispatch {
    /// What every machine of this architecture has; products and sums round separately.
    Baseline,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors with fused multiply-add.
    Avx512,
}

impl Dispatch {
    /// Returns the name that `MERCER_DISPATCH` accepts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Returns the levels that this machine has, lowest first.
    pub fn available() -> Vec<Self> {
        let best = detect();
        [Self::Baseline, Self::Avx2, Self::Avx512].into_iter().filter(|&d| d <= best).collect()
    }
}

/// Returns the level in use. It is the best of this machine, or the lower one that `MERCER_DISPATCH` names.
///
/// An unknown name is ignored. The variable is read once.
///
/// ```
/// use mercer_linalg::{Dispatch, dispatch};
/// assert!(Dispatch::available().contains(&dispatch()));
/// ```
pub fn dispatch() -> Dispatch {
    static LEVEL: OnceLock<Dispatch> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let best = detect();
        match std::env::var("MERCER_DISPATCH").as_deref() {
            Ok("baseline") => Dispatch::Baseline,
            Ok("avx2") => best.min(Dispatch::Avx2),
            _ => best,
        }
    })
}

fn detect() -> Dispatch {
    #[cfg(target_arch = "x86_64")]
    let level = highest(
        is_x86_feature_detected!("avx512f"),
        is_x86_feature_detected!("avx2"),
        is_x86_feature_detected!("fma"),
    );
    #[cfg(not(target_arch = "x86_64"))]
    let level = Dispatch::Baseline;
    level
}

/// The highest level whose features are all there: each needs the fused multiply-add as well.
#[cfg(any(target_arch = "x86_64", test))]
fn highest(avx512: bool, avx2: bool, fma: bool) -> Dispatch {
    match (avx512, avx2) {
        _ if !fma => Dispatch::Baseline,
        (true, _) => Dispatch::Avx512,
        (false, true) => Dispatch::Avx2,
        (false, false) => Dispatch::Baseline,
    }
}

/// Defines a function over slices of a [`crate::Real`] whose body is compiled once for each
/// [`Dispatch`] level and chosen at run time.
///
/// The body must be plain loops that the compiler can vectorise. It never fuses a product with a
/// sum by itself, so every level gives the same bits unless the body calls `mul_add`.
///
/// ```
/// use mercer_linalg::Real;
/// mercer_linalg::dispatched! {
///     /// `y += a x`.
///     fn add_scaled<F: Real>(a: F, x: &[F], y: &mut [F]) {
///         for (y, &x) in y.iter_mut().zip(x) {
///             *y += a * x;
///         }
///     }
/// }
/// let mut y = [1.0f32, 2.0];
/// add_scaled(2.0, &[10.0, 20.0], &mut y);
/// assert_eq!(y, [21.0, 42.0]);
/// ```
#[macro_export]
macro_rules! dispatched {
    ($(#[$meta:meta])* $vis:vis fn $name:ident<$f:ident: $bound:path>(
        $($arg:ident: $ty:ty),* $(,)?
    ) $body:block) => {
        $(#[$meta])*
        $vis fn $name<$f: $bound>($($arg: $ty),*) {
            #[inline(always)]
            fn body<$f: $bound>($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,fma")]
            fn avx512<$f: $bound>($($arg: $ty),*) {
                body($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<$f: $bound>($($arg: $ty),*) {
                body($($arg),*);
            }
            match $crate::dispatch() {
                // SAFETY: this level is only reported on a processor that has the features.
                #[cfg(target_arch = "x86_64")]
                $crate::Dispatch::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::Dispatch::Avx2 => unsafe { avx2($($arg),*) },
                _ => body($($arg),*),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_needs_all_of_its_features() {
        for avx2 in [false, true] {
            assert_eq!(highest(true, avx2, true), Dispatch::Avx512);
            assert_eq!(highest(true, avx2, false), Dispatch::Baseline);
            assert_eq!(highest(false, avx2, false), Dispatch::Baseline);
        }
        assert_eq!(highest(false, true, true), Dispatch::Avx2);
        assert_eq!(highest(false, false, true), Dispatch::Baseline);
    }

    /// The variable is read once, so each value has a process of its own: this test again, which prints the level in
    /// use.
    #[test]
    fn the_variable_lowers_the_level_and_nothing_else() {
        const INNER: &str = "MERCER_DISPATCH_TOLD";
        if std::env::var_os(INNER).is_some() {
            println!("in use: {}", dispatch().name());
            return;
        }
        let under = |value: Option<&str>| {
            let mut test = std::process::Command::new(std::env::current_exe().unwrap());
            test.args([
                "--exact",
                "dispatch::tests::the_variable_lowers_the_level_and_nothing_else",
            ]);
            test.arg("--nocapture").env(INNER, "1").env_remove("MERCER_DISPATCH");
            test.envs(value.map(|value| ("MERCER_DISPATCH", value)));
            let printed = String::from_utf8(test.output().unwrap().stdout).unwrap();
            let told = printed.lines().find_map(|line| line.split_once("in use: "));
            told.unwrap_or_else(|| panic!("{printed}")).1.to_owned()
        };
        let best = detect();
        assert_eq!(under(Some("baseline")), "baseline");
        assert_eq!(under(Some("avx2")), best.min(Dispatch::Avx2).name());
        assert_eq!(under(Some("avx512")), best.name());
        assert_eq!(under(Some("fast")), best.name());
        assert_eq!(under(None), best.name());
    }
}
