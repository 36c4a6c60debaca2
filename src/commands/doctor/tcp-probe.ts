/** Tests whether a TCP port can be reached. */
import { connect } from "node:net";

/**
 * Connects and disconnects without sending anything.
 * @throws Error that says why the port cannot be reached
 */
export function probeTcp(url: URL, signal: AbortSignal): Promise<void> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const end = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(new Error(`${url.hostname}:${port} cannot be reached: ${error.message}`));
    };
    socket.once("connect", () => end());
    socket.once("error", end);
    signal.addEventListener("abort", () => end(new Error("no answer in time")), { once: true });
  });
}
