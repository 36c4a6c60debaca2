/** The second factors of the current user: authenticator apps, passkeys and recovery codes. */
import { Badge, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import * as texts from "#texts/account";
import type { SecondFactor, SecondFactors as Factors } from "../../../schemas/second-factor.ts";
import { ApiError, send } from "../api/client.ts";
import { sessionQuery } from "../app/session.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { QueryContent } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { ConfirmIdentity } from "./confirm-identity.tsx";
import { hasPasskeys } from "./passkey.ts";
import { RecoveryCodes } from "./recovery-codes.tsx";

const AddTotp = lazy(async () => ({ default: (await import("./add-factor.tsx")).AddTotp }));
const AddPasskey = lazy(async () => ({ default: (await import("./add-factor.tsx")).AddPasskey }));

/** What a dialog does. Those that change something wait for a confirmation first. */
type Action =
  | { kind: "totp" }
  | { kind: "passkey" }
  | { kind: "codes" }
  | { kind: "remove"; factor: SecondFactor }
  | { kind: "show"; codes: readonly string[] };

const factorsQuery = {
  queryKey: ["second-factors"],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await send("get", "/session/factors", { signal })).data,
};

/** Whether the same request succeeds once the user has confirmed who they are. */
const needsConfirmation = (error: Error): boolean =>
  error instanceof ApiError && error.code === "reauthentication_required";

interface SecondFactorsProps {
  email: string;
  /** Called when the first factor is set up, and its recovery codes are saved. */
  onSetUp?: () => void;
}

export function SecondFactors(props: SecondFactorsProps) {
  return (
    <QueryContent query={useQuery(factorsQuery)}>
      {(factors) => <Loaded {...props} factors={factors} />}
    </QueryContent>
  );
}

function Loaded({ email, onSetUp, factors: loaded }: SecondFactorsProps & { factors: Factors }) {
  const { factors, recovery_codes, required, passkey_origin } = loaded;
  const client = useQueryClient();
  const [action, setAction] = useState<Action>();
  const [isConfirming, setConfirming] = useState(false);
  const refresh = async (): Promise<void> => {
    await client.invalidateQueries({ queryKey: factorsQuery.queryKey });
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await client.invalidateQueries({ queryKey: ["sessions"] });
  };
  const change = useMutation({
    mutationFn: async (next: Extract<Action, { kind: "codes" | "remove" }>) => {
      if (next.kind === "codes")
        return (await send("post", "/session/factors/recovery-codes", {})).data.recovery_codes;
      await send("post", "/session/factors/remove", { body: { factor_id: next.factor.id } });
      return undefined;
    },
    onSuccess: (codes) => {
      if (codes === undefined) notifySuccess(texts.factorRemoved);
      setAction(codes === undefined ? undefined : { kind: "show", codes });
      void refresh();
    },
    onError: (error, next) => {
      if (needsConfirmation(error)) {
        setAction(next);
        setConfirming(true);
      } else notifyError(texts.factorFailed, error);
    },
  });
  const perform = (next: Action): void => {
    if (next.kind === "codes" || next.kind === "remove") return change.mutate(next);
    setAction(next);
  };
  /** Opens a dialog, after a confirmation if the last one is too old. */
  const open = async (next: Action): Promise<void> => {
    const { confirmed_until } = await client.fetchQuery({ ...factorsQuery, staleTime: 0 });
    if (confirmed_until !== null) return perform(next);
    setAction(next);
    setConfirming(true);
  };
  const onAdded = (codes: readonly string[] | null): void => {
    // The codes first: the session changes with the first factor, and what a page shows with it.
    setAction(codes === null ? undefined : { kind: "show", codes });
    if (codes === null) void refresh();
    notifySuccess(texts.factorAdded);
  };
  const close = (): void => {
    setAction(undefined);
    setConfirming(false);
    if (action?.kind === "show") void refresh().then(onSetUp);
  };
  const passkeyProblem = passkeyProblemOf(passkey_origin);
  return (
    <Stack>
      <Text size="sm">
        {factors.length === 0 ? texts.noFactors : texts.someFactors}
        {required && ` ${texts.roleRequiresFactor}`}
      </Text>
      {factors.length > 0 && (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
          {factors.map((factor) => (
            <FactorRow
              key={factor.id}
              factor={factor}
              remove={() =>
                confirmAction({
                  title: texts.removeFactorTitle(factor),
                  consequence: factors.length === 1 ? texts.removeLastFactor : texts.removeOtherFactor,
                  confirm: texts.removeFactor,
                  onConfirm: () => void open({ kind: "remove", factor }),
                })
              }
            />
          ))}
        </Stack>
      )}
      <Group>
        <Button variant="default" onClick={() => void open({ kind: "totp" })}>
          {texts.addApp}
        </Button>
        <Button
          variant="default"
          disabled={passkeyProblem !== undefined}
          aria-describedby={passkeyProblem === undefined ? undefined : "no-passkeys"}
          onClick={() => void open({ kind: "passkey" })}
        >
          {texts.addPasskey}
        </Button>
        {factors.length > 0 && (
          <Button variant="default" onClick={() => void open({ kind: "codes" })}>
            {texts.newCodes}
          </Button>
        )}
      </Group>
      {passkeyProblem !== undefined && (
        <Text id="no-passkeys" size="sm" c="dimmed">
          {passkeyProblem}
        </Text>
      )}
      {factors.length > 0 && (
        <Text size="sm" c={recovery_codes < 3 ? "var(--mantine-color-error)" : "dimmed"}>
          {texts.codesLeft({ count: recovery_codes })}
        </Text>
      )}
      <Modal
        opened={action !== undefined}
        onClose={close}
        title={isConfirming ? texts.confirmYourself : texts.factorDialog({ kind: action?.kind ?? "totp" })}
        closeOnClickOutside={action?.kind !== "show"}
        closeOnEscape={action?.kind !== "show"}
        withCloseButton={action?.kind !== "show"}
        closeButtonProps={{ "aria-label": texts.close }}
      >
        {action !== undefined && isConfirming ? (
          <ConfirmIdentity
            email={email}
            methods={[...new Set(factors.map(({ kind }) => kind))]}
            onConfirmed={() => {
              setConfirming(false);
              perform(action);
            }}
          />
        ) : (
          <Suspense fallback={null}>
            {action?.kind === "totp" && <AddTotp onAdded={onAdded} />}
            {action?.kind === "passkey" && <AddPasskey onAdded={onAdded} />}
            {action?.kind === "show" && <RecoveryCodes codes={action.codes} email={email} onSaved={close} />}
          </Suspense>
        )}
      </Modal>
    </Stack>
  );
}

/** Why this page can add no passkey. */
function passkeyProblemOf(origin: string | null): string | undefined {
  if (origin === null) return texts.passkeysNeedName;
  if (origin !== location.origin) return texts.passkeysElsewhere({ origin });
  return hasPasskeys() ? undefined : texts.noPasskeys;
}

function FactorRow({ factor, remove }: { factor: SecondFactor; remove: () => void }) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap">
      <Stack gap={2} style={{ minWidth: 0 }}>
        <Group gap="xs">
          <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>
            {factor.name}
          </Text>
          <Badge variant="light" tt="none">
            {texts.factorKind(factor)}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed" component="div">
          {factor.last_used_at === null
            ? texts.factorUnused({ added: <Time at={factor.created_at} ago /> })
            : texts.factorTimes({
                added: <Time at={factor.created_at} ago />,
                used: <Time at={factor.last_used_at} ago />,
              })}
        </Text>
      </Stack>
      <Button
        size="xs"
        variant="default"
        style={{ flexShrink: 0 }}
        aria-label={texts.removeNamed(factor)}
        onClick={remove}
      >
        {texts.removeFactor}
      </Button>
    </Group>
  );
}
