// SPDX-License-Identifier: Apache-2.0
// Node: two named functions that stay hot; run with --perf-basic-prof to get a
// perf map. Says "ready" once they are compiled. Usage: node spin.js
'use strict';

function hotSpin(n) {
	let x = 1;
	for (let i = 0; i < n; i++)
		x = (x * 31 + i) % 65521;
	return x;
}

function coolSpin(n) {
	let x = 1;
	for (let i = 0; i < n; i++)
		x = (x * 17 + i) % 65521;
	return x;
}

// Six targets at one call: more than the compiler inlines.
const jobs = [hotSpin, coolSpin, Math.abs, Math.sqrt, Math.floor, Math.ceil];
const sizes = [100000, 10000, 1, 1, 1, 1];
let sink = 0;

function round() {
	for (let i = 0; i < jobs.length; i++)
		sink += jobs[i](sizes[i]);
}

for (let i = 0; i < 300; i++)
	round();
console.log('ready');

function spin() {
	for (let i = 0; i < 50; i++)
		round();
	setImmediate(spin);
}
spin();
