/**
 * The projects of the user, and the chosen one: that of the address of a list, or the last one that was chosen in this
 * browser. With one project there is no choice, and nothing of projects is shown.
 */
import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import type { Scope } from "../../../schemas/actor.ts";
import type { Project } from "../../../schemas/project.ts";
import { EVERY_PROJECT, projectOf } from "../../../schemas/project-ids.ts";
import { useHasScope } from "../app/session.tsx";
import { addressAfterChoice, lacksProject, projectInAddress, withProject } from "./filtered-pages.ts";
import { projectsQuery } from "./queries.ts";

interface ProjectsContextValue {
  /** Empty until they are loaded. */
  projects: readonly Project[];
  /** Whether the user has more than one. */
  several: boolean;
  /** The id of the chosen project; undefined for all of them. */
  chosen: string | undefined;
  /** @param project undefined for all of them */
  choose: (project: string | undefined) => void;
}

const ProjectsContext = createContext<ProjectsContextValue | undefined>(undefined);

export function ProjectsProvider({ children }: { children: ReactNode }) {
  const { data: projects } = useQuery(projectsQuery);
  const { pathname, search, hash } = useLocation();
  const navigate = useNavigate();
  const [remembered, setRemembered] = useState(readChoice);
  const several = projects !== undefined && projects.length > 1;
  const isUsable = (id: string) => projects === undefined || projects.some((project) => project.id === id);
  const inAddress = projectInAddress(pathname, search);
  const choice = inAddress ?? (isUsable(remembered) ? remembered : EVERY_PROJECT);
  // Until the projects are loaded the choice is applied, so that no list is loaded twice.
  const chosen = choice === EVERY_PROJECT || (projects !== undefined && !several) ? undefined : choice;
  if (several && inAddress !== null && inAddress !== remembered && (chosen === undefined || isUsable(chosen)))
    setRemembered(inAddress);
  useEffect(() => {
    if (projects !== undefined) saveChoice(several ? remembered : EVERY_PROJECT);
  }, [projects, several, remembered]);
  const incomplete = several && lacksProject(pathname, search);
  useEffect(() => {
    if (incomplete) void navigate({ search: withProject(search, chosen), hash }, { replace: true });
  }, [incomplete, search, hash, chosen, navigate]);
  const value = useMemo(
    () => ({
      projects: projects ?? [],
      several,
      chosen,
      choose(project: string | undefined) {
        setRemembered(project ?? EVERY_PROJECT);
        const address = addressAfterChoice(pathname, search, project);
        if (address !== undefined) void navigate(address);
      },
    }),
    [projects, several, chosen, pathname, search, navigate],
  );
  return <ProjectsContext value={value}>{children}</ProjectsContext>;
}

export function useProjects(): ProjectsContextValue {
  const value = useContext(ProjectsContext);
  if (value === undefined) throw new Error("useProjects must be used inside of ProjectsProvider");
  return value;
}

/** The filter of lists by the chosen project: `{}` for all projects. */
export function useProjectFilter(): { project?: string } {
  const { chosen } = useProjects();
  return useMemo(() => (chosen === undefined ? {} : { project: chosen }), [chosen]);
}

/**
 * @returns a function that tells whether the user has a scope in the project of something; without that, in any project
 */
export function useScopeCheck(): (scope: Scope, item?: { project?: string | undefined }) => boolean {
  const hasScope = useHasScope();
  const { projects, several } = useProjects();
  return (scope, item) =>
    !several || item === undefined
      ? hasScope(scope)
      : (projects.find(({ id }) => id === projectOf(item))?.scopes ?? []).includes(scope);
}

/**
 * @param item undefined until it is loaded
 * @returns a function that tells whether the user has a scope in the project of something; in any project until it is loaded
 */
export function useHasScopeIn(item: { project?: string | undefined } | undefined): (scope: Scope) => boolean {
  const has = useScopeCheck();
  return (scope) => has(scope, item);
}

/** The projects to which the user can move a workflow: an admin of its project, those that they administer too. */
export function useMoveTargets(from: string): readonly Project[] {
  const { projects } = useProjects();
  const administered = projects.filter(({ scopes }) => scopes.includes("admin"));
  return administered.some(({ id }) => id === from) ? administered.filter(({ id }) => id !== from) : [];
}

const STORAGE_KEY = "millrace-project";

/** The project that was chosen last in this browser, or EVERY_PROJECT. */
function readChoice(): string {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? EVERY_PROJECT;
  } catch {
    // The browser keeps nothing.
    return EVERY_PROJECT;
  }
}

function saveChoice(project: string): void {
  try {
    if (project === EVERY_PROJECT) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, project);
  } catch {
    // The choice holds until the page is closed.
  }
}
