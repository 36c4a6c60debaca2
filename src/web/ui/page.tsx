/** The building blocks of pages: the heading with its actions, and the states loading, error and empty. */
import { Alert, Button, Code, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconLock } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Link } from "react-router";
import { ApiError, isUnreachable } from "../api/client.ts";
import { useConnection } from "../api/connection.ts";
import { Id, MarkedText } from "./id.tsx";
import { MISSING_KINDS, type MissingKind, missingIn, type NotFoundProps } from "./not-found.ts";

interface PageProps {
  /** The title of the document. */
  title: string;
  /** The heading, where it is more than the text of the title. */
  heading?: ReactNode;
  /** Buttons at the end of the heading's line. */
  actions?: ReactNode;
  /** A description below the heading. */
  about?: ReactNode;
  children: ReactNode;
}

/** A page with its heading, which is also the document's title. */
export function Page({ title, heading = title, actions, about, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" wrap="wrap" gap="sm">
        <Stack gap={4} style={{ minWidth: 0 }}>
          <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
            {heading}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" component="div" size="sm">
              {about}
            </Text>
          )}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

/** Renders the data of a query; a skeleton while it loads, and the error if it failed. */
export function QueryContent<T>({
  query,
  skeleton,
  children,
}: {
  query: UseQueryResult<T>;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  return <>{skeleton ?? <LoadingSkeleton />}</>;
}

/** Instead of data that can't be loaded now. The banner of the page says why, and it is loaded once the server answers. */
const NotLoaded = () => (
  <Text size="sm" c="dimmed">
    Not loaded.
  </Text>
);

export function LoadingSkeleton({ rows = 5 }: { rows?: number }) {
  if (!useConnection().isReachable) return <NotLoaded />;
  return (
    <Stack gap="sm" aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={36} />
      ))}
    </Stack>
  );
}

/** An error with its issues, the request id of server errors, and a button to try again. */
export function ErrorAlert({ error, retry }: { error: Error; retry?: () => void }) {
  const { isReachable } = useConnection();
  if (!isReachable && isUnreachable(error)) return <NotLoaded />;
  const problem = error instanceof ApiError ? error.problem : undefined;
  const forbidden = problem?.status === 403;
  const missing = error instanceof ApiError ? missingIn(error) : undefined;
  if (missing !== undefined)
    return (
      <div role="alert">
        <NotFound {...missing} />
      </div>
    );
  return (
    <Alert
      role="alert"
      color={forbidden ? "gray" : "red"}
      icon={forbidden ? <IconLock aria-hidden /> : <IconAlertTriangle aria-hidden />}
      title={problem?.title ?? "Something went wrong on this page"}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          <MarkedText text={error.message} />
        </Text>
        {problem?.errors?.map((issue) => (
          <Text size="sm" key={`${issue.path} ${issue.code} ${issue.message}`}>
            {issue.path !== "" && <Code>{issue.path}</Code>} <MarkedText text={issue.message} />
            {issue.fix !== undefined && <MarkedText text={` ${issue.fix}`} />}
          </Text>
        ))}
        {problem !== undefined && problem.request_id !== "" && problem.status >= 500 && (
          <Text size="xs" c="dimmed">
            Request ID: {problem.request_id}
          </Text>
        )}
        {retry !== undefined && !forbidden && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Shown instead of an empty list: that there is nothing, and how to change that. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Stack align="center" gap="sm" py="xl" px="md" ta="center">
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text c="dimmed" size="sm" maw={560} component="div">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}

/** Shown instead of something that does not exist, or that the user may not see: what it was, and where the others are. */
export function NotFound({ code, id, hint, back }: NotFoundProps) {
  const { noun, to, all, gone }: MissingKind = MISSING_KINDS[code];
  return (
    <EmptyState
      title={`${noun.slice(0, 1).toUpperCase()}${noun.slice(1)} not found`}
      action={
        <Button component={Link} to={back?.to ?? to} variant="default">
          {back?.label ?? all}
        </Button>
      }
    >
      There is no {noun} <Id>{id}</Id> that you may see.{gone !== undefined && ` ${gone}`}
      {hint !== undefined && hint !== "" && ` ${hint}`}
    </EmptyState>
  );
}
