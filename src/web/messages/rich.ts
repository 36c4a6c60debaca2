import { createElement, Fragment, type ReactNode } from "react";

/** Joins the parts of a message with tags. Children at fixed positions need no keys. */
export const rich = (...parts: readonly ReactNode[]): ReactNode => createElement(Fragment, null, ...parts);
