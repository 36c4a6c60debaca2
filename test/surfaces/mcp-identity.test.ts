/** The name, address and icon with which the server introduces itself. */
import { describe, expect, it } from "vitest";
import type { Json } from "../support/json.ts";
import { testInstance } from "../support/instance.ts";
import {
  ACCEPT_HEADERS,
  INITIALIZE_REQUEST,
  modernRequest,
  openSse,
  postMessage,
} from "../support/raw-mcp.ts";

const BASE_URL = "https://example.com/millrace";
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";
const env = { MILLRACE_BASE_URL: BASE_URL, MILLRACE_MCP_URL: "https://agents.example.com/mcp" };

async function open() {
  const instance = await testInstance();
  const { url } = await instance.mcp({ env });
  return { url, key: { "X-API-Key": (await instance.key()).value, ...ACCEPT_HEADERS } };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function askModern({ url, key }: Opened, method: string): Promise<Json> {
  const { headers, body } = modernRequest(key, method);
  return (await postMessage(`${url}/mcp`, headers, body)).json().result;
}

const INTRODUCTIONS: [string, (opened: Opened) => Promise<Json>][] = [
  [
    "initialize on /mcp",
    async ({ url, key }) =>
      (await postMessage(`${url}/mcp`, key, INITIALIZE_REQUEST)).json().result.serverInfo,
  ],
  [
    "initialize on /sse",
    async ({ url, key }) => {
      const { stream, messages } = await openSse(url, key);
      await postMessage(messages, key, INITIALIZE_REQUEST);
      const [, answer] = await stream.waitFor(/^data: (\{.*"serverInfo".*\})$/m);
      return JSON.parse(answer!).result.serverInfo;
    },
  ],
  ["server/discover", async (opened) => (await askModern(opened, "server/discover"))._meta[SERVER_INFO]],
];

describe("the server introduces itself", () => {
  it.each(INTRODUCTIONS)(
    "with its web interface and an icon that needs no request: %s",
    async (_way, introduce) => {
      const { icons, ...info } = await introduce(await open());
      expect(info).toEqual({
        name: "millrace",
        title: "Millrace",
        version: expect.any(String) as string,
        websiteUrl: BASE_URL,
      });
      expect(icons).toEqual([
        {
          src: expect.stringMatching(/^data:image\/png;base64,[\w+/]+=*$/) as string,
          mimeType: "image/png",
          sizes: ["48x48"],
        },
      ]);
      const png = Buffer.from(icons[0].src.split(",")[1], "base64");
      expect(png.subarray(1, 4).toString()).toBe("PNG");
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([48, 48]);
      expect(png.subarray(-8, -4).toString()).toBe("IEND");
    },
  );

  it("and with each further answer of 2026-07-28 only by name, so that they stay short", async () => {
    const opened = await open();
    for (const method of ["tools/list", "prompts/list"]) {
      const { _meta: meta } = await askModern(opened, method);
      expect(Object.keys(meta[SERVER_INFO])).toEqual(["name", "title", "version"]);
    }
  });
});
