import { mkdirSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { type LockOptions, withFlock } from "../../files/flock.ts";
import { CannotOpen } from "../../files/open.ts";
import { BadJson } from "../../files/raw-json.ts";
import { classify } from "./classify.ts";
import { isValidPartyID } from "./ids.ts";
import { type Manifest, manifestText, parseManifest } from "./manifest.ts";
import { manifestLockPath, manifestPath } from "./paths.ts";
import { readSmallFile, TooLarge } from "./read-small.ts";
import { nowUTC } from "./time.ts";
import { replaceUnderLock } from "./write.ts";

/** Create found a manifest of that id. It was not touched. */
export class ManifestExists extends Error {
  override name = "ManifestExists";
}

/** There is no manifest of that id. */
export class ManifestNotFound extends Error {
  override name = "ManifestNotFound";
}

/** The id fails the pattern, so it is no file name either. */
export class InvalidPartyID extends Error {
  override name = "InvalidPartyID";
}

/** The manifests of one state root, written under the same locks as questmaster's own (questmaster.md §9). */
export class Store {
  readonly #root: string;
  readonly #lock: LockOptions;

  /** See `newStore` and `openStore`. */
  constructor(root: string, lock: LockOptions = {}) {
    this.#root = root;
    this.#lock = lock;
  }

  get root(): string {
    return this.#root;
  }

  /** Throws `ManifestNotFound`, `BadJson`, `CannotOpen`. */
  async read(id: string): Promise<Manifest> {
    return this.#read(id);
  }

  /** Writes a new manifest. Throws `ManifestExists`. */
  async create(manifest: Manifest, now: number = Date.now()): Promise<void> {
    await this.#locked(manifest.partyID, () => {
      const path = manifestPath(this.#root, manifest.partyID);
      if (statSync(path, { throwIfNoEntry: false }) !== undefined) {
        throw new ManifestExists(`there is a manifest of ${manifest.partyID} already`);
      }
      const at = nowUTC(now);
      this.#write({ ...manifest, createdAt: manifest.createdAt || at, updatedAt: at });
    });
  }

  /** Changes a freshly read manifest under its lock. `created_at` is set when it was empty, `updated_at` always. */
  async update(id: string, change: (manifest: Manifest) => void, now: number = Date.now()): Promise<void> {
    await this.#locked(id, () => {
      const manifest = this.#read(id);
      change(manifest);
      const at = nowUTC(now);
      this.#write({ ...manifest, partyID: id, createdAt: manifest.createdAt || at, updatedAt: at });
    });
  }

  /** Removes a manifest and its lock file. Throws `ManifestNotFound`. */
  async delete(id: string): Promise<void> {
    await this.#locked(id, () => {
      try {
        unlinkSync(manifestPath(this.#root, id));
      } catch (error) {
        if (isGone(error)) throw new ManifestNotFound(`there is no manifest of ${id}`);
        throw error;
      }
      unlinkSync(manifestLockPath(this.#root, id));
    });
  }

  /** All manifests that can be read, by id. Damaged ones and other files are passed over, as the original does. */
  async discoverSessions(): Promise<Manifest[]> {
    const found: Manifest[] = [];
    for (const name of this.#names()) {
      const entry = classify(name);
      if (entry.kind !== "manifest") continue;
      try {
        found.push(this.#read(entry.id));
      } catch (error) {
        if (!isUnreadable(error)) throw error;
      }
    }
    return found;
  }

  async addWorker(id: string, worker: string): Promise<void> {
    await this.update(id, (manifest) => {
      if (!manifest.workers.includes(worker)) manifest.workers.push(worker);
    });
  }

  async removeWorker(id: string, worker: string): Promise<void> {
    await this.update(id, (manifest) => {
      manifest.workers = manifest.workers.filter((one) => one !== worker);
    });
  }

  async getWorkers(id: string): Promise<string[]> {
    return this.#read(id).workers;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#root).sort();
    } catch (error) {
      if (isGone(error)) return [];
      throw error;
    }
  }

  #read(id: string): Manifest {
    requireID(id);
    try {
      return parseManifest(id, readSmallFile(manifestPath(this.#root, id)).text);
    } catch (error) {
      if (error instanceof CannotOpen && error.kind === "gone") {
        throw new ManifestNotFound(`there is no manifest of ${id}`);
      }
      throw error;
    }
  }

  #write(manifest: Manifest): void {
    replaceUnderLock(manifestPath(this.#root, manifest.partyID), manifestText(manifest));
  }

  async #locked(id: string, work: () => void): Promise<void> {
    requireID(id);
    await withFlock(manifestLockPath(this.#root, id), work, this.#lock);
  }
}

/** A store whose directory is made when it is not there. */
export function newStore(root: string, lock: LockOptions = {}): Store {
  if (root === "") throw new Error("no state root: set QUESTMASTER_STATE_ROOT or HOME");
  mkdirSync(root, { recursive: true, mode: 0o700 });
  return new Store(root, lock);
}

/** A store for reading: nothing is made, and a root that is not there is an empty list. */
export function openStore(root: string, lock: LockOptions = {}): Store {
  return new Store(root, lock);
}

/** Newest manifest file first; one that is gone counts as oldest. Changes the array. */
export function sortByMtime(manifests: Manifest[], root: string): void {
  const mtimes = new Map(
    manifests.map((one) => [
      one.partyID,
      statSync(manifestPath(root, one.partyID), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ]),
  );
  manifests.sort((a, b) => (mtimes.get(b.partyID) ?? 0) - (mtimes.get(a.partyID) ?? 0));
}

function requireID(id: string): void {
  if (!isValidPartyID(id)) throw new InvalidPartyID(`not a session id: ${JSON.stringify(id)}`);
}

function isUnreadable(error: unknown): boolean {
  return (
    error instanceof BadJson ||
    error instanceof CannotOpen ||
    error instanceof TooLarge ||
    error instanceof ManifestNotFound
  );
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
