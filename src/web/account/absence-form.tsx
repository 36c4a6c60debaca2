/** When the user is away, and who decides approvals in their place. */
import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/account";
import type { Absence } from "../../../schemas/absence.ts";
import { send } from "../api/client.ts";
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
      <Text size="sm">{texts.absenceHelp}</Text>
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
    <Alert color="blue" title={texts.standInFor({ people: people.join(", ") })} role="note">
      {texts.standInHelp}
    </Alert>
  );
}

function SetAbsence({ absence }: { absence: Absence }) {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => send("delete", "/absence", { query: {} }),
    onSuccess: () => notifySuccess(texts.absenceEnded),
    onError: (error) => notifyError(texts.absenceEndFailed, error),
    onSettled: () => client.invalidateQueries({ queryKey: ["absence"] }),
  });
  const sentence = absence.active ? texts.awayNow : texts.awayLater;
  return (
    <>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {sentence({
          from: <Time at={absence.from!} />,
          until: <Time at={absence.until!} />,
          substitute: absence.substitute!,
        })}
      </Text>
      <Group>
        <Button variant="default" loading={end.isPending} onClick={() => end.mutate()}>
          {absence.active ? texts.back : texts.removeAbsence}
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
    onSuccess: () => notifySuccess(texts.absenceSaved),
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
          label={texts.awayFrom}
          description={texts.awayFromHelp}
          type="datetime-local"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
          error={issueAt(save.error, "from")}
        />
        <TextInput
          label={texts.backAt}
          type="datetime-local"
          required
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
          error={issueAt(save.error, "until")}
        />
        <TextInput
          label={texts.substitute}
          description={texts.substituteHelp}
          type="email"
          required
          value={substitute}
          onChange={(event) => setSubstitute(event.currentTarget.value)}
          error={issueAt(save.error, "substitute")}
        />
        <Group>
          <Button type="submit" loading={save.isPending}>
            {texts.saveAbsence}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The local time of the field in UTC. */
const toIso = (local: string): string => new Date(local).toISOString();
