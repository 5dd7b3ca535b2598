// SPDX-License-Identifier: Apache-2.0
// Rust: a trait method and a generic function, their names and lines.
// Usage: rusty MILLISECONDS
use std::time::{Duration, Instant};

// std::hint's came with Rust 1.66, and Debian 12 has 1.63.
#[inline(always)]
fn black_box(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

trait Shape {
    fn grow(&mut self, n: u64) -> u64;
}

struct Square {
    side: u64,
}

impl Shape for Square {
    #[inline(never)]
    fn grow(&mut self, n: u64) -> u64 {
        for i in 0..n {
            self.side = black_box(self.side.wrapping_mul(3).wrapping_add(i)); // grow
        }
        self.side
    }
}

#[inline(never)]
fn total<T: Copy + Into<u64>>(values: &[T]) -> u64 {
    let mut sum = 0u64;
    for v in values {
        sum = black_box(sum ^ (*v).into()); // total
    }
    sum
}

fn main() {
    let milliseconds = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let end = Instant::now() + Duration::from_millis(milliseconds);
    let values = vec![7u32; 20000];
    let mut square = Square { side: 1 };
    let mut sink = 0;
    while Instant::now() < end {
        sink ^= total(&values);
        sink ^= square.grow(20000);
    }
    println!("{}", sink & 1);
}
