/** Generated from src/web/messages/en/connect.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Connect an agent";
export const about = ({ signIn }: { signIn: "no" | "yes" }): string =>
  `Agents find, write, check and run workflows over MCP. Scripts do the same over REST. ${(signIn === "yes" ? "They send an API key, or connect by URL alone." : "Both send an API key.")}`;
export const createKeyTitle = "Create an API key";
export const createKey = "Create API key";
export const orReplace = ({ placeholder, link }: { placeholder: ReactNode; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Or replace ", placeholder, " with a key that you have. ", link("Your keys"));
export const newKeyShown = "The snippets below contain the new key. You won't see it again after you leave this page.";
export const configureTitle = "Configure the client";
export const checkTitle = "Check the connection";
export const promptTitle = "Try a prompt";
export const forExample = "For example:";
export const prompt = "List the databases and models that Millrace can use. Then write a workflow that sums up last week's revenue by region, check it and run it.";
export const examplePrompt = "example prompt";
export const promptHelp = ({ name, link }: { name: ReactNode; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Clients with prompts or skills can also use the prompt ", name, ", or this ", link("skill"), ".");
export const scriptTitle = "Or use a script";
export const curlCommand = "curl command";
export const apiReferenceHelp = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("The ", link("API reference"), " describes every operation, and lets you try it.");
export const byUrl = "By URL alone";
export const byUrlHelp = "Claude on the web, ChatGPT and other hosted clients can't send an API key. Add this URL there as a connector or MCP server. Your client then opens a page where you sign in and choose what it can do. Programs that support OAuth can do the same.";
export const urlForClients = "URL for clients that sign in";
export const reach = ({ address, link }: { address: "local" | "public"; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich((address === "public" ? "Hosted clients reach it only if this address can be reached from the internet." : "At this address only programs on this computer can connect. Hosted clients need an https address (MILLRACE_BASE_URL and MILLRACE_MCP_URL)."), " You find connected applications under ", link("API Keys"), " and can revoke their access there.");
export const waiting = "Waiting for the first request with the new key. Start the client, or reload it.";
export const connected = "Connected";
export const connectedHelp = ({ time }: { time: ReactNode }): ReactNode =>
  rich("The first request with the key came ", time, ".");
export const client = "Client";
export const configurationFor = ({ name }: { name: string | number }): string =>
  `configuration for ${name}`;
export const runInCode = "Run this in the directory of your code:";
export const desktopHelp = "Download the bundle and open it with Claude Desktop (Settings > Extensions). It asks for the key and stores it encrypted:";
export const downloadBundle = "Download bundle";
export const cursorHelp = "Add it with the link, which contains the key, or add this to ~/.cursor/mcp.json, or to .cursor/mcp.json in a folder:";
export const addTo = ({ client }: { client: string | number }): string =>
  `Add to ${client}`;
export const vscodeHelp = "Add it with the link, or add this to .vscode/mcp.json in a workspace. VS Code asks for the key and stores it.";
export const keyPrompt = "Millrace API key";
export const addThisTo = ({ file }: { file: string | number }): string =>
  `Add this to ${file}:`;
export const runInTerminal = "Run this in a terminal:";
export const windsurfHelp = "Add this to ~/.codeium/windsurf/mcp_config.json, then press Refresh:";
export const jetbrainsHelp = "Paste this as JSON under Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add:";
export const zedHelp = "Add this to settings.json (command “zed: open settings file”):";
export const opencodeHelp = "Add this to ~/.config/opencode/opencode.json, or to opencode.json in a folder. Version 1 has no “servers” level.";
export const otherHttp = "Other (Streamable HTTP)";
export const otherHttpHelp = "Most clients accept this:";
export const otherStdio = "Other (stdio only)";
export const otherStdioHelp = "For clients that only start programs. The bridge needs Node.js.";
export const otherSse = "Other (SSE)";
export const otherSseHelp = "For clients that support only the older SSE transport:";
