// SPDX-License-Identifier: Apache-2.0
// An executor that starts its commands in the ways that Node.js has.
'use strict';
const assert = require('assert');
const child_process = require('child_process');

process.chdir(process.argv[2]);
assert.strictEqual(child_process.execSync('echo sync').toString(), 'sync\n');
assert.strictEqual(child_process.spawnSync('sh', ['-c', 'exit 4']).status, 4);
let left = 6;
for (let i = 0; i < 6; i++) {
	child_process.exec(`echo ${i}; exit ${i}`, (error, out) => {
		assert.strictEqual(out, `${i}\n`);
		assert.strictEqual(error ? error.code : 0, i);
		if (--left === 0)
			console.log('done');
	});
}
