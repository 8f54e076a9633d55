/** Why a claim was refused. Every refusal is one of the four classes below, so that callers tell them apart. */
export class TaskRefusal extends Error {
  override name = "TaskRefusal";
  readonly id: string;
  constructor(id: string, message: string) {
    super(message);
    this.id = id;
  }
}

export class TaskNotFoundError extends TaskRefusal {
  override name = "TaskNotFoundError";
  constructor(id: string) {
    super(id, `task ${id} not found`);
  }
}

export class AlreadyClaimedError extends TaskRefusal {
  override name = "AlreadyClaimedError";
  readonly owner: string;
  constructor(id: string, owner: string) {
    super(id, `task ${id} is already claimed by ${owner}`);
    this.owner = owner;
  }
}

export class AlreadyResolvedError extends TaskRefusal {
  override name = "AlreadyResolvedError";
  constructor(id: string) {
    super(id, `task ${id} is already completed`);
  }
}

export class BlockedError extends TaskRefusal {
  override name = "BlockedError";
  readonly blockers: string[];
  constructor(id: string, blockers: string[]) {
    super(id, `task ${id} waits for ${blockers.join(", ")}`);
    this.blockers = blockers;
  }
}
