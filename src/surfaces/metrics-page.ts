/** `GET /metrics`, on a port of its own. It needs no key: access is limited by who can reach the port. */
import type { RequestListener, ServerResponse } from "node:http";
import { AppError, toAppError } from "../core/errors.ts";
import { requestIdOf } from "../core/ids.ts";
import { sendProblem } from "./http-server.ts";

interface Page {
  contentType: string;
  text: string;
}

/**
 * @param read creates the page; concurrent requests share it
 * @param onError called when `read` fails
 */
export function metricsPage(read: () => Promise<Page>, onError: (error: unknown) => void): RequestListener {
  let reading: Promise<Page> | undefined;

  async function answer(method: string, path: string, res: ServerResponse): Promise<void> {
    if (path !== "/metrics") throw new AppError("route_not_found", "There is only /metrics on this port.");
    if (method !== "GET" && method !== "HEAD") {
      throw new AppError("method_not_allowed", `${method} is not allowed here. Use GET.`, {
        headers: { Allow: "GET, HEAD" },
      });
    }
    reading ??= read().finally(() => (reading = undefined));
    const { contentType, text } = await reading;
    res.writeHead(200, {
      "Content-Type": contentType,
      "Content-Length": Buffer.byteLength(text),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    });
    res.end(text);
  }

  return ({ method = "", url = "", headers }, res) => {
    answer(method, url.split("?")[0]!, res).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      if (error.code === "internal") onError(error.cause);
      sendProblem(res, error, requestIdOf(headers["x-request-id"]));
    });
  };
}
