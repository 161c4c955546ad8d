// SPDX-License-Identifier: Apache-2.0
// What scripts do: files, streams, compression, threads, a child, timers.
const assert = require("assert");
const { once } = require("events");
const { fork, spawnSync } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { pipeline } = require("stream/promises");
const { Worker, isMainThread, parentPort } = require("worker_threads");
const zlib = require("zlib");

async function main() {
  fs.mkdirSync("data/sub", { recursive: true });
  fs.writeFileSync("data/a.json", JSON.stringify({ rows: [1, 2, 3] }));
  assert.deepStrictEqual(JSON.parse(fs.readFileSync("data/a.json")).rows, [1, 2, 3]);
  await pipeline(fs.createReadStream("data/a.json"), zlib.createGzip(), fs.createWriteStream("data/a.gz"));
  assert(zlib.gunzipSync(await fs.promises.readFile("data/a.gz")).includes("rows"));
  fs.renameSync("data/a.gz", "data/sub/b.gz");
  assert.deepStrictEqual(fs.readdirSync("data").sort(), ["a.json", "sub"]);
  fs.writeFileSync(path.join(fs.mkdtempSync(path.join(os.tmpdir(), "x")), "y"), "y");
  assert.strictEqual(crypto.createHash("sha256").update("").digest("hex").slice(0, 8), "e3b0c442");
  fs.writeFileSync("module.mjs", "export const answer = 42;");
  assert.strictEqual((await import(path.resolve("module.mjs"))).answer, 42);

  const worker = new Worker(__filename);
  assert.strictEqual((await once(worker, "message"))[0], 42);
  const node = spawnSync(process.execPath, ["-p", "6 * 7"], { encoding: "utf8" });
  assert.strictEqual(node.stdout, "42\n", node.stderr);
  const child = fork(__filename, ["child"]);
  assert.strictEqual((await once(child, "message"))[0], "hello");
  await new Promise((resolve) => setTimeout(resolve, 10));
  fs.rmSync("data", { recursive: true });
  console.log("fine");
}

if (!isMainThread) parentPort.postMessage(42);
else if (process.argv[2] === "child") process.send("hello", () => process.disconnect());
else main();
