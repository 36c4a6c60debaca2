/** Generated from src/web/messages/de/connect.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Agent verbinden";
export const about = ({ signIn }: { signIn: "no" | "yes" }): string =>
  `Agenten können über MCP Workflows finden, schreiben, prüfen und ausführen, Skripte über REST. ${(signIn === "yes" ? "Sie senden einen API-Schlüssel oder verbinden sich allein mit der URL." : "Beide senden einen API-Schlüssel.")}`;
export const createKeyTitle = "API-Schlüssel erstellen";
export const createKey = "API-Schlüssel erstellen";
export const orReplace = ({ placeholder, link }: { placeholder: ReactNode; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Oder ersetzen Sie ", placeholder, " durch einen Schlüssel, den Sie haben. ", link("Ihre Schlüssel"));
export const newKeyShown = "Die Beispiele unten enthalten den neuen Schlüssel. Wenn Sie diese Seite verlassen, sehen Sie ihn nicht wieder.";
export const configureTitle = "Client einrichten";
export const checkTitle = "Verbindung prüfen";
export const promptTitle = "Prompt ausprobieren";
export const forExample = "Zum Beispiel:";
export const prompt = "Nenne die Datenbanken und Modelle, die Millrace verwenden kann. Schreibe dann einen Workflow, der den Umsatz der letzten Woche nach Regionen summiert, prüfe ihn und führe ihn aus.";
export const examplePrompt = "Beispiel-Prompt";
export const promptHelp = ({ name, link }: { name: ReactNode; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Clients mit Prompts oder Skills können auch den Prompt ", name, " oder diesen ", link("Skill"), " verwenden.");
export const scriptTitle = "Oder ein Skript verwenden";
export const curlCommand = "curl-Befehl";
export const apiReferenceHelp = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("Die ", link("API-Referenz"), " beschreibt jede Operation und lässt Sie sie ausprobieren.");
export const byUrl = "Allein mit der URL";
export const byUrlHelp = "Claude im Web, ChatGPT und andere gehostete Clients können keinen API-Schlüssel senden. Fügen Sie dort diese URL als Konnektor oder MCP-Server hinzu. Der Client öffnet dann eine Seite, auf der Sie sich anmelden und wählen, was er darf. Programme, die OAuth unterstützen, können das auch.";
export const urlForClients = "URL für Clients mit Anmeldung";
export const reach = ({ address, link }: { address: "local" | "public"; link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich((address === "public" ? "Gehostete Clients erreichen sie nur, wenn diese Adresse aus dem Internet erreichbar ist." : "Mit dieser Adresse können sich nur Programme auf diesem Computer verbinden. Gehostete Clients brauchen eine https-Adresse (MILLRACE_BASE_URL und MILLRACE_MCP_URL)."), " Verbundene Anwendungen finden Sie unter ", link("API-Schlüssel"), ". Dort können Sie ihren Zugriff widerrufen.");
export const waiting = "Warten auf die erste Anfrage mit dem neuen Schlüssel. Starten Sie den Client, oder laden Sie ihn neu.";
export const connected = "Verbunden";
export const connectedHelp = ({ time }: { time: ReactNode }): ReactNode =>
  rich("Die erste Anfrage mit dem Schlüssel kam ", time, ".");
export const client = "Client";
export const configurationFor = ({ name }: { name: string | number }): string =>
  `Konfiguration für ${name}`;
export const runInCode = "Führen Sie dies im Verzeichnis Ihres Codes aus:";
export const desktopHelp = "Laden Sie das Paket herunter, und öffnen Sie es mit Claude Desktop (Einstellungen > Erweiterungen). Es fragt nach dem Schlüssel und speichert ihn verschlüsselt:";
export const downloadBundle = "Paket herunterladen";
export const cursorHelp = "Fügen Sie es mit dem Link hinzu, der den Schlüssel enthält, oder fügen Sie dies in ~/.cursor/mcp.json oder in .cursor/mcp.json eines Ordners ein:";
export const addTo = ({ client }: { client: string | number }): string =>
  `Zu ${client} hinzufügen`;
export const vscodeHelp = "Fügen Sie es mit dem Link hinzu, oder fügen Sie dies in .vscode/mcp.json eines Arbeitsbereichs ein. VS Code fragt nach dem Schlüssel und speichert ihn.";
export const keyPrompt = "Millrace-API-Schlüssel";
export const addThisTo = ({ file }: { file: string | number }): string =>
  `Fügen Sie dies in ${file} ein:`;
export const runInTerminal = "Führen Sie dies in einem Terminal aus:";
export const windsurfHelp = "Fügen Sie dies in ~/.codeium/windsurf/mcp_config.json ein, und klicken Sie dann auf „Refresh“:";
export const jetbrainsHelp = "Fügen Sie dies unter Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add als JSON ein:";
export const zedHelp = "Fügen Sie dies in settings.json ein (Befehl „zed: open settings file“):";
export const opencodeHelp = "Fügen Sie dies in ~/.config/opencode/opencode.json oder in opencode.json eines Ordners ein. Version 1 hat keine Ebene „servers“.";
export const otherHttp = "Andere (Streamable HTTP)";
export const otherHttpHelp = "Die meisten Clients nehmen dies an:";
export const otherStdio = "Andere (nur stdio)";
export const otherStdioHelp = "Für Clients, die nur Programme starten. Die Brücke braucht Node.js.";
export const otherSse = "Andere (SSE)";
export const otherSseHelp = "Für Clients, die nur den älteren SSE-Transport unterstützen:";
