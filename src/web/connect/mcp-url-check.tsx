/** Shows whether clients reach the MCP server at the URL in the snippets. The server asks, because a browser may not read the answers. */
import { Alert, Button, Group, Loader, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { send } from "../api/client.ts";

const RESULTS = {
  ok: { color: "green", Icon: IconCheck, title: "The MCP server can be reached" },
  warning: {
    color: "yellow",
    Icon: IconAlertTriangle,
    title: "Clients may not be able to connect at this URL",
  },
  unchecked: { color: "gray", Icon: IconInfoCircle, title: "This URL could not be checked" },
} as const;

export function McpUrlCheck() {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["mcp-check"],
    queryFn: async ({ signal }) => (await send("get", "/session/mcp-check", { signal })).data,
    refetchOnWindowFocus: false,
  });
  return (
    <div role="status" aria-label="Check of the MCP URL">
      {isFetching ? (
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          <Text size="sm">Checking the MCP URL…</Text>
        </Group>
      ) : error !== null ? (
        <Result status="unchecked" detail={error.message} fix={null} onRepeat={() => void refetch()} />
      ) : (
        data !== undefined && <Result {...data} onRepeat={() => void refetch()} />
      )}
    </div>
  );
}

interface ResultProps {
  status: keyof typeof RESULTS;
  detail: string;
  fix: string | null;
  onRepeat(): void;
}

function Result({ status, detail, fix, onRepeat }: ResultProps) {
  const { color, Icon, title } = RESULTS[status];
  return (
    <Alert color={color} icon={<Icon aria-hidden />} title={title}>
      <Text size="sm">
        {detail}. {fix}
      </Text>
      <Button variant="default" size="xs" mt="xs" onClick={onRepeat}>
        Check again
      </Button>
    </Alert>
  );
}
