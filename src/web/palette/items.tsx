/** The items of the command palette, in groups. */
import {
  IconArrowsSplit2,
  IconHistory,
  IconKey,
  IconPencil,
  IconPlayerPlay,
  IconPlus,
  IconRubberStamp,
  IconStar,
  IconUser,
  IconUserPlus,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import * as texts from "#texts/palette";
import type { Bookmarks } from "../../../schemas/bookmarks.ts";
import type { Scope } from "../../../schemas/actor.ts";
import type { User } from "../../../schemas/user.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { addressOfId, type Intent, matches } from "./intent.ts";
import { addressOf, type Visit } from "./recent.ts";

type ItemIcon = ComponentType<{ size?: number; "aria-hidden"?: boolean }>;

interface PaletteItem {
  key: string;
  label: string;
  /** A second line. */
  about?: string;
  Icon: ItemIcon;
  /** The page to open. */
  to: string;
}

export interface PaletteGroup {
  label: string;
  items: PaletteItem[];
}

/** A page of the navigation. */
export interface PalettePage {
  to: string;
  label: string;
  Icon: ItemIcon;
}

interface Sources {
  intent: Intent;
  pages: readonly PalettePage[];
  visits: readonly Visit[];
  favorites: Bookmarks["favorites"];
  workflows: readonly Workflow[];
  people: readonly User[];
  hasScope: (scope: Scope) => boolean;
}

const ACTIONS: readonly (PalettePage & { needs?: Scope })[] = [
  { to: "/workflows/new", label: texts.newWorkflow, Icon: IconPlus, needs: "write" },
  { to: "/runs?status=failed", label: texts.showFailedRuns, Icon: IconPlayerPlay },
  {
    to: "/approvals?for_me=decidable",
    label: texts.decideApprovals,
    Icon: IconRubberStamp,
    needs: "approve",
  },
  { to: "/keys", label: texts.createKey, Icon: IconKey },
  { to: "/people", label: texts.invitePerson, Icon: IconUserPlus, needs: "admin" },
];

const VERBS = {
  open: { suffix: "", Icon: IconArrowsSplit2 },
  run: { suffix: "/run", Icon: IconPlayerPlay },
  edit: { suffix: "/edit", Icon: IconPencil },
} as const;

/** The groups that are not empty. Without words: what the user opened last, favourites, actions and pages. */
export function groupsOf(sources: Sources): PaletteGroup[] {
  const groups = sources.intent.words === "" ? initialGroups(sources) : foundGroups(sources);
  return groups.filter(({ items }) => items.length > 0);
}

function initialGroups({ visits, favorites, pages, hasScope }: Sources): PaletteGroup[] {
  const recent = visits.slice(0, 6);
  const seen = new Set(recent.map(({ id }) => id));
  return [
    {
      label: texts.recent,
      items: recent.map((visit) => ({
        key: `recent ${visit.kind} ${visit.id}`,
        label: visit.label,
        about: visit.id,
        Icon: visit.kind === "run" ? IconPlayerPlay : IconHistory,
        to: addressOf(visit),
      })),
    },
    {
      label: texts.favorites,
      items: favorites
        .filter(({ workflow_id: id }) => !seen.has(id))
        .map(({ workflow_id: id, name }) => ({
          key: `favorite ${id}`,
          label: name,
          about: id,
          Icon: IconStar,
          to: `/workflows/${id}`,
        })),
    },
    { label: texts.actions, items: actionsOf(hasScope).map(pageItem) },
    { label: texts.pages, items: pages.map(pageItem) },
  ];
}

function foundGroups({ intent, workflows, people, pages, visits, hasScope }: Sources): PaletteGroup[] {
  const { verb, words } = intent;
  const { suffix, Icon } = VERBS[verb];
  const label = texts.workflowGroup({ verb });
  const isAllowed = verb === "open" || hasScope(verb === "run" ? "run" : "write");
  const workflowItems = workflows.map(({ id, name, description }) => ({
    key: `workflow ${verb} ${id}`,
    label: texts.workflowItem({ verb, name }),
    about: firstLine(description) || id,
    Icon,
    to: `/workflows/${id}${suffix}`,
  }));
  if (verb !== "open") return [{ label, items: isAllowed ? workflowItems : [] }];
  const pasted = addressOfId(words);
  return [
    {
      label: texts.goTo,
      items:
        pasted === undefined
          ? []
          : [
              {
                key: `id ${pasted.id}`,
                label: texts.pasted({ kind: pasted.kind, id: pasted.id }),
                Icon: pasted.kind === "run" ? IconPlayerPlay : IconRubberStamp,
                to: pasted.to,
              },
            ],
    },
    { label, items: workflowItems },
    {
      label: texts.runs,
      items: visits
        .filter(({ kind, label: name, id }) => kind === "run" && (matches(name, words) || id.includes(words)))
        .map((visit) => ({
          key: `run ${visit.id}`,
          label: visit.label,
          about: visit.id,
          Icon: IconPlayerPlay,
          to: addressOf(visit),
        })),
    },
    {
      label: texts.people,
      items: people.map(({ id, email, role }) => ({
        key: `person ${id}`,
        label: email,
        about: texts.role({ role }),
        Icon: IconUser,
        to: `/people?search=${encodeURIComponent(email)}`,
      })),
    },
    {
      label: texts.actions,
      items: actionsOf(hasScope)
        .filter((action) => matches(action.label, words))
        .map(pageItem),
    },
    { label: texts.pages, items: pages.filter((page) => matches(page.label, words)).map(pageItem) },
  ];
}

const actionsOf = (hasScope: (scope: Scope) => boolean): PalettePage[] =>
  ACTIONS.filter(({ needs }) => needs === undefined || hasScope(needs));

const pageItem = ({ to, label, Icon }: PalettePage): PaletteItem => ({ key: `page ${to}`, label, Icon, to });

const firstLine = (text: string): string => text.trim().split("\n", 1)[0] ?? "";
