/** What each person decided, and what happened since the question: reminders, escalations, and to whom it was passed on. */
import { List, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Approval } from "../../../schemas/approval.ts";
import { Section } from "../runs/section.tsx";
import { Time } from "../ui/time.tsx";
import { assigneeNames, isShared, progressText } from "./progress.ts";

type PersonalDecision = NonNullable<Approval["decisions"]>[number];
type ApprovalEvent = NonNullable<Approval["history"]>[number];

/** Nothing for an approval that one person decides, without a history. */
export function DecisionsSoFar({ approval }: { approval: Approval }) {
  const { decisions = [], history = [] } = approval;
  const isPlain =
    !isShared(approval) && decisions.every((decision) => decision.outdated !== true && !isUnusual(decision));
  if (history.length === 0 && isPlain) return null;
  const entries = [
    ...decisions.map((decision) => ({ at: decision.at, text: <DecisionText decision={decision} /> })),
    ...history.map((event) => ({ at: event.at, text: <EventText event={event} /> })),
  ].toSorted((a, b) => (a.at < b.at ? -1 : 1));
  return (
    <Section
      title={isShared(approval) ? `Decisions: ${progressText(approval)}` : "What happened so far"}
      order={2}
    >
      {entries.length === 0 ? (
        <Text size="sm">Nobody has decided yet.</Text>
      ) : (
        <List size="sm" spacing={6} listStyleType="none" aria-label="Decisions and events">
          {entries.map(({ at, text }) => (
            <List.Item key={`${at} ${textKey(text)}`}>
              <Text size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-line" }}>
                {text}{" "}
                <Text span c="dimmed" inherit>
                  <Time at={at} ago />
                </Text>
              </Text>
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}

const isUnusual = ({ for: seat, override }: PersonalDecision): boolean =>
  seat !== undefined || override === true;

const textKey = (text: ReactNode): string => JSON.stringify((text as { props: unknown }).props);

function DecisionText({
  decision: { by, for: seat, override, approved, comment, outdated },
}: {
  decision: PersonalDecision;
}) {
  return (
    <>
      <strong>{by}</strong> {approved ? "approved" : "declined"}
      {seat !== undefined && ` in the place of ${seat}`}
      {override === true && " as an admin, in place of the assignees"}
      {outdated === true && ", for a plan that has changed since: it doesn't count"}
      {comment !== null && `: “${comment}”`}
    </>
  );
}

function EventText({ event: { event, by, to, note } }: { event: ApprovalEvent }) {
  const names = assigneeNames(to);
  if (event === "delegated")
    return (
      <>
        <strong>{by}</strong> passed it on to {names}
        {note !== undefined && `: “${note}”`}
      </>
    );
  return <>{event === "escalated" ? `Escalated to ${names}` : `Reminded ${names}`}</>;
}
