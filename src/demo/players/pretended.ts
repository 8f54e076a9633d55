import type { Scenario } from "../scenario.ts";
import { Seeded } from "../seeded.ts";
import type { PretendedProcess, Stage } from "./player.ts";

/** Pids of pretended programs: above what Linux gives by default, so that no real one is meant. */
const FIRST_PID = 4_200_000;

/** The program that seems to run a session. */
export class Pretended {
  readonly row: PretendedProcess;
  readonly #stage: Stage;

  constructor(session: Scenario, stage: Stage, comm: string) {
    const seed = new Seeded(`process ${session.id}`);
    this.#stage = stage;
    this.row = {
      pid: FIRST_PID + seed.below(90_000),
      startTicks: String(100_000 + seed.below(800_000)),
      comm,
      argv: [comm],
      cwd: session.cwd,
      locksHeld: [],
    };
  }

  get runs(): boolean {
    return this.#stage.processes.includes(this.row);
  }

  begin(): void {
    if (!this.runs) this.#stage.processes.push(this.row);
  }

  end(): void {
    const at = this.#stage.processes.indexOf(this.row);
    if (at >= 0) this.#stage.processes.splice(at, 1);
  }
}
