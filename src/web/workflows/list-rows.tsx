/** The rows of the workflow list. Only the visible rows are rendered. */
import { Anchor, Badge, Box, Group, Paper, Text } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import * as texts from "#texts/workflows";
import type { Workflow } from "../../../schemas/workflow.ts";
import { FavoriteButton } from "../bookmarks/favorite-button.tsx";
import { ProjectBadge } from "../projects/project-badge.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Time } from "../ui/time.tsx";
import { withFilter } from "./filters.ts";
import classes from "./list.module.css";
import { OverdueBadge } from "./overdue.tsx";
import { WorkflowState } from "./workflow-state.tsx";

interface ListRowsProps {
  workflows: readonly Workflow[];
  /** Number of rows with those that are not loaded; -1 if it is unknown. */
  size: number;
  /** Whether another page can be loaded now. */
  more: boolean;
  onMore: () => void;
}

/** Number of rows before the end at which the next page is loaded. */
const PREFETCH_ROWS = 40;
const ROW_HEIGHT = 84;

export function ListRows({ workflows, size, more, onMore }: ListRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [parameters] = useSearchParams();
  const query = parameters.toString();
  const [top, setTop] = useState(0);
  useEffect(() => {
    // The height of the content above depends on the width of the window.
    const measure = () =>
      setTop(Math.round((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY));
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
  const rows = useWindowVirtualizer({
    count: workflows.length,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => workflows[index]!.id,
    overscan: 8,
    scrollMargin: top,
  });
  const visibleRows = rows.getVirtualItems();
  const last = visibleRows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= workflows.length - PREFETCH_ROWS) onMore();
  }, [more, last, workflows.length, onMore]);
  return (
    <ul
      ref={list}
      className={classes["list"]}
      style={{ height: rows.getTotalSize() }}
      aria-label={texts.workflows}
    >
      {visibleRows.map(({ key, index, start }) => (
        <li
          key={key}
          ref={rows.measureElement}
          data-index={index}
          aria-setsize={size}
          aria-posinset={index + 1}
          className={classes["row"]}
          style={{ transform: `translateY(${start - top}px)` }}
        >
          <Row workflow={workflows[index]!} query={query} />
        </li>
      ))}
    </ul>
  );
}

/** Memoized, so that scrolling renders only new rows. */
export const Row = memo(function Row({ workflow, query }: { workflow: Workflow; query: string }) {
  const { id, name, description, tags, project, last_run: run = null } = workflow;
  const firstLine = description.trim().split("\n", 1)[0] ?? "";
  return (
    <Paper withBorder className={classes["card"]} px="md" py="sm">
      <Box className={classes["name"]}>
        <Group gap={8} wrap="nowrap" align="baseline">
          {/* The link covers the whole row, which is then clickable and one tab stop. */}
          <Anchor component={Link} to={`/workflows/${id}`} className={classes["link"]} fw={600} truncate>
            {name}
          </Anchor>
          {id !== name && (
            <Text size="xs" c="dimmed" ff="monospace" truncate className={`left-to-right ${classes["id"]}`}>
              {id}
            </Text>
          )}
          <ProjectBadge project={project} inList />
          <span className={classes["star"]}>
            <FavoriteButton workflowId={id} name={name} />
          </span>
        </Group>
        <Text size="sm" c="dimmed" truncate>
          {firstLine || texts.noDescription}
        </Text>
      </Box>
      <Group gap={4} className={classes["tags"]}>
        {tags.slice(0, SHOWN_TAGS).map((tag) => (
          <Badge
            key={tag}
            component={Link}
            to={`?${withFilter(new URLSearchParams(query), "tag", tag).toString()}`}
            variant="default"
            tt="none"
            fw={500}
            className={classes["tag"]}
            aria-label={texts.filterByThisTag({ tag })}
          >
            {tag}
          </Badge>
        ))}
        {tags.length > SHOWN_TAGS && (
          <Text size="xs" c="dimmed">
            +{tags.length - SHOWN_TAGS}
          </Text>
        )}
      </Group>
      <Box className={classes["state"]}>
        <WorkflowState workflow={workflow} />
        <OverdueBadge workflowId={id} />
      </Box>
      <Group gap={6} className={classes["run"]} wrap="nowrap">
        {run === null ? (
          <Text size="sm" c="dimmed">
            {texts.noRuns}
          </Text>
        ) : (
          <>
            <StatusBadge status={run.status} />
            <Text size="sm" c="dimmed" truncate>
              <Time at={run.finished_at ?? run.created_at} ago />
            </Text>
          </>
        )}
      </Group>
    </Paper>
  );
});

const SHOWN_TAGS = 3;
