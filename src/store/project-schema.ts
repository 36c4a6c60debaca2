/** The tables of projects. */
import type { GrantKind, HttpPublic } from "../../schemas/project.ts";
import type { Role } from "../../schemas/user.ts";

export interface ProjectSchema {
  projects: {
    id: string;
    name: string;
    description: string;
    /** Whether it may use every connection, or what it is granted. */
    connections: "all" | "granted";
    /** Null: as the configuration says. */
    http_public: HttpPublic | null;
    review: number;
    /** The rule that publishing needs a backtest, as JSON; null for none. */
    backtest: string | null;
    /** The limits of the whole project, as JSON; null for none. */
    limits: string | null;
    created_at: string;
    created_by: string;
  };
  project_members: { project: string; email: string; role: Role; added_at: string; added_by: string };
  grants: {
    project: string;
    kind: GrantKind;
    name: string;
    /** Options of the kind, as JSON. */
    options: string | null;
    granted_at: string;
    granted_by: string;
  };
  reviews: {
    id: string;
    project: string;
    workflow_id: string;
    version: number;
    /** The published version that it would replace. */
    base_version: number | null;
    digest: string;
    status: string;
    plan: string;
    examples: string | null;
    /** The backtest that the version passed, as JSON; null where none was needed. */
    backtest: string | null;
    reason: string | null;
    requested_at: string;
    requested_by: string;
    key_name: string;
    lineage: string;
    subject: string;
    decided_at: string | null;
    decided_by: string | null;
    comment: string | null;
  };
  /** Workflows that other projects may call; `*` stands for every project. */
  workflow_offers: { workflow_id: string; project: string; offered_at: string; offered_by: string };
}
