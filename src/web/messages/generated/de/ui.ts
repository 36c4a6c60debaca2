/** Generated from src/web/messages/de/ui.json by `npm run generate`. Edit that file instead. */

export const accessDeniedTitle = ({ needs }: { needs: "admin" | "editor" }): string =>
  (needs === "admin" ? "Nur Admins können diese Seite öffnen" : "Nur Editoren und Admins können diese Seite öffnen");
export const accessDeniedHelp = ({ email, role }: { email: string | number; role: string }): string =>
  `Sie sind als ${email} mit der Rolle ${(role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : role === "admin" ? "Admin" : `${role}`)} angemeldet. Ein Admin kann Ihre Rolle ändern.`;
export const home = "Startseite";
export const cancel = "Abbrechen";
export const copied = "Kopiert";
export const copy = ({ label }: { label: string | number }): string =>
  `${label} kopieren`;
export const unreachable = "Der Server ist nicht erreichbar. Der Inhalt wird geladen, sobald er antwortet.";
export const loading = "Wird geladen";
export const pageFailed = "Auf dieser Seite ist ein Fehler aufgetreten";
export const requestId = ({ id }: { id: string | number }): string =>
  `Anfrage-ID: ${id}`;
export const tryAgain = "Erneut versuchen";
export const loadMore = "Mehr laden";
export const shown = ({ shown }: { shown: string | number }): string =>
  `${shown} angezeigt`;
export const shownOf = ({ shown, total }: { shown: string | number; total: string | number }): string =>
  `${shown} von ${total}`;
export const status = ({ status }: { status: "cancelled" | "failed" | "pending" | "queued" | "running" | "skipped" | "succeeded" | "waiting" }): string =>
  (status === "queued" ? "eingereiht" : status === "pending" ? "ausstehend" : status === "running" ? "läuft" : status === "waiting" ? "wartet" : status === "succeeded" ? "erfolgreich" : status === "failed" ? "fehlgeschlagen" : status === "skipped" ? "übersprungen" : "abgebrochen");
export const surface = ({ surface }: { surface: "cli" | "mcp" | "rest" | "web" }): string =>
  (surface === "web" ? "Weboberfläche" : surface === "rest" ? "REST-API" : surface === "mcp" ? "MCP" : "Kommandozeile");
export const required = "Erforderlich.";
