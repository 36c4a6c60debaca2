/** The pages of the navigation that a person can use. */
import {
  IconArrowsSplit2,
  IconBell,
  IconFolders,
  IconGitPullRequest,
  IconHistory,
  IconHome,
  IconPlayerPlay,
  IconPlugConnected,
  IconRubberStamp,
  IconUsers,
} from "@tabler/icons-react";
import { useProjects } from "../projects/use-projects.tsx";
import { usePendingReviews } from "../reviews/queries.ts";
import { useHasScope } from "./session.tsx";

export interface NavItem {
  to: string;
  label: string;
  Icon: typeof IconHome;
}

export const REVIEWS_PATH = "/reviews";

const NAV_ITEMS: readonly NavItem[] = [
  { to: "/", label: "Home", Icon: IconHome },
  { to: "/workflows", label: "Workflows", Icon: IconArrowsSplit2 },
  { to: "/runs", label: "Runs", Icon: IconPlayerPlay },
  { to: "/approvals", label: "Approvals", Icon: IconRubberStamp },
  { to: "/connect", label: "Connect an agent", Icon: IconPlugConnected },
];
const REVIEWS: NavItem = { to: REVIEWS_PATH, label: "Reviews", Icon: IconGitPullRequest };
const PROJECTS: NavItem = { to: "/projects", label: "Projects", Icon: IconFolders };
const ADMIN_NAV_ITEMS: readonly NavItem[] = [
  { to: "/people", label: "People", Icon: IconUsers },
  { to: "/notifications", label: "Notifications", Icon: IconBell },
  { to: "/audit", label: "Audit log", Icon: IconHistory },
];

/** @returns `reviews`: the number of pending ones; undefined where there are no reviews */
export function useNavItems(): { items: readonly NavItem[]; reviews: number | undefined } {
  const hasScope = useHasScope();
  const { several } = useProjects();
  const reviews = usePendingReviews();
  const items = [
    ...NAV_ITEMS.flatMap((item) =>
      item.to === "/approvals" && reviews !== undefined ? [item, REVIEWS] : [item],
    ),
    ...(several ? [PROJECTS] : []),
    ...(hasScope("admin") ? ADMIN_NAV_ITEMS : []),
  ];
  return { items, reviews };
}
