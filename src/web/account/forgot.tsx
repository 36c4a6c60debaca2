import { Page } from "../ui/page.tsx";

export default function Forgot() {
  return <Page title="Forgot">To be made.</Page>;
}
