/** Generated from src/web/messages/de/projects.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const projects = "Projekte";
export const about = "Jedes Team sieht und ändert nur die Workflows, Läufe und Freigaben seiner Projekte. Solange es nur ein Projekt gibt, erscheint es auf keiner anderen Seite.";
export const newProject = "Neues Projekt";
export const reviewRequired = "Prüfung erforderlich";
export const grantedConnections = "zugewiesene Verbindungen";
export const yourRole = ({ role }: { role: "admin" | "editor" | "none" | "viewer" }): string =>
  `Ihre Rolle: ${(role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : role === "admin" ? "Admin" : "keine")}`;
export const secondProject = "Mit einem zweiten Projekt können alle, die in beiden eine Rolle haben, zwischen ihnen wechseln. Was jetzt vorhanden ist, bleibt mit denselben Rechten im Projekt „Default“.";
export const name = "Name";
export const optionalId = "ID (optional)";
export const idHelp = "Kleinbuchstaben, Ziffern und Bindestriche; ohne Angabe wird sie aus dem Namen gebildet. Die IDs neuer Workflows beginnen mit ihr, und sie kann nicht geändert werden.";
export const optionalDescription = "Beschreibung (optional)";
export const connections = "Verbindungen";
export const create = "Projekt erstellen";
export const onlyGranted = "Nur zugewiesene";
export const onlyGrantedHelp = "Seine Workflows verwenden die Datenbanken, Modelle und anderen Verbindungen, die ein Admin zuweist.";
export const allConnections = "Alle Verbindungen";
export const allConnectionsHelp = "Seine Workflows verwenden alles in der Konfiguration, auch was später hinzukommt.";
export const hostsAsConfigured = "Wie in der Konfiguration";
export const anyHosts = "Alle";
export const grantedHosts = "Nur zugewiesene Hosts";
export const noHosts = "Keine";
export const runsPerHour = "Läufe pro Stunde";
export const unfinishedRuns = "Nicht beendete Läufe";
export const tokensPerDay = "Modell-Tokens pro Tag";
export const rowsPerDay = "Datenbankzeilen pro Tag";
export const storedBytes = "Gespeicherte Bytes";
export const database = "Datenbank";
export const model = "Modell";
export const mcpServer = "MCP-Server";
export const secret = "Secret";
export const host = "Host";
export const mailDomain = "E-Mail-Domain";
export const chat = "Chat";
export const description = "Beschreibung";
export const requireReview = "Prüfung verlangen";
export const requireReviewHelp = "Veröffentlichungen durch einen API-Schlüssel oder durch die Person, von der die Änderung stammt, brauchen die Zustimmung einer anderen Person.";
export const saveDetails = "Details speichern";
export const publicHosts = "Öffentliche Hosts";
export const publicHostsHelp = "Welche Hosts im Internet http-Schritte erreichen können. Die Konfiguration kann strenger sein.";
export const limits = "Limits für alle Läufe des Projekts zusammen";
export const noLimit = "Kein Limit";
export const saveLimits = "Einstellungen speichern";
export const saved = ({ name }: { name: string | number }): string =>
  `Projekt „${name}“ gespeichert.`;
export const reviewWarning = ({ message }: { message: string | number }): string =>
  `Prüfung: ${message}.`;
export const roleOnPeoplePage = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("In diesem Projekt haben alle die Rolle, die auf der Seite ", link("Benutzer"), " festgelegt ist.");
export const membersLocked = "Nur Admins dieses Projekts sehen und ändern seine Mitglieder.";
export const membersHelp = "Eine Rolle gilt ab der nächsten Anfrage. Zu einer Adresse muss es noch kein Konto geben; die Rolle gilt dann ab der ersten Anmeldung. Ob es ein Konto gibt, ist hier nicht zu sehen. Admins der Instanz haben alle Rechte und erscheinen nicht in der Liste.";
export const noMembers = "Noch keine Mitglieder.";
export const members = "Mitglieder";
export const hasRole = ({ email, role }: { email: string | number; role: "admin" | "editor" | "viewer" }): string =>
  `${email} hat die Rolle ${(role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : "Admin")}.`;
export const addAMember = "Ein Mitglied hinzufügen";
export const email = "E-Mail-Adresse";
export const role = "Rolle";
export const roleName = ({ role }: { role: "admin" | "editor" | "viewer" }): string =>
  (role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : "Admin");
export const addMember = "Hinzufügen";
export const memberRemoved = ({ email, project }: { email: string | number; project: string | number }): string =>
  `${email} hat keine Rolle in „${project}“ mehr.`;
export const removeFailed = ({ email }: { email: string | number }): string =>
  `${email} konnte nicht entfernt werden`;
export const memberYou = ({ email }: { email: string | number }): string =>
  `${email} (Sie)`;
export const roleOf = ({ email }: { email: string | number }): string =>
  `Rolle von ${email}`;
export const roleFailed = ({ email }: { email: string | number }): string =>
  `Die Rolle von ${email} konnte nicht geändert werden`;
export const removeMember = ({ email }: { email: string | number }): string =>
  `${email} entfernen`;
export const removeTitle = ({ email, project }: { email: string | number; project: string | number }): string =>
  `${email} aus „${project}“ entfernen?`;
export const removeYourself = "Sie können dieses Projekt nicht mehr öffnen, es sei denn, Sie sind Admin der Instanz.";
export const removeOther = "Diese Person und ihre API-Schlüssel können ab jetzt nichts in diesem Projekt öffnen.";
export const remove = "Entfernen";
export const grantsOfAll = "Dieses Projekt darf alle Verbindungen verwenden. Zuweisungen wirken erst, wenn es nur zugewiesene verwenden darf; zugewiesene Hosts auch dort, wo öffentliche Hosts zugewiesen sein müssen.";
export const grantsHelp = "Seine Workflows verwenden diese Verbindungen und keine anderen. Eine Änderung gilt ab dem nächsten Schritt.";
export const noGrants = "Noch nichts zugewiesen.";
export const grants = "Zuweisungen";
export const revoked = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `${(kind === "database" ? "Datenbank" : kind === "model" ? "Modell" : kind === "mcp_server" ? "MCP-Server" : kind === "secret" ? "Secret" : kind === "host" ? "Host" : kind === "mail" ? "E-Mail-Domain" : "Chat")} ${name} entzogen.`;
export const revokeFailed = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `${(kind === "database" ? "Datenbank" : kind === "model" ? "Modell" : kind === "mcp_server" ? "MCP-Server" : kind === "secret" ? "Secret" : kind === "host" ? "Host" : kind === "mail" ? "E-Mail-Domain" : "Chat")} ${name} konnte nicht entzogen werden`;
export const revokeGrant = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `${(kind === "database" ? "Datenbank" : kind === "model" ? "Modell" : kind === "mcp_server" ? "MCP-Server" : kind === "secret" ? "Secret" : kind === "host" ? "Host" : kind === "mail" ? "E-Mail-Domain" : "Chat")} ${name} entziehen`;
export const revokeTitle = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `${(kind === "database" ? "Datenbank" : kind === "model" ? "Modell" : kind === "mcp_server" ? "MCP-Server" : kind === "secret" ? "Secret" : kind === "host" ? "Host" : kind === "mail" ? "E-Mail-Domain" : "Chat")} ${name} entziehen?`;
export const revokeConsequence = ({ project }: { project: string | number }): string =>
  `Workflows von „${project}“, die diese Verbindung verwenden, schlagen ab ihrem nächsten Schritt fehl.`;
export const revoke = "Entziehen";
export const readOnlyAccess = "nur lesen";
export const databaseRole = ({ role }: { role: string | number }): string =>
  `Rolle ${role}`;
export const noTools = "keine Tools";
export const onlyTools = ({ tools }: { tools: string | number }): string =>
  `nur ${tools}`;
export const granted = ({ name, project }: { name: string | number; project: string | number }): string =>
  `${name} an „${project}“ zugewiesen.`;
export const grantConnection = "Eine Verbindung zuweisen";
export const grantedWithWarning = "Zugewiesen, mit einer Warnung";
export const didYouMean = ({ name }: { name: string | number }): string =>
  `Meinten Sie ${name}?`;
export const kind = "Art";
export const grant = "Zuweisen";
export const optionalRole = "Rolle (optional)";
export const databaseRoleHelp = "Eine der Rollen der Datenbank in der Konfiguration, mit der verbunden wird.";
export const readOnly = "Nur lesen";
export const readOnlyHelp = "Schreibende Anweisungen werden abgelehnt.";
export const optionalTools = "Tools (optional)";
export const toolsHelp = "Nur diese Tools dürfen aufgerufen werden; ohne Angabe alle. Mit Enter fügen Sie eines hinzu.";
export const project = "Projekt";
export const created = ({ ago, by }: { ago: ReactNode; by: string | number }): ReactNode =>
  rich("erstellt ", ago, " von ", by);
export const details = "Details";
export const detailsLocked = "Nur Admins dieses Projekts können dies ändern.";
export const connectionsAndLimits = "Verbindungen und Limits";
export const limitsLocked = "Nur Admins der Instanz können dies ändern.";
export const grantsLocked = "Nur Admins der Instanz können Verbindungen zuweisen und entziehen.";
export const deletePanel = "Löschen";
export const deleted = ({ name }: { name: string | number }): string =>
  `Projekt „${name}“ gelöscht.`;
export const defaultNotDeletable = "Das Standardprojekt kann nicht gelöscht werden.";
export const deleteHelp = "Ein Projekt kann gelöscht werden, wenn es weder Workflows noch Läufe hat. Seine Mitglieder und Zuweisungen werden mitgelöscht, und API-Schlüssel verlieren den Zugriff darauf.";
export const deleteTitle = ({ name }: { name: string | number }): string =>
  `Projekt „${name}“ löschen?`;
export const deleteConsequence = "Seine Mitglieder und Zuweisungen werden gelöscht, und API-Schlüssel verlieren den Zugriff darauf. Das lässt sich nicht rückgängig machen.";
export const deleteConfirm = "Projekt löschen";
export const deleteProject = "Projekt löschen …";
export const moved = ({ workflow, project }: { workflow: string | number; project: string | number }): string =>
  `„${workflow}“ in das Projekt „${project}“ verschoben.`;
export const moveTitle = ({ workflow }: { workflow: string | number }): string =>
  `„${workflow}“ in ein Projekt verschieben`;
export const notMoved = "Nicht verschoben";
export const moveHelp = "Der Workflow behält seine ID, seine Versionen, seinen Zeitplan und seinen Zustand. Frühere und aktive Läufe bleiben, wo sie gestartet wurden; neue starten im anderen Projekt, mit dem, was dieses verwenden darf.";
export const moveAnyway = "Verschieben, obwohl die veröffentlichte Version dort nicht laufen kann";
export const move = "Verschieben";
export const offerTitle = ({ workflow }: { workflow: string | number }): string =>
  `„${workflow}“ Projekten anbieten`;
export const notOffered = ({ workflow }: { workflow: string | number }): string =>
  `„${workflow}“ wird anderen Projekten nicht angeboten.`;
export const offered = ({ workflow }: { workflow: string | number }): string =>
  `„${workflow}“ wird angeboten.`;
export const unseenProjects = ({ projects }: { projects: string | number }): string =>
  `Sie können ${projects} nicht sehen: Prüfen Sie die Schreibweise.`;
export const notChanged = "Nicht geändert";
export const offerHelp = "Workflows dieser Projekte können die veröffentlichte Version aufrufen. Sie sehen Namen, Eingaben und Ausgabe, aber nicht, was sie tut. Sie läuft in ihrem eigenen Projekt, mit dem, was diesem zugewiesen ist.";
export const offeredTo = "Angeboten für";
export const noOtherProject = "Kein anderes Projekt";
export const namedProjects = "Bestimmte Projekte";
export const allProjectsHelp = "Auch später erstellte.";
export const projectIds = "IDs der Projekte";
export const projectIdsHelp = "Sie können auch Projekte nennen, die Sie nicht sehen. Mit Enter fügen Sie eines hinzu.";
export const saveOffer = "Angebot speichern";
export const offeredToAll = "Allen Projekten angeboten";
export const offeredToNamed = ({ count, names }: { count: number; names: string | number }): string =>
  (pluralForm(count) === "one" ? `Dem Projekt ${names} angeboten` : `Den Projekten ${names} angeboten`);
export const projectNamed = ({ name }: { name: string | number }): string =>
  `Projekt ${name}`;
export const targetHelp = "Seine Mitglieder können den Workflow sehen, und der Workflow kann seine Verbindungen verwenden.";
export const allProjects = "Alle Projekte";
