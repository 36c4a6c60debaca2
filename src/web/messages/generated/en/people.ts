/** Generated from src/web/messages/en/people.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const title = "People";
export const aboutRoles = "Viewers can read. Editors can also write, run and approve. Admins can do everything.";
export const aboutProjects = "In a project beside the default one, people have the role that is set on its own page. A member has no role here, and opens only those projects.";
export const aboutProvider = "People appear here after they first sign in at the identity provider.";
export const invite = "Invite user";
export const search = "Search";
export const searchPlaceholder = "Part of an e-mail address";
export const status = "Status";
export const allStatuses = "All";
export const clearStatus = "Clear status";
export const statusName = ({ status }: { status: "active" | "deactivated" | "invited" }): string =>
  (status === "active" ? "active" : status === "invited" ? "invited" : "deactivated");
export const roleName = ({ role }: { role: "admin" | "editor" | "member" | "viewer" }): string =>
  (role === "member" ? "member" : role === "viewer" ? "viewer" : role === "editor" ? "editor" : "admin");
export const emptyTitle = "No matching people";
export const emptyHelp = "Change the search or the status.";
export const invitationSent = ({ email }: { email: string | number }): string =>
  `Invitation sent to ${email}.`;
export const updated = ({ email, role, status }: { email: string | number; role: "admin" | "editor" | "member" | "viewer"; status: "active" | "deactivated" | "invited" }): string =>
  `Updated ${email}: ${(role === "member" ? "member" : role === "viewer" ? "viewer" : role === "editor" ? "editor" : "admin")}, ${(status === "active" ? "active" : status === "invited" ? "invited" : "deactivated")}.`;
export const changeFailed = ({ email }: { email: string | number }): string =>
  `Couldn't change ${email}`;
export const mailSent = ({ email }: { email: string | number }): string =>
  `E-mail sent to ${email}.`;
export const linkFailed = "Couldn't create the link";
export const factorsReset = ({ email }: { email: string | number }): string =>
  `${email} signs in with the password alone now.`;
export const factorsResetFailed = ({ email }: { email: string | number }): string =>
  `Couldn't reset the second factors of ${email}`;
export const twoFactor = "two-factor";
export const you = "you";
export const invitedBy = ({ by, ago }: { by: string | number; ago: ReactNode }): ReactNode =>
  rich("invited by ", by, " ", ago);
export const lastSignedIn = ({ ago }: { ago: ReactNode }): ReactNode =>
  rich("last signed in ", ago);
export const roleFromProvider = "role set by the identity provider";
export const roleOf = ({ email }: { email: string | number }): string =>
  `Role of ${email}`;
export const actionsFor = ({ email }: { email: string | number }): string =>
  `Actions for ${email}`;
export const resendInvitation = "Resend invitation";
export const passwordResetLink = "Password reset link";
export const resetFactorsTitle = ({ email }: { email: string | number }): string =>
  `Reset the second factors of ${email}?`;
export const resetFactorsConsequence = "Their second factors and recovery codes are removed, and they are signed out everywhere. Make sure that it is really them who asks. They get an e-mail.";
export const resetFactorsConfirm = "Reset";
export const resetFactors = "Reset second factors…";
export const reactivate = "Reactivate";
export const deactivateTitle = ({ email }: { email: string | number }): string =>
  `Deactivate ${email}?`;
export const deactivateConsequence = "Their sessions end now and their API keys stop working. Their workflows and runs stay. You can reactivate them later.";
export const deactivateConfirm = "Deactivate";
export const deactivate = "Deactivate…";
export const email = "E-mail address";
export const role = "Role";
export const memberHelp = "A member opens only the projects in which they are given a role.";
export const sendInvitation = "Send invitation";
export const createLink = "Create invitation link";
export const linkFor = ({ email }: { email: string | number }): string =>
  `Link for ${email}`;
export const linkShownBefore = "This link was already shown. Create another one.";
export const shareLink = ({ email, kind }: { email: string | number; kind: "invitation" | "reset" }): string =>
  `No e-mail was sent. Share this link with ${email} only: anyone who opens it can set the password. It works once, for ${(kind === "invitation" ? "seven days" : "30 minutes")}.`;
export const linkLabel = "link";
export const done = "Done";
