/** For who may look, but not do this. */
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useSession } from "../app/session.tsx";
import { Empty, Page } from "../ui/page.tsx";

/** @param what what can't be done: "change workflows" */
export function NoScope({ title, what, back }: { title: string; what: string; back: string }) {
  const { user } = useSession();
  return (
    <Page title={title}>
      <Empty
        title={`As ${user.role} you can't ${what}`}
        action={
          <Button component={Link} to={back} variant="default">
            Back
          </Button>
        }
      >
        You may look at everything. An admin can give you another role.
      </Empty>
    </Page>
  );
}
