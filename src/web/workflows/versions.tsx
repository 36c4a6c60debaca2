import { Page } from "../ui/page.tsx";

export default function Versions() {
  return <Page title="Versions">To be made.</Page>;
}
