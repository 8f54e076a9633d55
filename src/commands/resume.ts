import { spawn } from "node:child_process";
import { goToPane, insideTmux, type Place, planResume, resumeInTmux, shellLine } from "../actions/resume.ts";
import type { ResumeCommand } from "../session/snapshot.ts";
import { jsonText } from "../session/untrusted.ts";
import { openSession, print, type SharedOptions } from "./context.ts";

interface ResumeOptions extends SharedOptions {
  print?: boolean;
  in?: Place;
}

/** `forktail resume KEY [--print] [--in split|window|here]`. */
export async function resume(options: ResumeOptions, key: string): Promise<number> {
  const { place, snapshot } = await openSession(options, key);
  const plan = await planResume(place, snapshot);
  if (options.print) {
    const command = plan.kind === "run" ? plan.command : plan.kind === "cannot" ? plan.command : snapshot.resume;
    if (command === null) throw new Error(plan.kind === "cannot" ? plan.reason : "this session has no resume command");
    if (options.json) await print(jsonText({ schema: 1, key: snapshot.key, resume: command }, 2));
    else await print(shellLine(command));
    if (plan.kind === "cannot") process.stderr.write(`forktail: note: ${plan.reason}\n`);
    await place.live.close();
    return 0;
  }
  if (plan.kind === "cannot") throw new Error(`not resumed: ${plan.reason}`);
  if (plan.kind === "go") {
    await goToPane(plan.pane, place.env);
    await place.live.close();
    return 0;
  }
  for (const note of [...plan.notes, ...((await plan.prepare?.()) ?? [])])
    process.stderr.write(`forktail: note: ${note}\n`);
  const where = options.in ?? place.config.resumeIn ?? (insideTmux(place.env) ? "split" : "here");
  await place.live.close();
  if (where !== "here" && insideTmux(place.env)) {
    await resumeInTmux(plan.command, where, place.env);
    return 0;
  }
  return runHere(plan.command);
}

/** Runs a command in this terminal and returns its exit code. */
export function runHere(command: ResumeCommand): Promise<number> {
  const [program, ...args] = command.argv;
  if (program === undefined) return Promise.reject(new Error("the resume command is empty"));
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", ...(command.cwd === null ? {} : { cwd: command.cwd }) });
    child.on("error", (error) => reject(new Error(`${program} did not start: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });
}
