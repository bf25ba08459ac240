// The live connection: server-sent events, read through fetch so that a token can be sent along.

const TOKEN = "purse-token";
const SILENCE = 40_000; // ms without even a heartbeat after which a connection counts as lost
const LONGEST = 30_000;

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (value) => sessionStorage.setItem(TOKEN, value),
  forget: () => sessionStorage.removeItem(TOKEN),
};

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Ask the server; a refusal is thrown with its detail. */
export async function request(path, { headers = {}, ...options } = {}) {
  const held = token.get();
  const answer = await fetch(path, { cache: "no-store", ...options, headers: { ...headers, ...(held && { Authorization: `Bearer ${held}` }) } });
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new Refusal(answer.status, problem.detail ?? problem.title ?? `the server answered ${answer.status}`);
}

/** Follows one campaign at a time. Calls back with `picture(facts)`, `role(name)`, `state(name, since or wait)` and `refused(refusal)`. */
export class Live {
  constructor(callbacks) {
    this.callbacks = callbacks;
    this.heard = Date.now();
    this.tries = 0;
    setInterval(() => this.controller && Date.now() - this.heard > SILENCE && this.controller.abort(), 5000);
    for (const name of ["online", "pageshow"]) addEventListener(name, () => this.hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.hurry());
  }

  follow(name, span = "all") {
    this.stop();
    this.name = name;
    this.span = span;
    this.tries = 0;
    this.callbacks.state("connecting");
    this.run(name);
  }

  stop() {
    this.name = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.controller?.abort();
    this.controller = undefined;
  }

  hurry() {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.run(this.name);
  }

  async run(name) {
    this.timer = undefined;
    const controller = new AbortController();
    this.controller = controller;
    const current = () => this.name === name && this.controller === controller;
    try {
      this.heard = Date.now();
      const answer = await request(`campaigns/${encodeURIComponent(name)}/events?span=${this.span}`, { signal: controller.signal });
      this.callbacks.role(answer.headers.get("X-Purse-Role"));
      await this.read(answer.body, current);
    } catch (error) {
      if (!current()) return;
      if (error instanceof Refusal && [401, 403, 404].includes(error.status)) {
        this.stop();
        this.callbacks.refused(error);
        return;
      }
    }
    if (current()) this.again(name);
  }

  async read(body, current) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !current()) return;
      this.heard = Date.now();
      this.tries = 0;
      this.callbacks.state("live");
      const events = (buffer + value).split("\n\n");
      buffer = events.pop();
      for (const event of events) {
        const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
        if (data) this.callbacks.picture(JSON.parse(data));
      }
    }
  }

  again(name) {
    this.controller = undefined;
    const wait = Math.min(LONGEST, 500 * 2 ** this.tries++) * (0.5 + Math.random() / 2);
    this.callbacks.state(this.tries > 2 ? "stale" : "reconnecting", this.heard / 1000);
    this.timer = setTimeout(() => this.run(name), wait);
  }
}
