import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync } from "node:fs";

/** `unavailable`: neither flock(1) nor perl can be had; `busy`: another process kept it; `refused`: the lock file itself. */
export type NoLockReason = "unavailable" | "busy" | "refused";

/** No lock was taken, so nothing may be written. */
export class CannotLock extends Error {
  override name = "CannotLock";
  readonly kind: NoLockReason;
  readonly path: string;

  constructor(kind: NoLockReason, path: string, message: string) {
    super(message);
    this.kind = kind;
    this.path = path;
  }
}

export interface LockOptions {
  /** Longest wait for another holder, ms. */
  waitMs?: number;
  /** Where flock(1) and perl are looked for. */
  env?: NodeJS.ProcessEnv;
}

const DEFAULT_WAIT_MS = 5000;

/**
 * An exclusive BSD flock(2), the kind that Go's `syscall.Flock` takes (questmaster.md §9), without native code.
 * flock belongs to the open file description: we open the lock file, a short-lived flock(1) or perl inherits that very
 * description, locks it and exits, and the lock stays ours until `release` closes our descriptor. If we die, it is gone.
 */
export interface HeldFlock extends Disposable {
  release(): void;
}

/** Takes the lock, making the lock file (0644, empty, never replaced) when there is none. Throws `CannotLock`. */
export async function takeFlock(path: string, options: LockOptions = {}): Promise<HeldFlock> {
  const fd = openLockFile(path);
  try {
    await lockDescriptor(fd, path, options);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  let held = true;
  const release = (): void => {
    if (!held) return;
    held = false;
    closeSync(fd);
  };
  return { release, [Symbol.dispose]: release };
}

/** Runs `work` under the lock, and gives it back whatever happens. Throws `CannotLock` without having run it. */
export async function withFlock<T>(path: string, work: () => Promise<T> | T, options: LockOptions = {}): Promise<T> {
  using _held = await takeFlock(path, options);
  return await work();
}

function openLockFile(path: string): number {
  let fd: number;
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    fd = openSync(path, flags, 0o644);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CannotLock("refused", path, `the lock file ${path} cannot be opened (${code})`);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new CannotLock("refused", path, `the lock file ${path} is not a regular file`);
}

/** Both lock descriptor 3, which they inherit, and say nothing but their exit code. */
const LOCKERS: readonly { program: string; args: string[] }[] = [
  { program: "flock", args: ["-x", "3"] },
  {
    program: "perl",
    args: ["-MFcntl=:flock", "-e", 'open(my $lock, "+<&=", 3) or exit 2; flock($lock, LOCK_EX) or exit 2; exit 0'],
  },
];

async function lockDescriptor(fd: number, path: string, options: LockOptions): Promise<void> {
  const env = options.env ?? process.env;
  const deadline = performance.now() + (options.waitMs ?? DEFAULT_WAIT_MS);
  for (const { program, args } of LOCKERS) {
    const ended = await runLocker(program, args, fd, env, deadline - performance.now());
    if (ended === "locked") return;
    if (ended === "late") {
      throw new CannotLock("busy", path, `another process kept the lock ${path}: nothing was written, try again`);
    }
  }
  throw new CannotLock("unavailable", path, "neither flock nor perl can lock files here: install one of them");
}

type LockerEnd = "locked" | "late" | "unusable";

function runLocker(
  program: string,
  args: string[],
  fd: number,
  env: NodeJS.ProcessEnv,
  waitMs: number,
): Promise<LockerEnd> {
  return new Promise((resolve) => {
    let late = false;
    let child: ChildProcess;
    try {
      child = spawn(program, args, { env, stdio: ["ignore", "ignore", "ignore", fd] });
    } catch {
      return resolve("unusable");
    }
    // SIGKILL, because perl would restart an interrupted flock(2).
    const timer = setTimeout(
      () => {
        late = true;
        child.kill("SIGKILL");
      },
      Math.max(1, waitMs),
    );
    const end = (how: LockerEnd): void => {
      clearTimeout(timer);
      resolve(how);
    };
    child.on("error", () => end("unusable"));
    child.on("exit", (code) => end(code === 0 ? "locked" : late ? "late" : "unusable"));
  });
}
