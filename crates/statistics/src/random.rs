/// `SplitMix64` (Steele, Lea and Flood 2014): a small stream for resampling.
///
/// Resampling needs equidistribution and a seed, nothing more; the streams of the trials are not
/// drawn from here.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// The same stream after so many numbers.
    pub(crate) fn after(&self, numbers: u64) -> Self {
        Self(self.0.wrapping_add(STEP.wrapping_mul(numbers)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on `0..n`; the bias of the product method is below `n / 2⁶⁴`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Uniform on `(0, 1]`.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / 2f64.powi(53)
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.unit().ln()).sqrt(), self.unit());
        radius * (2.0 * std::f64::consts::PI * angle).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_skips_numbers() {
        let mut rng = SplitMix::seeded(7);
        let mut later = rng.after(3);
        let numbers: Vec<u64> = (0..5).map(|_| rng.next()).collect();
        assert_eq!([later.next(), later.next()], numbers[3..]);
    }

    #[test]
    fn the_smallest_number_has_a_logarithm() {
        // The state whose next number is 0: the mixing maps 0 to 0.
        let mut rng = SplitMix::seeded(0u64.wrapping_sub(0x9e37_79b9_7f4a_7c15));
        assert_eq!(rng.clone().next(), 0);
        assert_eq!(rng.unit(), 2f64.powi(-53));
    }
}
