import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import { type Evidence, noEvidence } from "../../../src/probe/evidence.ts";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import { socketPaths } from "../../../src/sources/herrscher/index.ts";
import { herrscherSource } from "../../../src/sources/herrscher/source.ts";
import type { Delta, Services, SourceReader } from "../../../src/sources/source.ts";

/** A directory with a short path: a socket's path has about a hundred characters. */
export function socketDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "ft-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export type Answer = { ok: string } | { err: string } | { raw: string } | "hang" | "close";

/** Stands where a daemon would: both sockets, everything it was asked, and a hand on its events. */
export class FakeDaemon {
  readonly asked: string[][] = [];
  readonly connections: { command: number; events: number } = { command: 0, events: 0 };
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #listeners = new Set<Socket>();
  readonly #answer: (argv: string[]) => Answer;
  readonly #paths: { command: string; events: string };

  private constructor(paths: { command: string; events: string }, answer: (argv: string[]) => Answer) {
    this.#paths = paths;
    this.#answer = answer;
  }

  static async start(tmp: string, instance: string, answer: (argv: string[]) => Answer): Promise<FakeDaemon> {
    const paths = socketPaths({ TMPDIR: tmp }, instance);
    if (paths === null) throw new Error("no such instance");
    const daemon = new FakeDaemon(paths, answer);
    await daemon.#listen(paths.command, (socket) => daemon.#command(socket));
    await daemon.#listen(paths.events, (socket) => {
      daemon.connections.events += 1;
      daemon.#listeners.add(socket);
      socket.on("close", () => daemon.#listeners.delete(socket));
    });
    onTestFinished(() => daemon.stop());
    return daemon;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  #listen(path: string, take: (socket: Socket) => void): Promise<void> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      take(socket);
    });
    this.#servers.push(server);
    return new Promise((resolve) => server.listen(path, resolve));
  }

  #command(socket: Socket): void {
    this.connections.command += 1;
    let text = "";
    socket.on("data", (piece) => {
      text += piece.toString();
      if (!text.endsWith("\n")) return;
      const { argv } = JSON.parse(text) as { argv: string[] };
      this.asked.push(argv);
      const answer = this.#answer(argv);
      if (answer === "hang") return;
      if (answer === "close") return void socket.end();
      socket.end("raw" in answer ? answer.raw : `${JSON.stringify(answer)}\n`);
    });
  }

  send(text: string): void {
    for (const socket of this.#listeners) socket.write(text);
  }

  drop(): void {
    for (const socket of this.#listeners) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  get paths(): { command: string; events: string } {
    return this.#paths;
  }
}

/** `session list --json` of the rows in a state file. */
export function listOf(statePath: string): { ok: string } {
  const state = JSON.parse(readFileSync(statePath, "utf8")) as {
    sessions: { name: string; incarnation?: string }[] | null;
  };
  const rows = (state.sessions ?? []).map(({ incarnation, name }) => ({
    id: name,
    name,
    incarnation: incarnation ?? "",
  }));
  return { ok: JSON.stringify(rows) };
}

/** Changes a state file as the daemon does. */
export function editState(statePath: string, edit: (sessions: Record<string, unknown>[]) => unknown): void {
  const state = JSON.parse(readFileSync(statePath, "utf8")) as { sessions: Record<string, unknown>[] };
  const replaced = edit(state.sessions);
  if (Array.isArray(replaced)) state.sessions = replaced as Record<string, unknown>[];
  writeFileSync(statePath, JSON.stringify(state, null, 2));
}

export const NOON = Date.parse("2026-08-05T16:10:00Z");

function servicesFor(env: NodeJS.ProcessEnv): Services {
  return { files: new LocalFoldedFiles(), env, seen: () => null, copiedFrom: () => null, directories: () => [] };
}

/** No lock is held; with `held`, the one of that lock file is. */
export function evidenceOf(held?: string): Evidence {
  const inode = held === undefined ? 0 : statSync(held).ino;
  const locks = held === undefined ? [] : [{ kind: "FLOCK" as const, pid: process.pid, device: "0:1", inode }];
  return { ...noEvidence(NOON), locks };
}

/** Opens roots and follows what they say. */
export class Followed {
  readonly reader: SourceReader;
  readonly shown = new Map<string, Snapshot>();
  problems: string[] = [];
  last: Delta | null = null;

  constructor(dirs: string | string[], env: NodeJS.ProcessEnv, explicit = true) {
    const roots = [dirs].flat().map((path, at) => ({ source: "herrscher", index: at + 1, path, explicit }));
    this.reader = herrscherSource.open(roots, servicesFor({ FORKTAIL_NOW: new Date(NOON).toISOString(), ...env }));
    onTestFinished(() => this.reader.close());
  }

  take(delta: Delta): Delta {
    for (const snapshot of delta.changed) this.shown.set(snapshot.key, snapshot);
    for (const key of delta.removed) this.shown.delete(key);
    if (delta.problems !== null) this.problems = delta.problems.map((problem) => `${problem.kind}: ${problem.message}`);
    this.last = delta;
    return delta;
  }

  async scan(evidence: Evidence = evidenceOf()): Promise<this> {
    for await (const delta of this.reader.scan(evidence)) this.take(delta);
    return this;
  }

  get(name: string): Snapshot {
    const snapshot = this.shown.get(name.includes(":") ? name : `herrscher:${name}`);
    if (snapshot === undefined) throw new Error(`no ${name} in ${[...this.shown.keys()].join(" ")}`);
    return snapshot;
  }
}
