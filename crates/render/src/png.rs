//! The one bitmap format that is written: PNG with eight bits of red, green and blue.

use flate2::{Compression, Crc, write::ZlibEncoder};
use std::io::Write;

/// A PNG file of `width` x `height` pixels, three bytes each, rows from the top.
///
/// Rows carry no filter: plots are large plain areas, which deflate well as they are.
pub(crate) fn encode(pixels: &[u8], width: usize, height: usize) -> Vec<u8> {
    assert_eq!(pixels.len(), 3 * width * height, "three bytes a pixel");
    let mut header = Vec::with_capacity(13);
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // depth, true colour, deflate, filter set, not interlaced

    let mut data = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in pixels.chunks_exact(3 * width) {
        data.write_all(&[0]).expect("a vector takes all bytes");
        data.write_all(row).expect("a vector takes all bytes");
    }
    let data = data.finish().expect("a vector takes all bytes");

    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", &header[..]), (b"IDAT", &data), (b"IEND", &[])] {
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(name);
        file.extend(content);
        let mut crc = Crc::new();
        crc.update(name);
        crc.update(content);
        file.extend(crc.sum().to_be_bytes());
    }
    file
}

/// Means over squares of `factor` x `factor` pixels: smooth edges from a larger drawing.
pub(crate) fn shrink(pixels: &[u8], width: usize, height: usize, factor: usize) -> Vec<u8> {
    let area = factor * factor;
    let mut out = Vec::with_capacity(3 * width * height);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..3 {
                let mut sum = area / 2;
                for dy in 0..factor {
                    let row = (y * factor + dy) * width * factor;
                    for dx in 0..factor {
                        sum += usize::from(pixels[3 * (row + x * factor + dx) + channel]);
                    }
                }
                out.push((sum / area) as u8);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    #[test]
    fn a_file_holds_its_header_and_its_pixels() {
        let pixels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let file = encode(&pixels, 2, 2);
        assert_eq!(&file[12..16], b"IHDR");
        assert_eq!(&file[16..24], &[0, 0, 0, 2, 0, 0, 0, 2]);
        // The end chunk is the same in every PNG file, its check sum included.
        assert_eq!(file[file.len() - 8..], [b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]);
        let mut rows = Vec::new();
        ZlibDecoder::new(&file[41..]).read_to_end(&mut rows).unwrap();
        assert_eq!(rows, [0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn shrinking_takes_means() {
        let pixels: Vec<u8> = [0, 10, 20, 31].iter().flat_map(|&v| [v, 100, 255 - v]).collect();
        assert_eq!(shrink(&pixels, 1, 1, 2), [15, 100, 240]);
    }
}
