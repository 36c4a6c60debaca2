/** `reviews`. */
import { type Command, Option } from "commander";
import { ReviewStatus } from "../../../schemas/review.ts";
import type { Io } from "../io.ts";
import { configOption, jsonOption } from "./options.ts";

const ID_ARGUMENT = "id of the change request";
const load = () => import("../reviews.ts");

export function registerReviews(program: Command, io: Io): void {
  const reviews = program
    .command("reviews")
    .description("list, show, approve and reject requests to publish a version");

  reviews
    .command("list")
    .description("list change requests, newest first")
    .addOption(new Option("--status <status>", "status").choices(ReviewStatus.options).default("pending"))
    .option("--project <id>", "only of this project")
    .addOption(jsonOption())
    .action(async (options) => (await load()).showReviews(io, options));

  reviews
    .command("show")
    .description("show the difference, what its runs can do, its examples and the digest")
    .argument("<review>", ID_ARGUMENT)
    .addOption(jsonOption())
    .action(async (id, options) => (await load()).showReview(io, id, options));

  reviews
    .command("approve")
    .description("publish the version, if the digest still stands for what goes live")
    .argument("<review>", ID_ARGUMENT)
    .requiredOption("--digest <digest>", "digest that reviews show prints")
    .option("--comment <text>", "reason")
    .addOption(configOption())
    .action(async (id, options) => (await load()).decide(io, id, { decision: "approve", ...options }));

  reviews
    .command("reject")
    .description("reject a change request")
    .argument("<review>", ID_ARGUMENT)
    .requiredOption("--comment <text>", "reason, which the author reads")
    .action(async (id, options) => (await load()).decide(io, id, { decision: "reject", ...options }));

  reviews
    .command("withdraw")
    .description("withdraw a change request that the command line made")
    .argument("<review>", ID_ARGUMENT)
    .action(async (id) => (await load()).withdraw(io, id));
}
