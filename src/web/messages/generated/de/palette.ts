/** Generated from src/web/messages/de/palette.json by `npm run generate`. Edit that file instead. */

export const dialog = "Befehlspalette";
export const searchLabel = "Workflows, Läufe, Benutzer, Seiten und Aktionen suchen";
export const placeholder = "Suchen, ID oder „run …“ eingeben";
export const results = "Ergebnisse";
export const keys = "↑↓ zum Auswählen · Enter zum Öffnen · Esc zum Schließen";
export const searching = "Suche läuft …";
export const nothingFound = ({ words }: { words: string | number }): string =>
  `Nichts gefunden für „${words}“. Durchsucht werden Namen, IDs, Beschreibungen und Tags.`;
export const newWorkflow = "Neuer Workflow";
export const showFailedRuns = "Fehlgeschlagene Läufe anzeigen";
export const decideApprovals = "Über Freigaben entscheiden";
export const createKey = "API-Schlüssel erstellen";
export const invitePerson = "Benutzer einladen";
export const workflowGroup = ({ verb }: { verb: "edit" | "open" | "run" }): string =>
  (verb === "open" ? "Workflows" : verb === "run" ? "Workflow ausführen" : "Workflow bearbeiten");
export const workflowItem = ({ verb, name }: { verb: "edit" | "open" | "run"; name: string | number }): string =>
  (verb === "open" ? `${name}` : verb === "run" ? `${name} ausführen` : `${name} bearbeiten`);
export const recent = "Zuletzt geöffnet";
export const favorites = "Favoriten";
export const actions = "Aktionen";
export const pages = "Seiten";
export const goTo = "Gehe zu";
export const pasted = ({ kind, id }: { kind: "approval" | "run"; id: string | number }): string =>
  (kind === "run" ? `Lauf ${id}` : `Freigabe ${id}`);
export const runs = "Läufe";
export const people = "Benutzer";
export const role = ({ role }: { role: "admin" | "editor" | "member" | "viewer" }): string =>
  (role === "member" ? "Mitglied" : role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : "Admin");
export const shortcut = "Strg K";
export const search = "Suchen";
