/** Generated from src/web/messages/de/people.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Benutzer";
export const aboutRoles = "Betrachter können lesen. Editoren können auch schreiben, ausführen und freigeben. Admins können alles.";
export const aboutProjects = "In einem anderen Projekt als dem Standardprojekt gilt die Rolle, die auf dessen Seite festgelegt ist. Ein Mitglied hat hier keine Rolle und kann nur solche Projekte öffnen.";
export const aboutProvider = "Benutzer erscheinen hier, sobald sie sich zum ersten Mal beim Identitätsanbieter angemeldet haben.";
export const invite = "Benutzer einladen";
export const search = "Suche";
export const searchPlaceholder = "Teil einer E-Mail-Adresse";
export const status = "Status";
export const allStatuses = "Alle";
export const clearStatus = "Status zurücksetzen";
export const statusName = ({ status }: { status: "active" | "deactivated" | "invited" }): string =>
  (status === "active" ? "aktiv" : status === "invited" ? "eingeladen" : "deaktiviert");
export const roleName = ({ role }: { role: "admin" | "editor" | "member" | "viewer" }): string =>
  (role === "member" ? "Mitglied" : role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : "Admin");
export const emptyTitle = "Keine passenden Benutzer";
export const emptyHelp = "Ändern Sie die Suche oder den Status.";
export const invitationSent = ({ email }: { email: string | number }): string =>
  `Einladung an ${email} gesendet.`;
export const updated = ({ email, role, status }: { email: string | number; role: "admin" | "editor" | "member" | "viewer"; status: "active" | "deactivated" | "invited" }): string =>
  `${email} geändert: ${(role === "member" ? "Mitglied" : role === "viewer" ? "Betrachter" : role === "editor" ? "Editor" : "Admin")}, ${(status === "active" ? "aktiv" : status === "invited" ? "eingeladen" : "deaktiviert")}.`;
export const changeFailed = ({ email }: { email: string | number }): string =>
  `${email} konnte nicht geändert werden`;
export const mailSent = ({ email }: { email: string | number }): string =>
  `E-Mail an ${email} gesendet.`;
export const linkFailed = "Der Link konnte nicht erstellt werden";
export const factorsReset = ({ email }: { email: string | number }): string =>
  `${email} meldet sich jetzt nur mit dem Passwort an.`;
export const factorsResetFailed = ({ email }: { email: string | number }): string =>
  `Die zweiten Faktoren von ${email} konnten nicht zurückgesetzt werden`;
export const twoFactor = "Zwei-Faktor";
export const you = "Sie";
export const invitedBy = ({ by, ago }: { by: string | number; ago: ReactNode }): ReactNode =>
  rich("eingeladen von ", by, " ", ago);
export const lastSignedIn = ({ ago }: { ago: ReactNode }): ReactNode =>
  rich("zuletzt angemeldet ", ago);
export const roleFromProvider = "Rolle vom Identitätsanbieter";
export const roleOf = ({ email }: { email: string | number }): string =>
  `Rolle von ${email}`;
export const actionsFor = ({ email }: { email: string | number }): string =>
  `Aktionen für ${email}`;
export const resendInvitation = "Erneut einladen";
export const passwordResetLink = "Link zum Zurücksetzen des Passworts";
export const resetFactorsTitle = ({ email }: { email: string | number }): string =>
  `Zweite Faktoren von ${email} zurücksetzen?`;
export const resetFactorsConsequence = "Die zweiten Faktoren und Wiederherstellungscodes dieser Person werden entfernt, und sie wird überall abgemeldet. Vergewissern Sie sich, dass die Bitte wirklich von ihr kommt. Sie erhält eine E-Mail.";
export const resetFactorsConfirm = "Zurücksetzen";
export const resetFactors = "Zweite Faktoren zurücksetzen …";
export const reactivate = "Reaktivieren";
export const deactivateTitle = ({ email }: { email: string | number }): string =>
  `${email} deaktivieren?`;
export const deactivateConsequence = "Die Sitzungen dieser Person enden sofort, und ihre API-Schlüssel funktionieren nicht mehr. Ihre Workflows und Läufe bleiben erhalten. Sie können die Person später reaktivieren.";
export const deactivateConfirm = "Deaktivieren";
export const deactivate = "Deaktivieren …";
export const email = "E-Mail-Adresse";
export const role = "Rolle";
export const memberHelp = "Ein Mitglied kann nur die Projekte öffnen, in denen es eine Rolle hat.";
export const sendInvitation = "Einladung senden";
export const createLink = "Einladungslink erstellen";
export const linkFor = ({ email }: { email: string | number }): string =>
  `Link für ${email}`;
export const linkShownBefore = "Dieser Link wurde bereits angezeigt. Erstellen Sie einen neuen.";
export const shareLink = ({ email, kind }: { email: string | number; kind: "invitation" | "reset" }): string =>
  `Es wurde keine E-Mail gesendet. Geben Sie diesen Link nur an ${email} weiter: Wer ihn öffnet, kann das Passwort festlegen. Er funktioniert einmal und gilt ${(kind === "invitation" ? "sieben Tage" : "30 Minuten")}.`;
export const linkLabel = "Link";
export const done = "Fertig";
