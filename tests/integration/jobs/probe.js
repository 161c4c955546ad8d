// SPDX-License-Identifier: Apache-2.0
// As probe.py, by what Node.js offers.
const fs = require("fs");
const net = require("net");
const { spawnSync } = require("child_process");

const closed = (fd) => fs.closeSync(fd);
const connect = (address) =>
  new Promise((resolve, reject) => {
    const [host, port] = address.split("@");
    const socket = net.connect(Number(port), host, () => resolve(socket.destroy()));
    socket.on("error", reject);
  });
const run = (path) => {
  const done = spawnSync(path);
  if (done.error) throw done.error;
};
const operations = {
  read: (path) => closed(fs.openSync(path, "r")),
  write: (path) => closed(fs.openSync(path, "r+")),
  create: (path) => closed(fs.openSync(path, "wx")),
  run,
  connect,
  signal: (pid) => process.kill(Number(pid), 0),
};

(async () => {
  for (const operation of process.argv.slice(2)) {
    const [kind, ...rest] = operation.split(":");
    try {
      await operations[kind](rest.join(":"));
      console.log(operation, "ok");
    } catch (error) {
      console.log(operation, error.code);
    }
  }
})();
