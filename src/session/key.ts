/** `codebot:7f00a1e2`, or `codebot@2:7f00a1e2` in the second root of the same source (design §4). */
export type SessionKey = string;

export interface KeyParts {
  source: string;
  /** 1-based position of the root among the roots of its source. */
  root: number;
  id: string;
}

export function sessionKey(source: string, root: number, id: string): SessionKey {
  return root === 1 ? `${source}:${id}` : `${source}@${root}:${id}`;
}

/** The parts of a key, or null when it is not one. The id is unchecked: every source tests it against its own pattern. */
export function parseKey(key: string): KeyParts | null {
  const found = /^([a-z][a-z0-9-]*)(?:@([1-9][0-9]{0,5}))?:(.+)$/su.exec(key);
  if (!found?.[1] || found[3] === undefined) return null;
  return { source: found[1], root: found[2] ? Number(found[2]) : 1, id: found[3] };
}
