/** The consent page: an application asks for access in the name of the user, who grants a part of it, all of it, or nothing. */
import { Alert, Button, Card, Checkbox, Group, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import * as texts from "#texts/authorize";
import type { AuthorizationRequest } from "../../../schemas/oauth.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { useSession } from "../app/session.tsx";
import { DEFAULT_SCOPES, type Scope, SCOPE_DESCRIPTIONS } from "../keys/scopes.ts";
import { strong } from "../ui/message-tags.tsx";
import { ErrorAlert, Page, QueryContent } from "../ui/page.tsx";
import { useInFront } from "../ui/use-in-front.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

const requestQuery = (request: string) =>
  queryOptions({
    queryKey: ["authorization", request],
    queryFn: async ({ signal }) =>
      (await send("get", "/session/authorization", { query: { request }, signal })).data,
    // A decision is made about what is shown.
    staleTime: Infinity,
  });

export default function Authorize() {
  const [search] = useSearchParams();
  const id = search.get("request") ?? "";
  const request = useQuery(requestQuery(id));
  return (
    <Page title={texts.title}>
      <QueryContent query={request}>{(data) => <Decision id={id} request={data} />}</QueryContent>
    </Page>
  );
}

/** Where the access goes, which is what a user can rely on. */
function placeHeading({ kind, host }: AuthorizationRequest): string {
  if (kind === "local") return texts.goesToProgram;
  return kind === "app" ? texts.goesToApp({ scheme: host }) : host;
}

function Decision({ id, request }: { id: string; request: AuthorizationRequest }) {
  const { user } = useSession();
  const { name, host, kind, published_by: publisher, projects, resource } = request;
  const [scopes, setScopes] = useState<Scope[]>(
    request.scopes.filter((scope) => DEFAULT_SCOPES.includes(scope)),
  );
  const [chosen, setChosen] = useState<string[]>(projects.length === 1 ? [projects[0]!.id] : []);
  const decide = useSingleFlightMutation({
    mutationFn: (allow: boolean) =>
      send("post", "/session/authorization", {
        body: { request: id, allow, ...(allow && { scopes, projects: chosen }) },
      }),
    // The server sends the browser on to the application.
    onSuccess: ({ data }) => location.assign(data.continue_at),
  });
  const inFront = useInFront();
  const formError = formLevelError(decide.error, []);
  return (
    <Card withBorder padding="lg" maw={620}>
      <Stack>
        <Stack gap={4}>
          <Title order={2} size="h3" style={{ overflowWrap: "anywhere" }}>
            {placeHeading(request)}
          </Title>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {texts.asks({ email: user.email, name })}
          </Text>
          {publisher !== null && (
            <Text size="sm" c="dimmed">
              {texts.published({ publisher })}
            </Text>
          )}
        </Stack>
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={texts.startedByYou}>
          <Text size="sm">{texts.allowOnlyIf({ kind, host, b: strong })}</Text>
        </Alert>
        {formError && <ErrorAlert error={formError} />}
        <Checkbox.Group
          label={texts.itCan}
          description={texts.roleLimits}
          value={scopes}
          onChange={setScopes}
          error={issueAt(decide.error, "scopes")}
        >
          <Stack gap={6} mt={6}>
            {request.scopes.map((scope) => (
              <Checkbox
                key={scope}
                value={scope}
                label={scope}
                description={SCOPE_DESCRIPTIONS[scope]}
                disabled={scope === "read"}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        {projects.length > 1 && (
          <Checkbox.Group
            label={texts.inProjects}
            value={chosen}
            onChange={setChosen}
            error={issueAt(decide.error, "projects")}
          >
            <Stack gap={6} mt={6}>
              {projects.map((project) => (
                <Checkbox key={project.id} value={project.id} label={project.name} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {texts.endAccess({ resource })}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => decide.mutate(false)} disabled={decide.isPending}>
            {texts.refuse}
          </Button>
          <Button
            onClick={() => decide.mutate(true)}
            loading={decide.isPending}
            disabled={chosen.length === 0 || !inFront}
          >
            {texts.allow}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}
