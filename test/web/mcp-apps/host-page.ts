/** A host of MCP Apps in a page: calls a tool of a server, and shows its result in the view that the tool is linked to. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  AppBridge,
  PostMessageTransport,
  RESOURCE_MIME_TYPE,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import type { AppHostPage } from "../../support/app-host.ts";

const HOST = { name: "test-host", version: "1.0.0" };
/** The policy that a host applies to a view which names no domains (SEP-1865, "Host Behavior"). */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

let shown: AppBridge | undefined;

const page: AppHostPage = {
  links: [],
  calls: [],
  async show({ url, key, sandbox, tool, args, theme, variables, result, capabilities }) {
    const client = new Client(HOST, {
      capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } } },
    });
    const requestInit = { headers: { "X-API-Key": key } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const { tools } = await client.listTools();
    const { resourceUri } = tools.find(({ name }) => name === tool)!._meta!["ui"] as { resourceUri: string };
    const { contents } = await client.readResource({ uri: resourceUri });
    const html = (contents[0] as { text: string }).text.replace(
      "<head>",
      `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    );

    const frame = document.createElement("iframe");
    frame.title = "View";
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
    frame.style.cssText = "display: block; width: 100%; height: 100px; border: 0";
    const bridge = new AppBridge(null, HOST, capabilities ?? { openLinks: {}, serverTools: {} }, {
      hostContext: { theme, styles: { variables: variables as never } },
    });
    bridge.onopenlink = async ({ url: link }) => {
      page.links.push(link);
      return {};
    };
    bridge.oncalltool = async (call) => {
      page.calls.push(call.name);
      return client.callTool(call);
    };
    bridge.onsizechange = ({ height = 0 }) => {
      frame.style.height = `${height}px`;
    };
    const sandboxReady = new Promise<void>((resolve) => (bridge.onsandboxready = () => resolve()));
    const initialized = new Promise<void>((resolve) => (bridge.oninitialized = () => resolve()));
    document.body.replaceChildren(frame);
    const view = frame.contentWindow!;
    await bridge.connect(new PostMessageTransport(view, view));
    frame.src = sandbox;
    await sandboxReady;
    await bridge.sendSandboxResourceReady({ html });
    await initialized;
    shown = bridge;
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult(
      (result ?? (await client.callTool({ name: tool, arguments: args }))) as never,
    );
  },
  async changeTheme(theme) {
    await shown!.sendHostContextChange({ theme });
  },
};

Object.assign(window, { host: page });
