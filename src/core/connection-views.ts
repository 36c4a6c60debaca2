/** The connections that each project may use now. */
import { LRUCache } from "lru-cache";
import type { KeyLimits } from "./access.ts";
import {
  type ConnectionView,
  limitConnections,
  NOTHING,
  viewKey,
  viewOfKey,
  viewOfProject,
} from "./connection-view.ts";
import type { ConfiguredConnections, Connections } from "./connections.ts";
import type { ProjectReader } from "./project-ports.ts";
import { shortHash } from "./short-hash.ts";

/** The part of the connections that a project, or one of its callers, may use. */
interface LimitedConnections {
  connections: Connections;
  /** Empty where everything in the configuration may be used; else equal only for the same limits of the same project. */
  key: string;
}

/** The limits of a key that concern connections. */
export type ConnectionLimits = Pick<KeyLimits, "databases" | "models">;

export interface ConnectionViews {
  /**
   * What the workflows of a project may use now, by the latest committed grants. It reads one number if nothing has changed.
   * @param limits what the caller's key is limited to in addition; left out or null, nothing
   * @param projects those of a transaction, so that it does not wait for another connection while others wait for it; left out, the
   *   latest committed ones
   */
  of(
    project: string,
    limits?: ConnectionLimits | null,
    projects?: ViewedProjects,
  ): Promise<LimitedConnections>;
}

/** The readers that the view of a project depends on. */
export type ViewedProjects = Pick<ProjectReader, "revision" | "find" | "grants">;

/** Maximum number of projects whose view is cached, and of views with connections. */
const MAX_CACHED = 500;

export function connectionViews(
  configured: ConfiguredConnections,
  committed: ViewedProjects,
): ConnectionViews {
  const everything: LimitedConnections = { connections: configured, key: "" };
  const views = new LRUCache<string, { revision: number; view: ConnectionView | null }>({ max: MAX_CACHED });
  const limited = new LRUCache<string, LimitedConnections>({ max: MAX_CACHED });

  async function viewOf(id: string, projects: ViewedProjects): Promise<ConnectionView | null> {
    // Read first: what is read after it is at least as new.
    const revision = await projects.revision();
    const cached = views.get(id);
    if (cached?.revision === revision) return cached.view;
    const [project, grants] = await Promise.all([projects.find(id), projects.grants(id)]);
    const view = project === undefined ? NOTHING : viewOfProject(project, grants);
    // A transaction may roll back, and another one then gets the same revision.
    if (projects === committed) views.set(id, { revision, view });
    return view;
  }

  return {
    async of(project, limits = null, projects = committed) {
      const view = viewOfKey(await viewOf(project, projects), limits);
      if (view === null) return everything;
      const key = shortHash(`${project} ${viewKey(view)}`);
      const known = limited.get(key);
      if (known !== undefined) return known;
      const made = { connections: limitConnections(configured, view), key };
      limited.set(key, made);
      return made;
    },
  };
}
