// A typed client of `purse serve`: it repeats what got no answer, and throws every error as a
// problem with its type. `purse.d.ts` has the types; make_types.py writes them.

import createClient, { type Client } from "openapi-fetch";
import { setTimeout as wait } from "node:timers/promises";
import type { components, paths } from "./purse.js";

export type Problem = components["schemas"]["Problem"];
export type Ticket = components["schemas"]["Ticket"];

const PREFIX = "urn:purse:problem:";
const REPEATED = [429, 503]; // their header Retry-After says when
const ATTEMPTS = 8;

/** An answer of the service that is an error; `type` is the last word of the problem's type. */
export class ProblemError extends Error {
  readonly type: string;

  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.type = problem.type.replace(PREFIX, "");
  }
}

/** A client of the service at `url`; without a token only on the service's own machine. */
export function connect(url: string, token?: string): Client<paths> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return createClient<paths>({ baseUrl: url, headers });
}

interface Answer<Data> {
  data?: Data;
  error?: Problem;
  response: Response;
}

/**
 * The data of an answer; a problem is thrown.
 *
 * A request that got no answer is sent again. That is safe with a `request_id`, and for reports:
 * a repeat has no second effect.
 */
export async function sent<Data>(request: () => Promise<Answer<Data>>): Promise<Data> {
  for (let attempt = 1; ; attempt++) {
    let seconds = 2 ** attempt / 10;
    try {
      const { data, error, response } = await request();
      if (error === undefined) return data as Data;
      if (!REPEATED.includes(response.status) || attempt === ATTEMPTS) {
        throw new ProblemError(error);
      }
      seconds = error.seconds ?? Number(response.headers.get("Retry-After") ?? seconds);
    } catch (failure) {
      // fetch throws a TypeError where nobody answers
      if (!(failure instanceof TypeError) || attempt === ATTEMPTS) throw failure;
    }
    await wait(1000 * seconds);
  }
}
