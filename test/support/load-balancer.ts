/** A round-robin load balancer without sticky sessions. */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface LoadBalancer {
  url: string;
  /** All requests in order, with their target process and MCP revision. */
  forwarded: { to: number; request: string; revision: string | undefined }[];
}

/** Time between two health checks of a copy, in milliseconds. */
const CHECK_MS = 100;

/** @param checksHealth whether it leaves out copies that are not healthy, as those that drain */
export async function startLoadBalancer(
  copies: readonly string[],
  { checksHealth = false } = {},
): Promise<LoadBalancer> {
  const forwarded: LoadBalancer["forwarded"] = [];
  const healthy = new Set(copies.keys());
  let newest = -1;
  const nextCopy = (): number => {
    do newest = (newest + 1) % copies.length;
    while (healthy.size > 0 && !healthy.has(newest));
    return newest;
  };
  const check = async (copy: number): Promise<void> => {
    const isHealthy = await fetch(`${copies[copy]}/health`).then(
      async (answer) => {
        await answer.text();
        return answer.ok;
      },
      () => false,
    );
    if (isHealthy) healthy.add(copy);
    else healthy.delete(copy);
  };
  const checking = checksHealth
    ? setInterval(() => [...copies.keys()].forEach((copy) => void check(copy)), CHECK_MS)
    : undefined;
  const agent = new Agent({ keepAlive: true });
  // Clients end idle connections: if the server did, a request could meet the end.
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    const to = nextCopy();
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
    clearInterval(checking);
    server.closeAllConnections();
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, forwarded };
}
