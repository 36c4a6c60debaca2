import { Page } from "../ui/page.tsx";

export default function Audit() {
  return <Page title="Audit">To be made.</Page>;
}
