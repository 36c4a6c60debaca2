/** Points out workflows that have the name already that one is about to get: people and agents would mix them up. */
import { Anchor, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import * as texts from "#texts/workflows";
import { send } from "../api/client.ts";
import { searchIssue } from "./filters.ts";

const DEBOUNCE_MS = 300;
/** Number of workflows that a search compares, and that are named. */
const [SEARCHED, NAMED] = [50, 3];

const plain = (name: string): string => name.normalize("NFC").trim().replace(/\s+/g, " ").toLowerCase();

/** @param ownId the workflow itself, which may keep its name */
export function SameName({ name, ownId }: { name: string; ownId?: string | undefined }) {
  const [wanted] = useDebouncedValue(plain(name), DEBOUNCE_MS);
  const { data } = useQuery({
    queryKey: ["workflows", "same-name", wanted],
    queryFn: async ({ signal }) =>
      (await send("get", "/workflows", { query: { search: wanted, limit: SEARCHED }, signal })).data,
    enabled: wanted !== "" && searchIssue(wanted) === undefined,
    staleTime: 30_000,
  });
  const same = (data ?? []).filter(
    (workflow) => plain(workflow.name) === plain(name) && workflow.id !== ownId,
  );
  if (same.length === 0) return null;
  return (
    <Text size="sm" role="status" mt={-8} style={{ overflowWrap: "anywhere" }}>
      {texts.sameName({
        workflows: same.slice(0, NAMED).map(({ id }, index) => (
          <span key={id}>
            {index > 0 && ", "}
            <Anchor component={Link} to={`/workflows/${id}`} target="_blank" inherit underline="always">
              {id}
            </Anchor>
          </span>
        )),
        more: Math.max(0, same.length - NAMED),
      })}
    </Text>
  );
}
