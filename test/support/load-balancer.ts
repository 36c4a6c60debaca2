/** A round-robin load balancer without sticky sessions. */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface LoadBalancer {
  url: string;
  /** All requests in order, with their target process and MCP revision. */
  forwarded: { to: number; request: string; revision: string | undefined }[];
}

export async function startLoadBalancer(copies: readonly string[]): Promise<LoadBalancer> {
  const forwarded: LoadBalancer["forwarded"] = [];
  const agent = new Agent({ keepAlive: true });
  const server = createServer((req, res) => {
    const to = forwarded.length % copies.length;
    const revision = req.headers["mcp-protocol-version"];
    forwarded.push({
      to,
      request: `${req.method} ${req.url?.split("?")[0]}`,
      revision: revision?.toString(),
    });
    const passedOn = request(
      new URL(req.url!, copies[to]),
      { method: req.method!, headers: req.headers, agent },
      (answer) => {
        res.writeHead(answer.statusCode!, answer.headers);
        res.flushHeaders();
        answer.pipe(res);
        // A response that the target breaks off must not look complete.
        answer.once("aborted", () => res.destroy());
      },
    );
    passedOn.once("error", () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    res.once("close", () => passedOn.destroy());
    req.pipe(passedOn);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, forwarded };
}
