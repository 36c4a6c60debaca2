/** Generated from src/web/messages/en/app.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { rich } from "../../rich.ts";

export const loading = "Loading";
export const unreachableTitle = "The server can’t be reached";
export const lastSeen = ({ time, ago }: { time: ReactNode; ago: ReactNode }): ReactNode =>
  rich("What you see is from ", time, " (", ago, ") and may have changed since. It reconnects by itself.");
export const opensThen = "The page that you opened loads then.";
export const tryNow = "Try now";
export const lookedFor = ({ address, reason }: { address: ReactNode; reason: ReactNode }): ReactNode =>
  rich("Looked for ", address, ". ", reason, " You may also lack access to it.");
export const mayBeMisspelt = "The address may be misspelt, or what it showed was removed.";
export const didYouMean = "Did you mean one of these workflows?";
export const goBack = "Go back";
export const allWorkflows = "All workflows";
export const searchHint = "Ctrl K or ⌘ K searches everything.";
export const notFound = "Not found";
export const pageMissing = "This page doesn’t exist";
export const signedOutTitle = "You are signed out";
export const sessionEnded = ({ user }: { user: ReactNode }): ReactNode =>
  rich("Your session has ended. Your unsaved input is still here. Sign in again as ", user, " to continue.");
export const sessionEndedNewTab = ({ user }: { user: ReactNode }): ReactNode =>
  rich("Your session has ended. Your unsaved input is still here. Sign in again as ", user, " in a new tab to continue.");
export const password = "Password";
export const showPassword = "Show password";
export const otherAccount = "Use another account";
export const signIn = "Sign in";
export const reloadPage = "Reload page";
export const updated = "Millrace was updated. Reload the page to continue.";
export const reloadsWhenReachable = "The server can't be reached. This page reloads as soon as the server responds.";
export const home = "Home";
export const workflows = "Workflows";
export const runs = "Runs";
export const approvals = "Approvals";
export const connectAgent = "Connect an agent";
export const reviews = "Reviews";
export const projects = "Projects";
export const people = "People";
export const notifications = "Notifications";
export const auditLog = "Audit log";
export const apiKeys = "API Keys";
export const account = "Account";
export const skipToContent = "Skip to content";
export const closeMenu = "Close menu";
export const openMenu = "Open menu";
export const millraceHome = "Millrace, home";
export const mainNavigation = "Main";
export const apiReference = "API reference";
export const pending = ({ count }: { count: string | number }): string =>
  `${count} pending`;
export const signOutFailed = "Couldn't sign you out";
export const userMenu = ({ email }: { email: string | number }): string =>
  `User menu of ${email}`;
export const role = ({ role }: { role: string }): string =>
  (role === "viewer" ? "viewer" : role === "editor" ? "editor" : role === "admin" ? "admin" : `${role}`);
export const lightMode = "Light mode";
export const darkMode = "Dark mode";
export const signOut = "Sign out";
export const close = "Close";
export const allProjects = "All projects";
export const chosenProject = ({ name }: { name: string | number }): string =>
  `Project: ${name}`;
