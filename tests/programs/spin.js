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

let sink = 0;
for (let i = 0; i < 300; i++)
	sink += hotSpin(100000) + coolSpin(10000);
console.log('ready');

function spin() {
	for (let i = 0; i < 50; i++)
		sink += hotSpin(100000) + coolSpin(10000);
	setImmediate(spin);
}
spin();
