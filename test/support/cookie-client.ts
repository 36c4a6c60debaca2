/** An HTTP client that keeps the cookies of several servers, and does not follow redirects. */

export interface CookieClient {
  /** By origin, then by name. */
  cookies: Map<string, Map<string, string>>;
  /** @param form sent as a form body */
  fetch(url: string, form?: string, headers?: Record<string, string>): Promise<Response>;
}

const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

export function cookieClient(): CookieClient {
  const cookies: CookieClient["cookies"] = new Map();
  return {
    cookies,
    async fetch(url, form, headers = {}) {
      const { origin } = new URL(url);
      const own = cookies.get(origin) ?? new Map<string, string>();
      cookies.set(origin, own);
      const response = await fetch(url, {
        method: form === undefined ? "GET" : "POST",
        redirect: "manual",
        headers: {
          "User-Agent": AGENT,
          ...(own.size > 0 && { Cookie: [...own].map(([name, value]) => `${name}=${value}`).join("; ") }),
          ...(form !== undefined && { "Content-Type": "application/x-www-form-urlencoded" }),
          ...headers,
        },
        ...(form !== undefined && { body: form }),
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
        if (value === "" || /max-age=0/i.test(set)) own.delete(name!);
        else own.set(name!, value!);
      }
      return response;
    },
  };
}
