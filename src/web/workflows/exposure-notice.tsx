/** Says whether agents get a workflow as a tool, and lets an admin allow it or withdraw it. */
import { Alert, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconRobot } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Exposure } from "../../../schemas/exposure.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { Time } from "../ui/time.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { IssueList } from "./issue-list.tsx";
import { exposureQuery } from "./queries.ts";

export function ExposureNotice({ workflow }: { workflow: WorkflowWithDefinition }) {
  const { id, status, version, published_version: published, definition } = workflow;
  // The newest version is known; an older published one may ask for it as well.
  const mayAsk = published !== version || definition?.["expose_as_tool"] === true;
  const { data: exposure } = useQuery({ ...exposureQuery(id), enabled: status === "published" && mayAsk });
  if (exposure === undefined || exposure.state === "not_requested") return null;
  return exposure.state === "allowed" ? <Allowed exposure={exposure} /> : <Requested exposure={exposure} />;
}

function Requested({ exposure }: { exposure: Exposure }) {
  const isAdmin = useHasScope()("admin");
  const { allow } = useExposureMutations(exposure.workflow_id);
  return (
    <Alert color="yellow" icon={<IconRobot aria-hidden />} title="Not yet a tool for agents">
      {isAdmin ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            {exposure.author} asks to give version {exposure.version} to agents as a tool of its own. They
            would read these texts. Allow it only if they describe the workflow and instruct nobody.
          </Text>
          <Texts exposure={exposure} />
          <Effects exposure={exposure} />
          {exposure.warnings.length > 0 && <IssueList issues={exposure.warnings} label="Warnings" />}
          <Button size="xs" loading={allow.isPending} onClick={() => allow.mutate(exposure)}>
            Allow as a tool
          </Button>
        </Stack>
      ) : (
        <Text size="sm">
          It is published, but agents don’t get it as a tool of its own until an admin allows it.
        </Text>
      )}
    </Alert>
  );
}

function Allowed({ exposure }: { exposure: Exposure }) {
  const isAdmin = useHasScope()("admin");
  const { withdraw } = useExposureMutations(exposure.workflow_id);
  const { allowed_by: by, allowed_at: at } = exposure;
  return (
    <Alert color="gray" icon={<IconRobot aria-hidden />} title="A tool for agents">
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          Agents get it as the tool <Code>{exposure.tool_name}</Code>. Allowed by {by}
          {at !== null && (
            <>
              {" "}
              <Time at={at} ago />
            </>
          )}
          .
        </Text>
        {isAdmin && (
          <Button
            size="xs"
            variant="default"
            loading={withdraw.isPending}
            onClick={() => withdraw.mutate(exposure)}
          >
            Withdraw
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** The texts that agents would get, which may differ from those of the newest version. */
function Texts({ exposure }: { exposure: Exposure }) {
  const { name, description, inputs, tool_name: toolName, listed_inputs: listed } = exposure;
  const [written, shown] = [inputs, listed].map((schema) =>
    schema === null ? "none" : JSON.stringify(schema, null, 2),
  );
  const texts = [
    ["Name", name],
    ["Tool", toolName],
    ["Description", description],
    ["Inputs", written],
    ...(inputs === null || shown === written ? [] : [["Inputs as agents get them", shown] as const]),
  ] as const;
  return (
    <Stack gap={4} w="100%">
      {texts.map(([label, text]) => (
        <div key={label}>
          <Text size="sm" fw={600}>
            {label}
          </Text>
          <Code
            block
            mah={180}
            style={{ overflow: "auto", whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
          >
            {text === null || text === undefined || text === "" ? "none" : text}
          </Code>
        </div>
      ))}
    </Stack>
  );
}

function Effects({ exposure: { effects, read_only: readOnly } }: { exposure: Exposure }) {
  if (effects.length === 0) return <Text size="sm">Its runs reach nothing outside of Millrace.</Text>;
  return (
    <div>
      <Text size="sm">
        {readOnly
          ? "It is announced as read-only. Its runs reach:"
          : "Its runs reach, also through workflows that it runs:"}
      </Text>
      <List size="sm" spacing={2}>
        {effects.map((effect) => (
          <List.Item key={effect}>
            <Code style={{ overflowWrap: "anywhere" }}>{effect}</Code>
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function useExposureMutations(id: string) {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: exposureQuery(id).queryKey });
  const request = { path: { workflow_id: id } };
  const allow = useSingleFlightMutation({
    mutationFn: ({ digest }: Exposure) =>
      send("post", "/workflows/{workflow_id}/exposure/allow", {
        ...request,
        header: idempotencyHeader(),
        body: { digest: digest ?? "" },
      }),
    onSuccess: () => notifySuccess("Agents now get this workflow as a tool."),
    onError: (error) => notifyError("Could not allow it", error),
    onSettled,
  });
  const withdraw = useSingleFlightMutation({
    mutationFn: (_exposure: Exposure) =>
      send("post", "/workflows/{workflow_id}/exposure/withdraw", {
        ...request,
        header: idempotencyHeader(),
        body: {},
      }),
    onSuccess: () => notifySuccess("Agents no longer get this workflow as a tool."),
    onError: (error) => notifyError("Could not withdraw it", error),
    onSettled,
  });
  return { allow, withdraw };
}
