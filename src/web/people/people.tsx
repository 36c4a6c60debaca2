import { Page } from "../ui/page.tsx";

export default function People() {
  return <Page title="People">To be made.</Page>;
}
