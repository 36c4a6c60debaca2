/** What a project is granted. Its members see it; admins of the instance change it. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Grant, Project } from "../../../schemas/project.ts";
import { send } from "../api/client.ts";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { QueryContent } from "../ui/page.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { GRANT_KIND_LABELS } from "./connection-options.ts";
import { GrantForm } from "./grant-form.tsx";
import { grantsQuery } from "./queries.ts";

export function Grants({ project, disabled }: { project: Project; disabled: boolean }) {
  const query = useQuery(grantsQuery(project.id));
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {project.connections === "all"
          ? "This project may use all connections. Grants take effect once it may use only granted ones; granted hosts also where public hosts must be granted."
          : "Its workflows use these connections, and no others. A change applies from the next step on."}
      </Text>
      {!disabled && <GrantForm project={project} />}
      <QueryContent query={query}>
        {(grants) =>
          grants.length === 0 ? (
            <Text size="sm">Nothing is granted yet.</Text>
          ) : (
            <Stack component="ul" gap="xs" m={0} p={0} aria-label="Grants" style={{ listStyle: "none" }}>
              {grants.map((grant) => (
                <GrantRow
                  key={`${grant.kind} ${grant.name}`}
                  project={project}
                  grant={grant}
                  disabled={disabled}
                />
              ))}
            </Stack>
          )
        }
      </QueryContent>
    </Stack>
  );
}

function GrantRow({ project, grant, disabled }: { project: Project; grant: Grant; disabled: boolean }) {
  const { kind, name } = grant;
  const client = useQueryClient();
  const label = `${GRANT_KIND_LABELS[kind].toLowerCase().replace("mcp", "MCP")} ${name}`;
  const revoke = useSingleFlightMutation({
    mutationFn: () =>
      send("delete", "/projects/{project}/grants/{kind}/{name}", {
        path: { project: project.id, kind, name },
      }),
    onSuccess: () => notifySuccess(`Revoked the ${label}.`),
    onError: (error) => notifyError(`Couldn't revoke the ${label}`, error),
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const options = optionsLabel(grant);
  return (
    <Group component="li" justify="space-between" gap="xs">
      <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }} flex="1 1 200px">
        <Text span c="dimmed" inherit>
          {GRANT_KIND_LABELS[kind]}
        </Text>{" "}
        <Text span fw={600} inherit>
          {name}
        </Text>
        {options !== "" && ` · ${options}`}
      </Text>
      {!disabled && (
        <Button
          variant="default"
          size="xs"
          aria-label={`Revoke the ${label}`}
          loading={revoke.isPending}
          onClick={() =>
            confirmAction({
              title: `Revoke the ${label}?`,
              consequence: `Workflows of “${project.name}” that use it fail from their next step on.`,
              confirm: "Revoke",
              onConfirm: () => revoke.mutate(),
            })
          }
        >
          Revoke
        </Button>
      )}
    </Group>
  );
}

const optionsLabel = ({ access, role, tools }: Grant): string =>
  [
    access,
    role !== undefined && `role ${role}`,
    tools !== undefined && (tools.length === 0 ? "no tools" : `only ${tools.join(", ")}`),
  ]
    .filter(Boolean)
    .join(" · ");
