/** A small client of the API for tests. */

export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

export interface Api {
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of a body it says by expecting it
  <T = any>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
}

/** Calls `base` with a key; a body that is a string goes as it is, anything else as JSON. */
export function api(base: string, key?: string): Api {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(base + path, {
      method,
      redirect: "manual",
      headers: {
        ...(key !== undefined && { "X-API-Key": key }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return answerOf(response);
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
export async function answerOf(response: Response): Promise<Answer<any>> {
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: json && text !== "" ? JSON.parse(text) : text,
  };
}
