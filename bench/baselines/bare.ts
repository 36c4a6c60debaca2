/** The node:http baseline: it sends the bytes of a file and does nothing else. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const body = readFileSync(process.argv[2]!);

const server = createServer((req, res) => {
  req.resume();
  res.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.byteLength });
  res.end(body);
});
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }));
