// Spend a budget of half a dollar on calls of two models, until the service says that it is spent.
//
// The calls are made up here (`call` below); put yours in its place. Run it beside `purse serve`:
//   npm ci && npm start
// PURSE_URL is where the service is, and PURSE_TOKEN a token with the role admin, where it needs one.

import { randomUUID } from "node:crypto";
import { ProblemError, connect, sent, type Ticket } from "./client.js";

const NAME = "prompts-ts";
const QUALITY: Record<string, number> = { small: 0.55, large: 0.85 };
const DOLLARS: Record<string, number> = { small: 0.002, large: 0.02 };
const FAILURES = 0.02; // share of calls that do not work

const client = connect(process.env.PURSE_URL ?? "http://127.0.0.1:8000", process.env.PURSE_TOKEN);
const params = { path: { name: NAME } };

/** A call's quality, from 0 to 1, and its price in dollars, as decimal text. */
function call(model: string): { reward: number; cost: string } {
  if (Math.random() < FAILURES) throw new Error("the provider refuses, and charges nothing");
  const price = (DOLLARS[model] ?? 0) * (0.5 + Math.random());
  return { reward: Number(Math.random() < (QUALITY[model] ?? 0)), cost: price.toFixed(6) };
}

/** The campaign, made by whoever comes first. */
async function create(): Promise<void> {
  try {
    const body = {
      name: NAME,
      arms: { small: "0.004", large: "0.04" }, // the most that a call may cost
      budget: "0.5",
      cost_min: "0.0001",
      resources: ["USD"],
      cooldown: 0.1,
    };
    await sent(() => client.POST("/campaigns", { body }));
  } catch (failure) {
    if (!(failure instanceof ProblemError && failure.type === "campaign-exists")) throw failure;
  }
}

/** Tell what a ticket brought and cost, or that its call did not work. */
async function use(ticket: Ticket): Promise<void> {
  const params = { path: { name: NAME, ticket: ticket.id } };
  let body: ReturnType<typeof call>;
  try {
    body = call(ticket.arm ?? "");
  } catch (failure) {
    const body = { cost: 0, reason: String(failure) };
    await sent(() => client.POST("/campaigns/{name}/tickets/{ticket}/fail", { params, body }));
    return;
  }
  await sent(() => client.POST("/campaigns/{name}/tickets/{ticket}/tell", { params, body }));
}

await create();
let ended: ProblemError | undefined;
while (ended === undefined) {
  const body = { request_id: randomUUID() }; // a repeat gets the same ticket, and no second hold
  try {
    const { tickets } = await sent(() => client.POST("/campaigns/{name}/asks", { params, body }));
    // a round that the policy lets pass has no arm, and nothing is told
    for (const ticket of tickets) if (ticket.arm !== null) await use(ticket);
  } catch (failure) {
    if (!(failure instanceof ProblemError && failure.type === "budget-exhausted")) throw failure;
    ended = failure;
  }
}
const status = await sent(() => client.GET("/campaigns/{name}", { params }));
for (const { resource, spent, held, budget } of status.purses) {
  console.log(`${ended.type}: spent ${spent} of ${budget} ${resource}, held ${held}`);
}
console.log(`told ${status.counts.told}, failed ${status.counts.failed}`);
