use rand::Rng;

/// Changes a file in one to eight places.
pub fn mutate(bytes: &mut Vec<u8>, pool: &[Vec<u8>], words: &[&[u8]], rng: &mut impl Rng) {
    for _ in 0..1 << rng.gen_range(0..4) {
        let at = rng.gen_range(0..=bytes.len());
        let inside = at.min(bytes.len().saturating_sub(1));
        match rng.gen_range(0..9) {
            0 if !bytes.is_empty() => bytes[inside] ^= 1 << rng.gen_range(0..8),
            1 if !bytes.is_empty() => bytes[inside] = rng.r#gen(),
            2 if !bytes.is_empty() => {
                bytes[inside] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\n'][rng.gen_range(0..8)];
            }
            3 => bytes.insert(at, rng.r#gen()),
            4 if !bytes.is_empty() => {
                let end = (inside + rng.gen_range(1..16)).min(bytes.len());
                bytes.drain(inside..end);
            }
            5 => bytes.truncate(at),
            6 => {
                // A piece of itself or of another file.
                let other = if rng.r#gen() {
                    bytes.clone()
                } else {
                    pool[rng.gen_range(0..pool.len())].clone()
                };
                let from = rng.gen_range(0..=other.len());
                let to = (from + rng.gen_range(0..64)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            7 if !words.is_empty() => {
                let word = words[rng.gen_range(0..words.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            8 if bytes.len() >= 4 => {
                let at = rng.gen_range(0..=bytes.len() - 4);
                let value: u32 = [0, 1, 255, 65_536, u32::MAX, rng.r#gen()][rng.gen_range(0..6)];
                bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
            }
            _ => {}
        }
        bytes.truncate(1 << 14);
    }
}
