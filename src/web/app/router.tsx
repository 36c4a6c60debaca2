/** The routes of the interface. Each page is a separate chunk that is loaded on its first visit. */
import { type ComponentType } from "react";
import { createBrowserRouter, type RouteObject } from "react-router";
import { serverPath } from "./base-path.ts";
import { RouteErrorBoundary } from "./route-error-boundary.tsx";
import { NotFound } from "./not-found.tsx";
import { FullPageLoader, AuthenticatedLayout, PublicLayout } from "./auth-layouts.tsx";

const page = (path: string, load: () => Promise<{ default: ComponentType }>): RouteObject => ({
  path,
  lazy: async () => ({ Component: (await load()).default }),
});

const routes: RouteObject[] = [
  {
    ErrorBoundary: RouteErrorBoundary,
    HydrateFallback: FullPageLoader,
    children: [
      {
        Component: PublicLayout,
        children: [
          page("/setup", () => import("../account/setup.tsx")),
          page("/sign-in", () => import("../account/sign-in.tsx")),
          page("/forgot", () => import("../account/forgot.tsx")),
          page("/link", () => import("../account/link.tsx")),
        ],
      },
      {
        Component: AuthenticatedLayout,
        ErrorBoundary: RouteErrorBoundary,
        children: [
          page("/", () => import("../home/home.tsx")),
          page("/workflows", () => import("../workflows/list.tsx")),
          page("/workflows/new", () => import("../workflows/create.tsx")),
          page("/workflows/:workflowId", () => import("../workflows/workflow.tsx")),
          page("/workflows/:workflowId/edit", () => import("../workflows/edit.tsx")),
          page("/workflows/:workflowId/versions", () => import("../workflows/versions.tsx")),
          page("/workflows/:workflowId/backtests/:backtestId", () => import("../backtests/backtest.tsx")),
          page("/workflows/:workflowId/run", () => import("../workflows/run.tsx")),
          page("/runs", () => import("../runs/list.tsx")),
          page("/runs/statistics", () => import("../runs/statistics.tsx")),
          page("/runs/:runId", () => import("../runs/run.tsx")),
          page("/runs/:runId/compare", () => import("../runs/compare.tsx")),
          page("/runs/:runId/retry", () => import("../runs/edit-and-retry.tsx")),
          page("/runs/:runId/workflow", () => import("../runs/create-workflow.tsx")),
          page("/bulk-actions", () => import("../bulk-actions/list.tsx")),
          page("/bulk-actions/:bulkActionId", () => import("../bulk-actions/bulk-action.tsx")),
          page("/approvals", () => import("../approvals/list.tsx")),
          page("/approvals/:approvalId", () => import("../approvals/approval.tsx")),
          page("/interruptions", () => import("../interruptions/list.tsx")),
          page("/reviews", () => import("../reviews/list.tsx")),
          page("/reviews/:reviewId", () => import("../reviews/review.tsx")),
          page("/keys", () => import("../keys/keys.tsx")),
          page("/keys/:keyId", () => import("../keys/key.tsx")),
          page("/keys/:keyId/changes", () => import("../keys/key-changes.tsx")),
          page("/people", () => import("../people/people.tsx")),
          page("/projects", () => import("../projects/list.tsx")),
          page("/projects/:projectId", () => import("../projects/project.tsx")),
          page("/account", () => import("../account/account.tsx")),
          page("/authorize", () => import("../authorize/authorize.tsx")),
          page("/connect", () => import("../connect/connect.tsx")),
          page("/notifications", () => import("../notifications/notifications.tsx")),
          page("/audit", () => import("../audit/audit.tsx")),
          { path: "*", Component: NotFound },
        ],
      },
    ],
  },
];

export const createRouter = () => createBrowserRouter(routes, { basename: serverPath("/ui") });
