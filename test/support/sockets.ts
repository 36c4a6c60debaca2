/** Clients on plain sockets, for requests that HTTP libraries don't allow. */
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface SocketClient {
  socket: Socket;
  /** The data received so far. */
  received(): string;
  send(text: string): void;
  /** Resolves once `text` has arrived. */
  waitFor(text: string): Promise<void>;
  /** Resolves when the connection has ended for any reason. */
  ended: Promise<void>;
}

/** Connects to `url`, until the end of the test. */
export async function socketClient(url: string): Promise<SocketClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
  const ended = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    // A reset counts as an end.
    socket.on("error", () => resolve());
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  return {
    socket,
    received: () => received,
    send: (text) => void socket.write(text),
    waitFor: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (received.includes(text)) resolve();
        };
        socket.on("data", look);
        void ended.then(() => reject(new Error(`The connection ended before ${text} came:\n${received}`)));
        look();
      }),
    ended,
  };
}

/** The text of a request. */
export function formatRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): string {
  const all = {
    Host: "localhost",
    ...(body !== "" && {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(body)),
    }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
