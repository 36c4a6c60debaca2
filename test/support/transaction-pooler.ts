/**
 * A proxy in front of PostgreSQL that keeps notifications from its clients, as a pooler does that gives each transaction another
 * connection of the server.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { onTestFinished } from "vitest";

/** The type of a message with a notification. @see https://www.postgresql.org/docs/current/protocol-message-formats.html */
const NOTIFICATION = "A".charCodeAt(0);

/** Passes on the messages of a server without TLS, except notifications. */
function withoutNotifications(): Transform {
  let buffered = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      buffered = Buffer.concat([buffered, chunk]);
      // A message has a type of one byte, and a length that counts itself.
      while (buffered.length >= 5) {
        const end = 1 + buffered.readUInt32BE(1);
        if (buffered.length < end) break;
        if (buffered[0] !== NOTIFICATION) this.push(buffered.subarray(0, end));
        buffered = buffered.subarray(end);
      }
      done();
    },
  });
}

/** Starts the proxy, which is closed at the end of the test. @returns the URL of the same database behind it */
export async function transactionPooler(url: string): Promise<string> {
  const direct = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(direct.port), direct.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // The other side is closed too.
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(withoutNotifications()).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  // The answer to a request for TLS is no message.
  return Object.assign(new URL(url), { port: String(port), search: "?sslmode=disable" }).href;
}
