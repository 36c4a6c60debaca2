/** A small client of the API for tests. */

export interface ApiResponse<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

export interface ApiClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests' expectations check the types of bodies
  <T = any>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse<T>>;
}

/** Calls `base` with a key. It sends a string as it is, and any other body as JSON. */
export function apiClient(base: string, key?: string): ApiClient {
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
    return toApiResponse(response);
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
export async function toApiResponse(response: Response): Promise<ApiResponse<any>> {
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  return {
    status: response.status,
    headers: response.headers,
    body: parseBody(type, text),
  };
}

function parseBody(type: string, text: string): unknown {
  if (!type.includes("ndjson")) return type.includes("json") && text !== "" ? JSON.parse(text) : text;
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as unknown);
}
