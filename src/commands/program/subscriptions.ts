/** `subscriptions`. */
import { type Command, Option } from "commander";
import { DeliveryState, EVENT_TYPES, SubscriptionFormat } from "../../../schemas/subscription.ts";
import type { Io } from "../io.ts";
import { configOption, jsonOption } from "./options.ts";

const ID_ARGUMENT = "id of the subscription";
const load = () => import("../subscriptions.ts");

const eventOption = (): Option =>
  new Option("--event <event...>", "what to deliver").choices([...EVENT_TYPES]);

export function registerSubscriptions(program: Command, io: Io): void {
  const subscriptions = program
    .command("subscriptions")
    .description("list, create and change what is delivered to URLs when something happens");

  subscriptions
    .command("list")
    .description("list subscriptions, newest first")
    .option("--project <id>", "only of this project")
    .addOption(jsonOption())
    .action(async (options) => (await load()).showSubscriptions(io, options));

  subscriptions
    .command("create")
    .description("deliver events to a URL; standard output holds nothing but the signing secret")
    .requiredOption("--name <name>", "name that people see")
    .addOption(eventOption().makeOptionMandatory())
    .option("--url <url>", "where to")
    .option(
      "--url-secret <name>",
      "name of a secret of the configuration whose value is the URL, as for chats",
    )
    .addOption(new Option("--format <format>", "format").choices(SubscriptionFormat.options))
    .option("--project <id>", "project (default: the default one)")
    .option("--workflow <id...>", "only events of these workflows")
    .option("--tag <tag...>", "only events of workflows with one of these tags")
    .option("--include-values", "with the inputs and outputs of runs")
    .addOption(configOption())
    .action(async (options) => (await load()).addSubscription(io, options));

  subscriptions
    .command("change")
    .description("change, pause or resume a subscription")
    .argument("<subscription>", ID_ARGUMENT)
    .option("--name <name>", "name that people see")
    .addOption(eventOption())
    .option("--url <url>", "where to")
    .option("--url-secret <name>", "name of a secret whose value is the URL")
    .option("--workflow <id...>", "only events of these workflows")
    .option("--tag <tag...>", "only events of workflows with one of these tags")
    .option("--include-values", "with the inputs and outputs of runs")
    .option("--no-include-values", "without them")
    .addOption(new Option("--pause", "deliver nothing until it is resumed").conflicts("resume"))
    .option("--resume", "deliver again")
    .addOption(configOption())
    .action(async (id, options) => (await load()).changeSubscription(io, id, options));

  subscriptions
    .command("delete")
    .description("delete a subscription with its deliveries")
    .argument("<subscription>", ID_ARGUMENT)
    .action(async (id) => (await load()).removeSubscription(io, id));

  subscriptions
    .command("rotate")
    .description("replace the signing secret; standard output holds nothing but the new one")
    .argument("<subscription>", ID_ARGUMENT)
    .option("--overlap <duration>", "how long the secret before signs too (default: 24h)")
    .action(async (id, options) => (await load()).rotateSecret(io, id, options));

  subscriptions
    .command("test")
    .description("send a test event")
    .argument("<subscription>", ID_ARGUMENT)
    .action(async (id) => (await load()).sendTest(io, id));

  subscriptions
    .command("deliveries")
    .description("show the newest deliveries")
    .argument("[subscription]", ID_ARGUMENT)
    .addOption(new Option("--state <state>", "only in this state").choices(DeliveryState.options))
    .addOption(jsonOption())
    .action(async (id, options) => (await load()).showDeliveries(io, id, options));

  subscriptions
    .command("redeliver")
    .description("send an event again that was delivered, or given up")
    .argument("<delivery>", "id of the delivery")
    .action(async (id) => (await load()).deliverAgain(io, id));
}
