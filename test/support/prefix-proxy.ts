/** A reverse proxy below whose path `/millrace` both servers are, as docs/operations.md describes it. */
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export const PREFIX = "/millrace";

export interface PrefixProxy {
  /** The public URL of the web server, and of the MCP server without the path of a transport. */
  url: string;
  /** The paths of all requests. */
  paths: string[];
  /** Where it passes requests on to: the URLs of the servers, set after their start; until then it answers 502. */
  targets: { web: string; mcp: string };
}

/** @param strips whether the servers get the paths without the prefix, as from `proxy_pass http://…/;` of nginx */
export async function prefixProxy({ strips }: { strips: boolean }): Promise<PrefixProxy> {
  const server = createServer((req, res) => {
    proxy.paths.push(`${req.method} ${req.url}`);
    const target = targetOf(req, proxy.targets);
    if (target === undefined) {
      res.writeHead(404, { "Content-Type": "text/plain" }).end("Another application of this host.");
      return;
    }
    if (target === "") {
      res.writeHead(502).end();
      return;
    }
    const path = strips && req.url!.startsWith(PREFIX) ? req.url!.slice(PREFIX.length) : req.url!;
    const { hostname, port } = new URL(target);
    const onward = request({ hostname, port, method: req.method, path, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      // Sends the headers of a stream before its first event.
      res.flushHeaders();
      answer.pipe(res);
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const proxy: PrefixProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`,
    paths: [],
    targets: { web: "", mcp: "" },
  };
  return proxy;
}

const MCP = new RegExp(
  `^(?:${PREFIX}/(?:mcp|sse|messages)|/\\.well-known/oauth-protected-resource${PREFIX}/[a-z]+)(?:\\?|$)`,
);
const WEB = new RegExp(`^(?:${PREFIX}/|/\\.well-known/oauth-authorization-server${PREFIX}$)`);

const targetOf = ({ url = "" }: IncomingMessage, { web, mcp }: PrefixProxy["targets"]): string | undefined =>
  MCP.test(url) ? mcp : WEB.test(url) ? web : undefined;
