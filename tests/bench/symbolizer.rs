// SPDX-License-Identifier: Apache-2.0
// A subject of symbolizer.py: standard containers and templates, for deep inline chains.
use std::collections::*;
use std::fmt::Debug;
fn work<T: Ord + Clone + Debug + std::hash::Hash>(v: &[T]) -> usize {
    let mut b = BTreeMap::new();
    let mut h = HashMap::new();
    let mut s = BTreeSet::new();
    let mut q = BinaryHeap::new();
    let mut d = VecDeque::new();
    for (i, x) in v.iter().enumerate() {
        b.insert(x.clone(), i);
        *h.entry(x.clone()).or_insert(0usize) += i;
        s.insert(x.clone());
        q.push(x.clone());
        d.push_front(x.clone());
    }
    let mut w: Vec<_> = v.to_vec();
    w.sort();
    w.dedup();
    let t = format!("{:?}{:?}{:?}", b, w, s);
    t.len() + h.len() + q.into_sorted_vec().len() + d.len()
}
fn main() {
    let n = std::env::args().count();
    let a: Vec<u64> = (0..1000 * n as u64).map(|x| x * 7919 % 1013).collect();
    let s: Vec<String> = a.iter().map(|x| x.to_string()).collect();
    let p: Vec<(u8, String)> = s.iter().map(|x| (x.len() as u8, x.clone())).collect();
    let o: Vec<Option<i32>> = a.iter().map(|x| Some(*x as i32)).collect();
    let c: Vec<char> = a.iter().map(|x| (b'a' + (*x % 26) as u8) as char).collect();
    let th: Vec<_> = (0..2)
        .map(|k| {
            let a = a.clone();
            std::thread::spawn(move || work(&a[k..]))
        })
        .collect();
    let mut t = work(&a) + work(&s) + work(&p) + work(&o) + work(&c);
    for h in th {
        t += h.join().unwrap();
    }
    println!("{}", t);
}
