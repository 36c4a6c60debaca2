/** Generated from src/web/messages/en/authorize.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "Connect an application";
export const goesToProgram = "A program on this computer";
export const goesToApp = ({ scheme }: { scheme: string | number }): string =>
  `The app on this device that opens ${scheme} links`;
export const asks = ({ email, name }: { email: string | number; name: string | number }): string =>
  `asks to use Millrace in your name, ${email}. It calls itself “${name}”.`;
export const published = ({ publisher }: { publisher: string | number }): string =>
  `${publisher} describes this application and says where its access goes.`;
export const startedByYou = "Did you start this?";
export const allowOnlyIf = ({ b, kind, host }: { b: (children: ReactNode) => ReactNode; kind: "app" | "local" | "web"; host: string | number }): ReactNode =>
  rich("Allow it only if you have just connected an application yourself. The access goes to ", b((kind === "local" ? "a program on this computer" : kind === "app" ? `the app on this device that opens ${host} links` : `${host}`)), ". Anyone can choose any name.");
export const itCan = "It can";
export const roleLimits = "Your role limits this at any time.";
export const inProjects = "In these projects";
export const endAccess = ({ resource }: { resource: string | number }): string =>
  `For ${resource}. You can end the access under API Keys at any time.`;
export const refuse = "Refuse";
export const allow = "Allow";
