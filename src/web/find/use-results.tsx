/** What a search of the whole interface finds. */
import {
  IconArrowsSplit2,
  IconClock,
  IconFingerprint,
  IconHistory,
  type IconHome,
  IconKeyboard,
  IconKey,
  IconPencil,
  IconPlayerPlay,
  IconPlus,
  IconUser,
} from "@tabler/icons-react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { matchPath, useLocation } from "react-router";
import { send } from "../api/client.ts";
import { useNavItems } from "../app/nav-items.ts";
import { useHasScope, useSession } from "../app/session.tsx";
import { useProjectFilter } from "../projects/use-projects.tsx";
import { searchIssue } from "../workflows/filters.ts";
import { useWorkflowText, WorkflowName } from "../workflows/names.tsx";
import { isNamed, placeOfId } from "./places.ts";
import { recentWorkflows } from "./recent.ts";
import { SHORTCUT_HELP } from "./shortcuts.ts";

interface Result {
  /** The path that it leads to. */
  value: string;
  content: ReactNode;
  detail?: string;
  Icon: typeof IconHome;
}

interface Results {
  groups: { label: string; options: Result[] }[];
  isLoading: boolean;
  error: string | undefined;
}

/** Number of workflows and of people that are shown. */
const LIMIT = 6;

/** @param text as typed @param asked as it is searched on the server, a moment later */
export function useResults(text: string, asked: string): Results {
  const { pathname } = useLocation();
  const workflows = useQuery(workflowSearchQuery(asked, useProjectFilter()));
  const hasScope = useHasScope();
  const people = useQuery({ ...peopleSearchQuery(asked), enabled: hasScope("admin") && asked !== "" });
  const { user } = useSession();
  const { items } = useNavItems();
  const openId = matchPath("/workflows/:workflowId/*", pathname)?.params.workflowId;
  const openName = useWorkflowText(openId === undefined || openId === "new" ? null : openId);
  const byName = (results: readonly NamedResult[]): Result[] =>
    results.filter((result) => isNamed(result, text)).map(toResult);
  const place = placeOfId(text);
  const recent = text === "" ? recentWorkflows(user.id) : [];
  const found = text === "" || asked === "" ? [] : (workflows.data?.data ?? []);
  const groups = [
    {
      label: "By id",
      options: place === undefined ? [] : [idResult(place)],
    },
    { label: "Recent", options: recent.map(recentResult) },
    { label: "Workflows", options: found.map(workflowResult) },
    {
      label: `This workflow: ${openName}`,
      options: openId === undefined || openId === "new" ? [] : byName(workflowActions(openId, hasScope)),
    },
    { label: "People", options: text === "" ? [] : (people.data?.data ?? []).map(personResult) },
    { label: "Actions", options: byName(actions(hasScope)) },
    {
      label: "Pages",
      options: byName([...items.map(({ to: value, label, Icon }) => ({ value, label, Icon })), ...OWN_PAGES]),
    },
  ].filter(({ options }) => options.length > 0);
  return {
    groups,
    isLoading: text !== asked || workflows.isFetching,
    error: workflows.isError ? "Workflows can't be searched at the moment." : searchIssue(asked),
  };
}

interface NamedResult extends Omit<Result, "content"> {
  label: string;
  /** Words that stand for the label. */
  words?: string;
}

const toResult = ({ label, value, Icon, detail }: NamedResult): Result => ({
  value,
  content: label,
  Icon,
  ...(detail !== undefined && { detail }),
});

const OWN_PAGES: readonly NamedResult[] = [
  { value: "/keys", label: "API Keys", Icon: IconKey },
  { value: "/account", label: "Account", words: "password sessions", Icon: IconUser },
];

const actions = (hasScope: ReturnType<typeof useHasScope>): NamedResult[] => [
  ...(hasScope("write")
    ? [{ value: "/workflows/new", label: "New workflow", words: "create add", Icon: IconPlus }]
    : []),
  { value: "/runs?status=failed", label: "Failed runs", words: "errors", Icon: IconPlayerPlay },
  {
    value: "/runs?status=queued,running,waiting",
    label: "Runs in progress",
    words: "active running",
    Icon: IconPlayerPlay,
  },
  {
    value: "/runs/statistics",
    label: "Run statistics",
    words: "groups chart durations",
    Icon: IconPlayerPlay,
  },
  { value: SHORTCUT_HELP, label: "Keyboard shortcuts", words: "help keys", Icon: IconKeyboard },
];

const workflowActions = (id: string, hasScope: ReturnType<typeof useHasScope>): NamedResult[] => [
  ...(hasScope("run")
    ? [{ value: `/workflows/${id}/run`, label: "Run", words: "start", Icon: IconPlayerPlay }]
    : []),
  ...(hasScope("write")
    ? [{ value: `/workflows/${id}/edit`, label: "Edit", words: "change definition", Icon: IconPencil }]
    : []),
  { value: `/workflows/${id}/versions`, label: "Versions", words: "history compare", Icon: IconHistory },
  { value: `/runs?workflow=${id}`, label: "Its runs", Icon: IconPlayerPlay },
];

const workflowPath = (id: string): string => `/workflows/${encodeURIComponent(id)}`;

const recentResult = (id: string): Result => ({
  value: workflowPath(id),
  content: <WorkflowName id={id} />,
  Icon: IconClock,
});

const workflowResult = ({ id, name, status }: { id: string; name: string; status: string }): Result => ({
  value: workflowPath(id),
  content: <bdi>{name}</bdi>,
  detail: `${id} · ${status}`,
  Icon: IconArrowsSplit2,
});

const personResult = ({ email, role }: { email: string; role: string }): Result => ({
  value: `/people?search=${encodeURIComponent(email)}`,
  content: email,
  detail: role,
  Icon: IconUser,
});

const idResult = ({ path, noun, id }: { path: string; noun: string; id: string }): Result => ({
  value: path,
  content: `${noun} ${id}`,
  Icon: IconFingerprint,
});

const workflowSearchQuery = (search: string, project: { project?: string }) =>
  queryOptions({
    queryKey: ["workflows", "*find", search, project],
    queryFn: ({ signal }) =>
      send("get", "/workflows", { query: { search, limit: LIMIT, ...project }, signal }),
    enabled: search !== "" && searchIssue(search) === undefined,
    placeholderData: (before) => before,
  });

const peopleSearchQuery = (search: string) =>
  queryOptions({
    queryKey: ["users", "*find", search],
    queryFn: ({ signal }) => send("get", "/users", { query: { search, limit: LIMIT }, signal }),
    placeholderData: (before) => before,
  });
