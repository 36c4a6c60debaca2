import { Page } from "../ui/page.tsx";

export default function RunPage() {
  return <Page title="RunPage">To be made.</Page>;
}
