/** When the user is away, and who decides approvals in their place. */
import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Absence } from "../../../schemas/absence.ts";
import { send } from "../api/client.ts";
import { MAIL_ADDRESS_INPUT } from "../ui/mail-address-input.ts";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { ErrorAlert, LoadingSkeleton, QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { formLevelError, issueAt } from "./form-errors.ts";

const absenceQuery = queryOptions({
  queryKey: ["absence"],
  queryFn: async ({ signal }) => (await send("get", "/absence", { signal })).data,
});

export function AbsenceForm() {
  return (
    <Stack>
      <Text size="sm">
        While you are away, your substitute can decide the approvals that are assigned to you as well, and
        gets their mail. What you may not decide yourself, your substitute may not decide for you.
      </Text>
      <QueryContent query={useQuery(absenceQuery)} skeleton={<LoadingSkeleton rows={2} />}>
        {(absence) =>
          absence.until === null ? <NewAbsence absence={absence} /> : <SetAbsence absence={absence} />
        }
      </QueryContent>
    </Stack>
  );
}

function StandsInFor({ absence: { stands_in_for: people } }: { absence: Absence }) {
  return people.length === 0 ? null : (
    <Alert color="blue" title={`You stand in for ${people.join(", ")}`} role="note">
      You can decide the approvals that are assigned to them.
    </Alert>
  );
}

function SetAbsence({ absence }: { absence: Absence }) {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => send("delete", "/absence", { query: {} }),
    onSuccess: () => notifySuccess("Nobody decides in your place any more."),
    onError: (error) => notifyError("The absence wasn't ended", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["absence"] }),
  });
  return (
    <>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {absence.active ? "You are away" : "You will be away"} from <Time at={absence.from!} /> until{" "}
        <Time at={absence.until!} />. {absence.substitute} decides in your place.
      </Text>
      <Group>
        <Button variant="default" loading={end.isPending} onClick={() => end.mutate()}>
          {absence.active ? "I'm back" : "Remove"}
        </Button>
      </Group>
      <StandsInFor absence={absence} />
    </>
  );
}

function NewAbsence({ absence }: { absence: Absence }) {
  const client = useQueryClient();
  const [from, setFrom] = useState("");
  const [until, setUntil] = useState("");
  const [substitute, setSubstitute] = useState("");
  const save = useMutation({
    mutationFn: () =>
      send("put", "/absence", {
        body: {
          ...(from !== "" && { from: toIso(from) }),
          until: toIso(until),
          substitute: substitute.trim(),
        },
      }),
    onSuccess: () => notifySuccess("Your absence is saved."),
    onSettled: () => client.invalidateQueries({ queryKey: ["absence"] }),
  });
  const formError = formLevelError(save.error, ["from", "until", "substitute"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack maw={420}>
        <StandsInFor absence={absence} />
        {formError && <ErrorAlert error={formError} />}
        <TextInput
          label="Away from"
          description="Left empty, from now on."
          type="datetime-local"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
          error={issueAt(save.error, "from")}
        />
        <TextInput
          label="Back at"
          type="datetime-local"
          required
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
          error={issueAt(save.error, "until")}
        />
        <TextInput
          label="Substitute"
          description="The e-mail address of a colleague."
          {...MAIL_ADDRESS_INPUT}
          required
          value={substitute}
          onChange={(event) => setSubstitute(event.currentTarget.value)}
          error={issueAt(save.error, "substitute")}
        />
        <Group>
          <Button type="submit" loading={save.isPending}>
            Save absence
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The local time of the field in UTC. */
const toIso = (local: string): string => new Date(local).toISOString();
