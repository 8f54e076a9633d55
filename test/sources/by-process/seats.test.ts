import { describe, expect, test } from "vitest";
import { type Process, processTable } from "../../../src/probe/processes.ts";
import { findSeats, type Program, type Seat } from "../../../src/sources/by-process/seats.ts";

const tool: Program = {
  isProgram: ({ argv }) => argv.some((arg) => arg.endsWith("/tool")),
  named: ({ argv }) => (argv.includes("--session") ? { id: argv.at(-1) ?? "" } : null),
};

function process(pid: number, ppid: number, argv: string[], more: Partial<Process> = {}): Process {
  return { pid, ppid, argv, cwd: "/w", comm: "x", startTicks: "1", tty: null, locksHeld: [], startedAt: pid, ...more };
}

const seat = (id: string, updatedAt: number, cwd = "/w"): Seat => {
  return { id, cwd, updatedAt, parent: null, open: true, store: null };
};

describe("of processes that descend from each other in one folder one has a session", () => {
  const old = seat("old", 100);
  const young = seat("young", 200);
  const launcher = process(10, 1, ["node", "/bin/tool"]);
  test.each<[string, Process[], Seat[], Record<string, number>]>([
    [
      "a launcher and the same command with more options for its runtime",
      [launcher, process(11, 10, ["/usr/bin/node", "--max-old-space-size=8000", "/bin/tool"])],
      [old, young],
      { young: 11 },
    ],
    [
      "a launcher and its binary, with the same arguments",
      [process(10, 1, ["node", "/bin/tool", "-c"]), process(11, 10, ["/lib/tool", "-c"])],
      [old, young],
      { young: 11 },
    ],
    [
      "a launcher of a launcher, with a shell between",
      [launcher, process(11, 10, ["sh"]), process(12, 11, ["node", "/bin/tool"]), process(13, 12, ["/lib/tool"])],
      [old, young],
      { young: 13 },
    ],
    ["a command is as old as its launcher", [launcher, process(150, 10, ["/lib/tool"])], [old], { old: 150 }],
    [
      "an agent and what it started for itself",
      [launcher, process(150, 10, ["sh"]), process(151, 150, ["/lib/tool", "-p", "Scan"])],
      [old, young],
      { young: 10 },
    ],
    [
      "an agent whose session is named and what it started for itself",
      [process(10, 1, ["/bin/tool", "--session", "old"]), process(11, 10, ["/bin/tool", "-p", "Scan"])],
      [old, young],
      { old: 10 },
    ],
    [
      "what an agent started has the session that began since, the agent its own",
      [launcher, process(150, 10, ["sh"]), process(151, 150, ["/lib/tool", "-p", "Scan"])],
      [
        { ...old, createdAt: 50 },
        { ...young, createdAt: 160 },
      ],
      { old: 10, young: 151 },
    ],
    [
      "an agent without a session, and what it started",
      [process(10, 1, ["/bin/tool", "--session", "none"]), process(151, 10, ["/lib/tool", "-p", "Scan"])],
      [{ ...young, createdAt: 160 }],
      { none: 10, young: 151 },
    ],
    [
      "what an agent started through a launcher of its own",
      [launcher, process(151, 10, ["node", "/bin/tool", "-p", "x"]), process(152, 151, ["/lib/tool", "-p", "x"])],
      [
        { ...old, createdAt: 50 },
        { ...young, createdAt: 160 },
      ],
      { old: 10, young: 152 },
    ],
    [
      "but not one in another folder",
      [launcher, process(11, 10, ["/bin/tool"], { cwd: "/v" })],
      [old, young, seat("other", 300, "/v")],
      { young: 10, other: 11 },
    ],
    [
      "but not those that began side by side",
      [launcher, process(11, 1, ["/bin/tool"])],
      [old, young],
      { young: 11, old: 10 },
    ],
    ["nor is a process its own launcher", [process(10, 10, ["/bin/tool"])], [young], { young: 10 }],
  ])("%s", (_, processes, seats, live) => {
    const found = findSeats(seats, processTable(processes), tool);
    expect(Object.fromEntries([...found].map(([id, one]) => [id, one.process.pid]))).toEqual(live);
  });
});
