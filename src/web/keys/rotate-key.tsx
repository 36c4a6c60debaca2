/** The dialog to rotate a key: creates its successor, and keeps the old key active for a while. */
import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/keys";
import * as uiTexts from "#texts/ui";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import type { NewKey } from "./queries.ts";

const OVERLAP_OPTIONS = [
  { value: "0s", label: texts.overlapNone },
  { value: "1h", label: texts.overlap1Hour },
  { value: "24h", label: texts.overlap24Hours },
  { value: "7d", label: texts.overlap7Days },
  { value: "30d", label: texts.overlap30Days },
];

interface RotateKeyProps {
  apiKey: ApiKey;
  onClose: () => void;
  onRotated: (key: NewKey) => void;
}

export function RotateKey({ apiKey, onClose, onRotated }: RotateKeyProps) {
  useRestoreFocus();
  const client = useQueryClient();
  const [overlap, setOverlap] = useState("24h");
  const [header] = useState(idempotencyHeader);
  const rotate = useSingleFlightMutation({
    mutationFn: () =>
      send("post", "/api-keys/{key_id}/rotate", { path: { key_id: apiKey.id }, body: { overlap }, header }),
    onSuccess: ({ data }) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] });
      onRotated(data);
    },
  });
  return (
    <Modal opened onClose={onClose} title={texts.rotateTitle({ name: apiKey.name })}>
      <Stack>
        {rotate.error && <ErrorAlert error={rotate.error} />}
        <Text size="sm">{texts.rotateHelp({ lastFour: apiKey.last_four })}</Text>
        <Select
          label={texts.keepOldFor}
          data={OVERLAP_OPTIONS}
          value={overlap}
          onChange={(value) => value !== null && setOverlap(value)}
          allowDeselect={false}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {uiTexts.cancel}
          </Button>
          <Button onClick={() => rotate.mutate()} loading={rotate.isPending}>
            {texts.rotate}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
