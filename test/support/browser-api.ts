/** A client that behaves like a browser towards the session endpoints: it keeps its cookie and sends its origin. */
import { type ApiClient, toApiResponse } from "./http.ts";

export interface BrowserApi {
  cookie: string | undefined;
  /** The whole last Set-Cookie header. */
  setCookie: string | undefined;
  request: ApiClient;
}

export function browserApi(url: string, cookie?: string): BrowserApi {
  const browser: BrowserApi = {
    cookie,
    setCookie: undefined,
    async request(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        redirect: "manual",
        headers: {
          "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
          "Sec-Fetch-Site": "same-origin",
          ...(browser.cookie !== undefined && { Cookie: browser.cookie }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const [set] = response.headers.getSetCookie();
      if (set !== undefined) {
        browser.setCookie = set;
        const [pair] = set.split(";");
        browser.cookie = pair!.endsWith("=") ? undefined : pair;
      }
      return toApiResponse(response);
    },
  };
  return browser;
}
