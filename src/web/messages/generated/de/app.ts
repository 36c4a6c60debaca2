/** Generated from src/web/messages/de/app.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const loading = "Wird geladen";
export const unreachableTitle = "Der Server ist nicht erreichbar";
export const lastSeen = ({ time, ago }: { time: ReactNode; ago: ReactNode }): ReactNode =>
  rich("Die Anzeige ist vom ", time, " (", ago, ") und kann inzwischen veraltet sein. Die Verbindung wird automatisch wiederhergestellt.");
export const opensThen = "Die geöffnete Seite wird dann geladen.";
export const tryNow = "Jetzt versuchen";
export const lookedFor = ({ address, reason }: { address: ReactNode; reason: ReactNode }): ReactNode =>
  rich("Gesucht wurde ", address, ". ", reason, " Möglicherweise fehlt Ihnen auch der Zugriff.");
export const mayBeMisspelt = "Die Adresse ist vielleicht falsch geschrieben, oder der Inhalt wurde entfernt.";
export const didYouMean = "Meinten Sie einen dieser Workflows?";
export const goBack = "Zurück";
export const allWorkflows = "Alle Workflows";
export const searchHint = "Strg K oder ⌘ K durchsucht alles.";
export const notFound = "Nicht gefunden";
export const pageMissing = "Diese Seite gibt es nicht";
export const signedOutTitle = "Sie sind abgemeldet";
export const sessionEnded = ({ user }: { user: ReactNode }): ReactNode =>
  rich("Ihre Sitzung ist beendet. Ihre nicht gespeicherten Eingaben sind noch da. Melden Sie sich wieder als ", user, " an, um fortzufahren.");
export const sessionEndedNewTab = ({ user }: { user: ReactNode }): ReactNode =>
  rich("Ihre Sitzung ist beendet. Ihre nicht gespeicherten Eingaben sind noch da. Melden Sie sich in einem neuen Tab wieder als ", user, " an, um fortzufahren.");
export const password = "Passwort";
export const showPassword = "Passwort anzeigen";
export const otherAccount = "Anderes Konto verwenden";
export const signIn = "Anmelden";
export const reloadPage = "Seite neu laden";
export const updated = "Millrace wurde aktualisiert. Laden Sie die Seite neu, um fortzufahren.";
export const reloadsWhenReachable = "Der Server ist nicht erreichbar. Diese Seite wird neu geladen, sobald er antwortet.";
export const home = "Startseite";
export const workflows = "Workflows";
export const runs = "Läufe";
export const approvals = "Freigaben";
export const connectAgent = "Agent verbinden";
export const reviews = "Prüfungen";
export const projects = "Projekte";
export const people = "Benutzer";
export const notifications = "Benachrichtigungen";
export const auditLog = "Audit-Log";
export const apiKeys = "API-Schlüssel";
export const account = "Konto";
export const skipToContent = "Zum Inhalt springen";
export const closeMenu = "Menü schließen";
export const openMenu = "Menü öffnen";
export const millraceHome = "Millrace, Startseite";
export const mainNavigation = "Hauptnavigation";
export const apiReference = "API-Referenz";
export const pending = ({ count }: { count: string | number }): string =>
  `${count} ausstehend`;
export const signOutFailed = "Abmelden fehlgeschlagen";
export const userMenu = ({ email }: { email: string | number }): string =>
  `Benutzermenü von ${email}`;
export const role = ({ role }: { role: string }): string =>
  (role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : role === "admin" ? "Admin" : `${role}`);
export const lightMode = "Heller Modus";
export const darkMode = "Dunkler Modus";
export const signOut = "Abmelden";
export const close = "Schließen";
export const allProjects = "Alle Projekte";
export const chosenProject = ({ name }: { name: string | number }): string =>
  `Projekt: ${name}`;
