/** Generated from src/web/messages/de/authorize.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Anwendung verbinden";
export const goesToProgram = "Ein Programm auf diesem Computer";
export const goesToApp = ({ scheme }: { scheme: string | number }): string =>
  `Die App auf diesem Gerät, die ${scheme}-Links öffnet`;
export const asks = ({ email, name }: { email: string | number; name: string | number }): string =>
  `möchte Millrace in Ihrem Namen (${email}) verwenden und nennt sich „${name}“.`;
export const published = ({ publisher }: { publisher: string | number }): string =>
  `${publisher} beschreibt diese Anwendung und gibt an, wohin ihr Zugriff geht.`;
export const startedByYou = "Haben Sie das ausgelöst?";
export const allowOnlyIf = ({ b, kind, host }: { b: (children: ReactNode) => ReactNode; kind: "app" | "local" | "web"; host: string | number }): ReactNode =>
  rich("Erlauben Sie es nur, wenn Sie gerade selbst eine Anwendung verbunden haben. Der Zugriff geht an ", b((kind === "local" ? "ein Programm auf diesem Computer" : kind === "app" ? `die App auf diesem Gerät, die ${host}-Links öffnet` : `${host}`)), ". Den Namen kann jeder frei wählen.");
export const itCan = "Die Anwendung darf";
export const roleLimits = "Ihre Rolle begrenzt dies jederzeit.";
export const inProjects = "In diesen Projekten";
export const endAccess = ({ resource }: { resource: string | number }): string =>
  `Für ${resource}. Sie können den Zugriff jederzeit unter „API-Schlüssel“ beenden.`;
export const refuse = "Ablehnen";
export const allow = "Erlauben";
