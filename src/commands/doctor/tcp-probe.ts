/** Whether something listens at an address. */
import { connect } from "node:net";

/**
 * Connects and hangs up; says nothing.
 * @throws Error that says why it can't be reached
 */
export function probeTcp(url: URL, signal: AbortSignal): Promise<void> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const end = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(new Error(`${url.hostname}:${port} can't be reached: ${error.message}`));
    };
    socket.once("connect", () => end());
    socket.once("error", end);
    signal.addEventListener("abort", () => end(new Error("no answer in time")), { once: true });
  });
}
